package bus

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// openTenants opens a bus with the accounts of some tenants, each with JetStream. The token of a client is the
// name of its tenant, or "owner of" and the name.
func openTenants(t *testing.T, said *testkit.Buffer, tenants ...string) *Bus {
	t.Helper()
	return openTenantsIn(t, filepath.Join(t.TempDir(), "nats"), said, tenants...)
}

// openTenantsIn is openTenants with a store of its own.
func openTenantsIn(t *testing.T, storeDir string, said *testkit.Buffer, tenants ...string) *Bus {
	t.Helper()
	o := Options{
		Listen: "127.0.0.1:0", StoreDir: storeDir, ConnectionsMax: 500, Prefix: "carillon",
		Logger: slog.New(slog.NewTextHandler(said, nil)),
		Admit: func(shown Shown) (Guest, error) {
			if shown.Token == "" {
				return Guest{}, errors.New("no token")
			}
			tenant, isManager := strings.CutPrefix(shown.Token, "manager of ")
			return Guest{Name: "token:" + shown.Token, Tenant: tenant, Role: map[bool]GuestRole{false: GuestWorks, true: GuestManages}[isManager]}, nil
		},
	}
	for _, name := range tenants {
		o.Tenants = append(o.Tenants, Tenant{Name: name, Storage: 16 << 20})
	}
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func asTenant(t *testing.T, b *Bus, tenant string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(b.url, nats.Token(tenant), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// counted waits until the server has counted what a client has sent, which it does only after it has answered it.
func counted(t *testing.T, b *Bus, nc *nats.Conn) {
	t.Helper()
	id, err := nc.GetClientID()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the server has counted what was sent", func() bool {
		connz, err := b.embedded.Connz(&server.ConnzOptions{CID: id})
		return err != nil || len(connz.Conns) == 0 || uint64(connz.Conns[0].InBytes) >= nc.Stats().OutBytes
	})
}

// neverReads opens a client that subscribes and then reads nothing.
func neverReads(t *testing.T, b *Bus, tenant, subject string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"auth_token\":%q}\r\nSUB %s 1\r\nPING\r\n", tenant, subject)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if lines.Text() == "PONG" {
			return
		}
	}
	t.Fatal("the server does not answer")
}

// unread returns how many bytes wait for the clients of a tenant.
func unread(t *testing.T, b *Bus, tenant string) (sum, clients int) {
	t.Helper()
	connz, err := b.embedded.Connz(&server.ConnzOptions{Username: true, Account: tenant})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range connz.Conns {
		sum += c.Pending
	}
	return sum, len(connz.Conns)
}

// TestUnreadIsBounded: once more waits for clients than all together may leave unread, those who read nothing are
// disconnected, and no others; and their tenant comes back only when what waits for them is gone.
func TestUnreadIsBounded(t *testing.T) {
	said := &testkit.Buffer{}
	b := openTenants(t, said, "a", "b")
	publisher, other := asTenant(t, b, "a"), asTenant(t, b, "b")
	for range 8 {
		neverReads(t, b, "a", "unread")
	}
	w := newPendingWatch(b)
	w.look(time.Now())
	body := make([]byte, senderMin/2) // so the publisher is not the cause
	for sum := 0; sum <= guestsPendingMax; sum, _ = unread(t, b, "a") {
		w.look(time.Now())
		if err := publisher.Publish("unread", body); err != nil {
			t.Fatal(err)
		}
		if err := publisher.Flush(); err != nil {
			t.Fatal(err)
		}
		counted(t, b, publisher)
	}
	if strings.Contains(said.String(), "disconnected") {
		t.Fatalf("clients were disconnected below the bound: %s", said)
	}
	w.look(time.Now())
	if sum, clients := unread(t, b, "a"); sum > guestsPendingMax/2 || clients == 9 || clients == 0 {
		t.Errorf("%d bytes wait for %d clients; want at most %d, for some of 9", sum, clients, guestsPendingMax/2)
	}
	if !strings.Contains(said.String(), "do not read what is sent to them") || !strings.Contains(said.String(), "tenant=a") {
		t.Errorf("the log says %s", said)
	}
	if err := errors.Join(publisher.Flush(), other.Flush()); err != nil {
		t.Errorf("a client that reads was disconnected: %v", err)
	}
	if nc, err := nats.Connect(b.url, nats.Token("a")); err == nil {
		nc.Close()
		t.Error("the tenant came back while its memory is held")
	}
	asTenant(t, b, "b")
	b.doorman.mu.Lock()
	b.doorman.expelled["a"] = expulsion{until: time.Now()}
	b.doorman.mu.Unlock()
	asTenant(t, b, "a")
}

