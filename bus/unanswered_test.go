package bus

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestUnansweredIsBounded: a tenant has room for as many as the server may keep, and gets it back as that forgets them.
func TestUnansweredIsBounded(t *testing.T) {
	var u unanswered
	now := time.Unix(1000, 0)
	for range unansweredMax {
		u.note("loud", now)
	}
	u.note("quiet", now)
	if over := u.takeOver(); len(over) > 0 {
		t.Errorf("%v have too many; want none", over)
	}
	u.note("loud", now)
	if over := u.takeOver(); !slices.Equal(over, []string{"loud"}) {
		t.Errorf("%v have too many; want loud", over)
	}
	if over := u.takeOver(); len(over) > 0 {
		t.Errorf("%v have too many again", over)
	}
	now = now.Add(unansweredFor / 2)
	for range unansweredMax / 2 {
		u.note("loud", now)
	}
	if over := u.takeOver(); len(over) > 0 {
		t.Errorf("%v have too many, although half are forgotten", over)
	}
}

// TestUnansweredFloodIsDisconnected: a tenant that floods JetStream with requests which nobody hears any more is disconnected
// before the server keeps more of them than the bound, several times over.
func TestUnansweredFloodIsDisconnected(t *testing.T) {
	said := &testkit.Buffer{}
	b := openTenants(t, said, "loud", "quiet")
	ctx, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	t.Cleanup(func() { stop(); watch.Wait() })
	quiet := asTenant(t, b, "quiet")
	loud, gone := asLoud(t, b)
	watch.Go(func() { b.WatchPending(ctx) })
	sent := 0
	for ; loud.IsConnected() && sent < 40*unansweredMax; sent++ {
		_ = loud.PublishRequest(apiPrefix+"NONE", fmt.Sprintf("_INBOX.loud.%d", sent), nil)
		if sent%1000 == 0 {
			_ = loud.Flush() // at the pace at which the server reads, so that no other bound is met
		}
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatalf("the flood goes on after %d requests\n%s", sent, said.String())
	}
	system, err := b.embedded.LookupAccount("$SYS")
	if err != nil {
		t.Fatal(err)
	}
	if n := system.NumPendingAllResponses(); n > 4*unansweredMax {
		t.Errorf("the server keeps %d requests, want about %d at most", n, unansweredMax)
	}
	if _, err := quiet.Request(apiPrefix+"STREAM.NAMES", nil, time.Minute); err != nil {
		t.Errorf("another tenant: %v", err)
	}
}
