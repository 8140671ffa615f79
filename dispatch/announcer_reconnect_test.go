package dispatch

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// drainOutbox announces a batch as its owner does, from the front until nothing is left. It calls before
// at each try, and first at the first one that fails. It returns how many have failed.
func drainOutbox(t *testing.T, a *Announcer, batch []Announcement, before func(left int), first func()) (failed int) {
	t.Helper()
	deadline := time.Now().Add(waitMax)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(batch) > 0 {
		before(len(batch))
		n, err := a.Announce(t.Context(), batch[:min(len(batch), 100)])
		batch = batch[n:]
		if err != nil {
			if failed++; failed == 1 {
				first()
			}
			<-tick.C
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d are left after %s: %v", len(batch), waitMax, err)
		}
	}
	return failed
}

// mixed are dead letters and events by turns.
func mixed(n int) Announcement {
	if n%2 == 0 {
		return deadOf(n)
	}
	return eventOf(n)
}

// TestAnnounceOverAServerRestart stops the server while events go out, and starts it again. Then every
// event is in the stream, once: nothing was lost, and what was doubtful was left out the second time.
func TestAnnounceOverAServerRestart(t *testing.T) {
	const total = 2000
	dir := t.TempDir()
	s := startNATS(t, func(o *server.Options) { o.StoreDir = dir })
	port := s.Addr().(*net.TCPAddr).Port
	a := startAnnouncer(t, withEvents, s.ClientURL())
	down := make(chan struct{})
	stopping := false
	failed := drainOutbox(t, a, announcements(total, eventOf), func(left int) {
		if left > total/2 || stopping {
			return
		}
		stopping = true
		go func() { // beside the next call of Announce
			s.Shutdown()
			s.WaitForShutdown()
			close(down)
		}()
	}, func() {
		testkit.Receive(t, down)
		begin := time.Now()
		if n, err := a.Announce(t.Context(), []Announcement{deadOf(total)}); n != 0 || err == nil {
			t.Errorf("%d are announced without a server: %v", n, err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it took %s to find out", took)
		}
		s = startNATS(t, func(o *server.Options) { o.StoreDir, o.Port = dir, port })
	})
	t.Logf("%d tries failed", failed)
	if n := len(stored(t, s.ClientURL(), "CARILLON_EVENTS")); n != total {
		t.Errorf("the stream has %d events; want %d", n, total)
	}
}

// TestAnnounceOverCuts cuts the connection again and again while a batch goes out.
func TestAnnounceOverCuts(t *testing.T) {
	const total = 2000
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	got := make(chan *nats.Msg, 10*total)
	subscribe(t, dial(t, s.ClientURL()), "carillon.dead.*", func(m *nats.Msg) { got <- m })
	a := startAnnouncer(t, withEvents, v.url())
	ctx, stop := context.WithCancel(t.Context())
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 20 {
			select {
			case <-tick.C:
				v.cut()
			case <-ctx.Done():
				return
			}
		}
	}()
	failed := drainOutbox(t, a, announcements(total, mixed), func(int) {}, func() {})
	stop()
	<-cut
	t.Logf("%d tries failed", failed)
	runs := map[string]bool{}
	for len(runs) < total/2 {
		runs[testkit.Receive(t, got).Header.Get(headerRunID)] = true
	}
	if n := len(stored(t, s.ClientURL(), "CARILLON_EVENTS")); n != total/2 {
		t.Errorf("the stream has %d events; want %d", n, total/2)
	}
}

// TestAnnounceToAServerThatHangs leaves it, and goes on over a new connection.
func TestAnnounceToAServerThatHangs(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	n := connectImpatient(t, v)
	a, err := NewAnnouncer(n, withEvents)
	if err != nil {
		t.Fatal(err)
	}
	announceAll(t, a, []Announcement{deadOf(0), eventOf(0)})
	v.set(true, false)
	if done, err := a.Announce(t.Context(), []Announcement{deadOf(1)}); done != 0 || err == nil {
		t.Errorf("%d are announced: %v", done, err)
	}
	v.set(false, false)
	testkit.Until(t, "it goes on", func() bool {
		done, _ := a.Announce(t.Context(), []Announcement{deadOf(1)})
		return done == 1
	})
	if n.reconnects.Load() == 0 {
		t.Error("the server was not left")
	}
}

// TestAnnounceBesideLaunches shares a connection with a dispatcher that is launching.
func TestAnnounceBesideLaunches(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{}, s.ClientURL())
	a, err := NewAnnouncer(d.nats, withEvents)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := launchAll(d, natsTarget("a"), 500)
	announceAll(t, a, announcements(500, mixed))
	for _, c := range outcomes {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Errorf("a launch has error %q", o.Error)
		}
	}
}
