//go:build unix

package server

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestHandoverWhileTheLogStandsStill: a leader whose commits are not acknowledged says so, and goes on
// launching. When they are, it hands over, and no run is launched twice.
func TestHandoverWhileTheLogStandsStill(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{DurabilityReplicated, DurabilityLocal} {
		t.Run(durability, func(t *testing.T) {
			p, a, b := newStillTroupe(t, durability)
			p.decideAhead(a)
			p.standStill()
			for range 3 {
				p.refusesHandOver()
			}
			if !p.leads(a)() {
				t.Error("a leads no more")
			}
			p.goOn()
			p.handOver()
			p.handedOver(b)
		})
	}
}

// TestStopWhileTheLogStandsStill: a leader that is to end launches on until the log has what it launched. Then its
// successor launches none of it again.
func TestStopWhileTheLogStandsStill(t *testing.T) {
	t.Parallel()
	p, a, b := newStillTroupe(t, DurabilityReplicated)
	p.decideAhead(a)
	p.standStill()
	p.receive(3)
	closed := make(chan error, 1)
	go func() { closed <- a.Close(t.Context()) }()
	p.receive(len(p.runs) + 15)
	p.goOn()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the leader does not end")
	}
	p.handedOver(b)
}

// TestStopAloneWhileTheLogStandsStill: a leader without a standby does not wait for long.
func TestStopAloneWhileTheLogStandsStill(t *testing.T) {
	t.Parallel()
	p, a, b := newStillTroupe(t, DurabilityReplicated)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.decideAhead(a)
	p.standStill()
	p.receive(3)
	begun := time.Now()
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestLogStandsStillDuringHandover: the log stops when the leader has stopped its launches, and an outcome is not in it
// yet. The leader goes on launching; when the log is well it hands over, and launches nothing twice.
func TestLogStandsStillDuringHandover(t *testing.T) {
	t.Parallel()
	p := newStillServers(t, DurabilityReplicated)
	asked, stopped := make(chan *nats.Msg, 10), atomic.Bool{}
	if _, err := p.nc.ChanSubscribe("slow", asked); err != nil {
		t.Fatal(err)
	}
	p.logger = slog.New(onDebug{p.logger.Handler(), func(message string) {
		if message == "launches end for a hand-over" && !stopped.Swap(true) {
			p.standStill()
			_ = (<-asked).Respond(nil)
		}
	}})
	a := p.start("a", t.TempDir())
	b := p.start("b", t.TempDir())
	p.decideAhead(a)
	c := p.client(false)
	_, _, err := c.Put(t.Context(), client.Job{Name: "slow", Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: "slow"}})
	if err == nil {
		_, err = c.Trigger(t.Context(), client.TriggerRequest{Name: "slow"})
	}
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the slow run leaves", func() bool { return len(asked) == 1 })
	p.refusesHandOver()
	if !stopped.Load() || !p.leads(a)() {
		t.Errorf("the hand-over began: %t; a leads: %t", stopped.Load(), p.leads(a)())
	}
	p.goOn()
	p.handOver()
	p.handedOver(b)
	if len(asked) > 0 {
		t.Error("the slow run was launched again")
	}
}
