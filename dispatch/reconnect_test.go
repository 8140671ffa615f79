package dispatch

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// arrivals counts, by run and attempt, what a subscriber got.
type arrivals struct {
	mu   sync.Mutex
	seen map[string]int
}

func (a *arrivals) add(m *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[m.Header.Get(headerRunID)+"/"+m.Header.Get(headerAttempt)]++
}

func (a *arrivals) of(o job.Outcome) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen[o.Run.String()+"/"+string(rune('0'+o.Attempt))]
}

// TestNATSCutConnection cuts the connection again and again while runs are launched, and launches what
// failed again, as the engine would. Whatever was told as delivered has arrived, exactly once for
// each attempt, and in the end all of it has.
func TestNATSCutConnection(t *testing.T) {
	const rounds, perRound = 10, 200
	const runs = rounds * perRound
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	got := &arrivals{seen: make(map[string]int)}
	nc := dial(t, s.ClientURL())
	subscribe(t, nc, "a", got.add)
	d := start(t, Options{}, v.url())

	outcomes, again := launcher(d, natsTarget("a"), runs)
	var failed int
	for round := range rounds {
		v.set(round%2 == 0, false) // in every other round the server cannot confirm before the cut
		for n := range perRound {
			again(round*perRound+n, 1)
		}
		testkit.Until(t, "something is in flight or over, or an earlier cut still shows", func() bool {
			stats := d.Stats()
			return stats.InFlight > 0 || len(outcomes) > 0 || !stats.NATS.Connected
		})
		v.cut()
		v.set(false, false)
		for delivered := 0; delivered < perRound; {
			o := testkit.Receive(t, outcomes)
			if o.Error == "" {
				delivered++
				testkit.Until(t, "what was delivered has arrived", func() bool { return got.of(o) == 1 })
				continue
			}
			failed++
			again(int(o.Run.At-1764576000000), o.Attempt+1)
		}
	}
	if failed == 0 {
		t.Error("no attempt failed; the cuts came to nothing")
	}
	t.Logf("%d attempts of %d runs failed by %d cuts, and were made again", failed, runs, rounds)
}

// TestNATSServerRestart launches while the server is away. The launches wait, and all of them arrive
// when it is back. The dispatcher is let in only after the subscriber, because a core publish that
// nobody subscribes to is gone by its nature.
func TestNATSServerRestart(t *testing.T) {
	s := startNATS(t, nil)
	port := s.Addr().(*net.TCPAddr).Port
	got := make(chan *nats.Msg, 100)
	back := make(chan struct{}, 1)
	nc := dial(t, s.ClientURL(), nats.ReconnectWait(5*time.Millisecond), nats.MaxReconnects(-1),
		nats.ReconnectHandler(func(c *nats.Conn) {
			_ = c.Flush()
			close(back)
		}))
	subscribe(t, nc, "a", func(m *nats.Msg) { got <- m })
	gate := new(gatedDialer)
	d := start(t, Options{}, s.ClientURL(), nats.SetCustomDialer(gate))

	testkit.Receive(t, launchAll(d, natsTarget("a"), 1)[0])
	testkit.Receive(t, got)
	gate.Lock()
	s.Shutdown()
	s.WaitForShutdown()
	testkit.Until(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	outcomes := launchAll(d, natsTarget("a"), 100)
	startNATS(t, func(o *server.Options) { o.Port = port })
	testkit.Receive(t, back)
	if stats := d.Stats(); stats.Queued != 100 {
		t.Errorf("%d launches wait; want 100", stats.Queued)
	}
	gate.Unlock()
	for _, c := range outcomes {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Errorf("outcome has error %q", o.Error)
		}
	}
	for range outcomes {
		testkit.Receive(t, got)
	}
}

// gatedDialer dials when it is not locked.
type gatedDialer struct{ sync.RWMutex }

func (g *gatedDialer) Dial(network, address string) (net.Conn, error) {
	g.RLock()
	defer g.RUnlock()
	return net.Dial(network, address)
}

// TestNATSServerThatHangs has a server that takes messages and says nothing more. It is left, and what
// comes after goes over a new connection.
func TestNATSServerThatHangs(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	d := start(t, Options{NATS: connectImpatient(t, v)}, "")
	v.set(true, false)
	if o := testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 0))); o.Error != errUnconfirmed.Error() {
		t.Errorf("error is %q; want %q", o.Error, errUnconfirmed)
	}
	v.set(false, false)
	testkit.Until(t, "launches are delivered again", func() bool {
		return testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 1))).Error == ""
	})
	testkit.Until(t, "there is a new connection", func() bool { return d.Stats().NATS.Reconnects > 0 })
}

func TestNATSDownBeyondTheTimeout(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	d := start(t, Options{Handlers: map[string]Handler{"h": succeed}}, v.url())
	v.set(false, true)
	v.cut()
	testkit.Until(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest, job.TargetJetStream} {
		del := deliveryTo(job.Target{Kind: kind, Subject: "a"}, 0)
		del.Timeout = 30 * time.Millisecond
		o := testkit.Receive(t, launch(d, del))
		if o.Error != "the connection to NATS was down for 30ms" || !o.LaunchedAt.IsZero() {
			t.Errorf("%s: outcome is %+v", kind, o)
		}
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(job.Target{Kind: job.TargetHandler, Handler: "h"}, 0))); o.Error != "" {
		t.Errorf("a handler fails too: %q", o.Error)
	}
	v.set(false, false)
	if o := testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 1))); o.Error != "" {
		t.Errorf("after the reconnect: %q", o.Error)
	}
}
