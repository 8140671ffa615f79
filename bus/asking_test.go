package bus

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestToBlame: the tenant of the flood is blamed, and not one whose few requests happened to be read.
func TestToBlame(t *testing.T) {
	guests := []guestPending{{id: 1, tenant: "loud", messages: 900}, {id: 2, tenant: "loud", messages: 200}, {id: 3, tenant: "quiet", messages: 5}}
	for _, tc := range []struct {
		asked   map[string]int
		guests  []guestPending
		want    string
		clients []uint64
	}{
		{map[string]int{"loud": 5000, "quiet": 1}, guests, "loud", []uint64{1}},
		{map[string]int{"quiet": 1}, guests, "loud", []uint64{1}},
		{map[string]int{"": 5000}, guests, "loud", []uint64{1}},
		{map[string]int{"quiet": 1}, guests[2:], "", nil},
		{map[string]int{"quiet": 5000}, guests[:2], "quiet", nil},
	} {
		var c askingCount
		c.add(tc.asked, tc.guests)
		got := c.toBlame(tc.guests)
		if clients := c.senders(tc.guests, got); got != tc.want || !slices.Equal(clients, tc.clients) {
			t.Errorf("asked %v: %q is blamed, with the clients %v; want %q with %v", tc.asked, got, clients, tc.want, tc.clients)
		}
	}
}

// TestSlowFloodIsBlamed: a flood is blamed at any pace while the guard is behind, and counts begin anew when it is not.
func TestSlowFloodIsBlamed(t *testing.T) {
	looks := []guestPending{{id: 1, tenant: "loud", messages: 20}, {id: 2, tenant: "quiet", messages: 1}}
	var c askingCount
	for look := 1; ; look++ {
		c.add(map[string]int{"loud": 3}, looks)
		if who := c.toBlame(looks); who == "loud" {
			if look != guardBlame/20 {
				t.Errorf("blamed at the look %d, want %d", look, guardBlame/20)
			}
			break
		} else if who != "" || look > guardBlame {
			t.Fatalf("%q is blamed after %d looks", who, look)
		}
	}
	c.reset()
	if c.add(nil, looks); c.toBlame(looks) != "" {
		t.Error("a look after one in time counts what was before")
	}
}

// TestPacedFloodIsDisconnected: while the guard reads slowly, clients that send it a few requests between two looks are
// disconnected before the memory for their requests is used up, and those of another tenant are not.
func TestPacedFloodIsDisconnected(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{}, "loud", "quiet")
	ctx, stop := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	t.Cleanup(func() { stop(); beside.Wait() })
	quiet := asTenant(t, b, "quiet")
	loud, gone := asLoud(t, b)
	beside.Go(func() { b.WatchPending(ctx) })
	beside.Go(func() { slowDown(ctx, b) })
	beside.Go(func() {
		for pace := time.NewTicker(2 * time.Millisecond); loud.IsConnected() && ctx.Err() == nil; <-pace.C {
			for range 4 {
				_ = loud.PublishRequest(apiPrefix+"NONE", "_INBOX.loud", nil)
			}
			_ = quiet.Publish(apiPrefix+"NONE", nil)
		}
	})
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("the flood goes on")
	}
	if !quiet.IsConnected() {
		t.Error("another tenant's client is disconnected too")
	}
}

// asLoud connects as a tenant that stays away once it is disconnected; gone is closed then.
func asLoud(t *testing.T, b *Bus) (loud *nats.Conn, gone chan struct{}) {
	t.Helper()
	gone = make(chan struct{})
	loud, err := nats.Connect(b.url, nats.Token("loud"), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(gone) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loud.Close)
	return loud, gone
}

// slowDown keeps the guard from its lines most of the time.
func slowDown(ctx context.Context, b *Bus) {
	for pause := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; {
		b.guard.lanes.mu.Lock()
		<-pause.C
		b.guard.lanes.mu.Unlock()
	}
}
