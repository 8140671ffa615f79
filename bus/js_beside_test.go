package bus

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// besideMax is how many requests of all tenants may be taken in, at most, before one of another tenant than the one that
// floods is answered: those that may wait to be read, some times over.
const besideMax = 60_000

// flood sends requests on four connections of a tenant, as fast as it can, until the test ends. It connects again when it
// is disconnected.
func flood(t *testing.T, b *Bus, tenant, subject string) {
	ctx, stop := context.WithCancel(t.Context())
	var senders sync.WaitGroup
	t.Cleanup(func() { stop(); senders.Wait() })
	var connections []*nats.Conn
	for range 4 { // all of them before the first floods, which may make the tenant pause
		nc, err := nats.Connect(b.url, nats.Token(tenant), nats.MaxReconnects(-1), nats.ReconnectWait(time.Millisecond), nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		if _, err := nc.Subscribe("_INBOX.loud", func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		connections = append(connections, nc)
	}
	for _, nc := range connections {
		senders.Go(func() {
			for ctx.Err() == nil {
				_ = nc.PublishRequest(subject, "_INBOX.loud", nil) // while it is disconnected, nothing is sent
			}
		})
	}
}

// TestQuestionsOfOneTenantDelayNoOther: a tenant that asks JetStream or the server itself as fast as it can, whether it may
// or not, does not keep JetStream from another one. It counts requests, and no time.
func TestQuestionsOfOneTenantDelayNoOther(t *testing.T) {
	for _, subject := range []string{"$SYS.REQ.USER.INFO", "$SYS.REQ.ACCOUNT.PING.CONNZ", apiPrefix + "NONE", apiPrefix + "STREAM.NAMES"} {
		t.Run(subject, func(t *testing.T) {
			said := &testkit.Buffer{}
			b := openTenants(t, said, "loud", "quiet")
			ctx, stop := context.WithCancel(t.Context())
			var watch sync.WaitGroup
			watch.Go(func() { b.WatchPending(ctx) })
			t.Cleanup(func() { stop(); watch.Wait() })
			quiet := asTenant(t, b, "quiet")
			flood(t, b, "loud", subject)
			rounds := 20
			if testkit.Brief() {
				rounds = 2
			}
			for range rounds {
				before := takenIn(b)
				if _, err := quiet.Request(apiPrefix+"STREAM.NAMES", nil, time.Minute); err != nil {
					t.Fatalf("a request of another tenant to JetStream: %v\n%s", err, said.String())
				}
				if n := takenIn(b) - before; n > besideMax {
					t.Fatalf("%d requests were taken in before that of another tenant; want at most %d", n, besideMax)
				}
			}
		})
	}
}

// takenIn returns how many requests of tenants the guard has taken in, whatever became of them.
func takenIn(b *Bus) uint64 {
	c, _ := b.Guarded()
	n := c.Passed
	for _, refused := range c.Refused {
		n += refused
	}
	return n
}

// TestWhoAsks: a client of a tenant may ask the server who it is, as on any other server, and is told what it may not do.
func TestWhoAsks(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{}, "a")
	m, err := asTenant(t, b, "a").Request("$SYS.REQ.USER.INFO", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data struct {
			User, Account string
			Permissions   struct{ Publish struct{ Deny []string } }
		}
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Data.User != "token:a" || answer.Data.Account != "a" || len(answer.Data.Permissions.Publish.Deny) == 0 {
		t.Errorf("the server says %s", m.Data)
	}
}