// TestSourcesOfTheUnreadAreDisconnected: together with those who read nothing, those whose messages they are.
func TestSourcesOfTheUnreadAreDisconnected(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{}, "a", "b")
	publisher, small, other := asTenant(t, b, "a"), asTenant(t, b, "a"), asTenant(t, b, "b")
	for range 8 {
		neverReads(t, b, "a", "unread")
	}
	w := newPendingWatch(b)
	w.look(time.Now())
	for sum := 0; sum <= guestsPendingMax; sum, _ = unread(t, b, "a") {
		if err := errors.Join(publisher.Publish("unread", make([]byte, senderMin)), publisher.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if w.look(time.Now()) != pendingSoon {
		t.Error("the next look is late, though much passes")
	}
	if err := publisher.Flush(); err == nil {
		t.Error("the client whose messages are not read goes on")
	}
	if err := errors.Join(small.Flush(), other.Flush()); err != nil {
		t.Errorf("a client that sends nothing was disconnected: %v", err)
	}
}

// TestSentIsBounded: a tenant may send a burst at once and the rate on average. Beyond it, those of its clients are
// disconnected that send much, and no others.
func TestSentIsBounded(t *testing.T) {
	said := &testkit.Buffer{}
	b := openTenants(t, said, "a", "b")
	w := newPendingWatch(b)
	one, two, quiet, other := asTenant(t, b, "a"), asTenant(t, b, "a"), asTenant(t, b, "a"), asTenant(t, b, "b")
	now, body := w.at, make([]byte, 1<<20)
	send := func(nc *nats.Conn, times int) {
		t.Helper()
		for range times {
			if err := nc.Publish("nobody", body); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		counted(t, b, nc)
	}
	send(one, 40)
	send(other, 60)
	w.look(now)
	now = now.Add(time.Second / 2) // which pays 32 MiB
	send(one, 20)
	send(two, 35)
	w.look(now)
	if err := errors.Join(one.Flush(), two.Flush()); err != nil {
		t.Fatalf("clients that keep the rate were disconnected: %v", err)
	}
	send(one, 3)
	w.look(now)
	if one.Flush() == nil || !strings.Contains(said.String(), "sends more than it may") {
		t.Errorf("a client beyond the rate goes on; the log says %s", said)
	}
	if err := errors.Join(two.Flush(), quiet.Flush(), other.Flush()); err != nil {
		t.Errorf("a client that sends nothing now was disconnected: %v", err)
	}
	w.look(now.Add(2 * time.Second))
	if len(w.debt) != 0 {
		t.Errorf("tenants that send nothing owe %v", w.debt)
	}
}

// TestLooksAreSoonWhileMuchPasses: a look that waits for busy clients does not put the next one off for long.
func TestLooksAreSoonWhileMuchPasses(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ rest, took, want time.Duration }{
		{pendingIdle, ms / 10, pendingIdle}, {pendingEvery, ms, 50 * ms}, {pendingEvery, time.Second, pendingEveryMax},
		{pendingSoon, ms / 10, pendingSoon}, {pendingSoon, 5 * ms, 10 * ms}, {pendingSoon, time.Second, pendingEveryMax},
	} {
		if got := restAfter(c.rest, c.took); got != c.want {
			t.Errorf("after a look of %s with the rest %s, the next one is after %s; want %s", c.took, c.rest, got, c.want)
		}
	}
}

// TestLooksFollowWhatIsAllocated: between looks that are far apart, what grows is looked at soon. Without growth and without
// much that passes, a look is not due.
func TestLooksFollowWhatIsAllocated(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{}, "a")
	w := newPendingWatch(b)
	asTenant(t, b, "a")
	now := time.Now()
	if again := w.look(now); again != pendingEvery {
		t.Fatalf("with a client that does nothing the next look is after %s; want %s", again, pendingEvery)
	}
	w.had = 1000
	for _, c := range []struct {
		after time.Duration
		grown uint64
		want  bool
	}{
		{pendingEvery, 0, false}, {pendingEvery, pendingGrowth - 1, false}, {pendingEvery, pendingGrowth, true},
		{pendingIdle - 1, 0, false}, {pendingIdle, 0, true},
	} {
		if got := w.isDue(now.Add(c.after), 1000+c.grown); got != c.want {
			t.Errorf("%s after a look, with %d bytes more, a look is due: %t; want %t", c.after, c.grown, got, c.want)
		}
	}
	before := allocated()
	kept := make([]byte, pendingGrowth)
	if grown := allocated() - before; grown < pendingGrowth {
		t.Errorf("a buffer of %d bytes counts as %d", len(kept), grown)
	}
}

// TestPausesGrow: the pause of a tenant that is too much again is longer, up to a bound, and the clients of one look count
// once.
func TestPausesGrow(t *testing.T) {
	var e expulsion
	now := time.Now()
	for i, want := range []time.Duration{2, 8, 32, 60, 60} {
		for range 3 {
			e = e.again(now, 2*time.Second)
		}
		if e.pause != want*time.Second || !e.until.Equal(now.Add(e.pause)) {
			t.Errorf("pause %d is %s until %s; want %ds", i, e.pause, e.until, want)
		}
		now = e.until.Add(time.Second)
	}
}
