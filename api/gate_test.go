package api

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// mustAdmit admits a request that there must be a place for.
func mustAdmit(t *testing.T, g *gate, party string) *pass {
	t.Helper()
	p, err := g.admit(party, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGateLeavesRoom lets one tenant fill the gate with all that it may have: its next request is refused, and one of
// another tenant runs at once.
func TestGateLeavesRoom(t *testing.T) {
	g := newGate(8, 64, 1<<20, nil)
	var passes []*pass
	for {
		p, err := g.admit("loud", 1)
		if err != nil {
			if !isRefused(err) || !strings.Contains(err.Error(), "48 of them") {
				t.Error(err)
			}
			break
		}
		passes = append(passes, p)
		if len(passes) <= 6 { // three quarters of those that run
			if err := p.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := passes[6].enter(over); !isRefused(err) {
		t.Errorf("a seventh that runs: %v", err)
	}
	other := mustAdmit(t, g, "quick")
	if err := other.enter(t.Context()); err != nil || !other.isRunning {
		t.Errorf("a request of another tenant: %v", err)
	}
	for _, p := range append(passes, other) {
		p.leave()
	}
	if g.underWay() != 0 || g.running.Taken() != 0 || g.bytes != 0 || len(g.bytesBy) != 0 {
		t.Errorf("the gate is not empty at the end: %+v", g)
	}
}

// TestGateTakesTurns has many requests of one tenant wait, and then one of each of two others: these are next.
func TestGateTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1000, 1<<20, nil)
		first := mustAdmit(t, g, "loud")
		if err := first.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 100)
		wait := func(party string, n int) {
			for range n {
				p := mustAdmit(t, g, party)
				p.begin(func() {
					order <- party
					p.leave()
				})
			}
		}
		wait("loud", 50)
		wait("quick", 2)
		wait("third", 1)
		first.leave()
		synctest.Wait()
		var got []string
		for range 5 {
			got = append(got, <-order)
		}
		if fmt.Sprint(got) != "[loud quick third loud quick]" {
			t.Errorf("they ran as %v", got)
		}
		if len(order) != 48 || g.underWay() != 0 {
			t.Errorf("%d others ran, %d are under way", len(order), g.underWay())
		}
	})
}

// TestGateBoundsBytes holds few requests with many bytes.
func TestGateBoundsBytes(t *testing.T) {
	g := newGate(10, 100, 1000, nil)
	large, err := g.admit("loud", 5000)
	if err != nil {
		t.Fatalf("a request of more than the bound, alone: %v", err)
	}
	if _, err := g.admit("quick", 1); !isRefused(err) {
		t.Errorf("one more byte: %v", err)
	}
	large.leave()
	n := 0
	for ; ; n++ {
		if _, err := g.admit("loud", 10); err != nil {
			break
		}
	}
	if n != 75 {
		t.Errorf("one tenant holds %d tens of a thousand bytes, want 75", n)
	}
	if _, err := g.admit("quick", 100); err != nil {
		t.Errorf("another tenant: %v", err)
	}
}

// TestGateForgets has requests give up while nothing ends: what they held is free, and a later request runs.
func TestGateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 100, 1<<20, nil)
		first := mustAdmit(t, g, "loud")
		if err := first.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			p := mustAdmit(t, g, "quick")
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := p.enter(ctx); !isRefused(err) {
				t.Fatal(err)
			}
			p.leave()
			cancel()
		}
		if l := g.lines["quick"]; l != nil && l.waiting.Len() > 0 {
			t.Errorf("%d requests that gave up wait", l.waiting.Len())
		}
		first.leave()
		p := mustAdmit(t, g, "quick")
		if err := p.enter(t.Context()); err != nil {
			t.Error(err)
		}
		p.leave()
		if len(g.lines) != 0 || g.underWay() != 0 {
			t.Errorf("the gate is not empty at the end: %+v", g)
		}
	})
}

// TestPacer sends refusals: those of one tenant at the bounded rate and up to the bound, those of another at once.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := newPacer(), time.Now()
		var sent atomic.Int64
		for range refusalsBurst + refusalsWaiting + 5 {
			p.send("loud", 0, func() { sent.Add(1) })
		}
		if sent.Load() != refusalsBurst || p.lost() != 5 || !p.isBehind("loud") || p.isBehind("quick") {
			t.Errorf("%d were sent at once, %d lost, behind: %v", sent.Load(), p.lost(), p.isBehind("loud"))
		}
		at := time.Duration(-1)
		p.send("quick", 0, func() { at = time.Since(began) })
		if at != 0 {
			t.Errorf("the refusal of another tenant was sent after %s", at)
		}
		time.Sleep(refusalsWaiting * time.Second / refusalsRate)
		synctest.Wait()
		if sent.Load() != refusalsBurst+refusalsWaiting || p.isBehind("loud") {
			t.Errorf("%d were sent at the end", sent.Load())
		}
		for i := range 2 * pacesMax {
			p.send(fmt.Sprint(i), 0, func() {})
		}
		if len(p.by) > pacesMax+1 {
			t.Errorf("%d tenants are remembered, want %d", len(p.by), pacesMax)
		}
	})
}
