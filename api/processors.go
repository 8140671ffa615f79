package api

import (
	"context"
	"sync"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/schedule"
)

// processors are shared among the tenants whose requests are costly to compute. A request computes its first piece at
// once; for each further piece it takes a turn, and tenants take turns. All pieces cost about the same, so tenants share
// processor time and not requests: one whose requests cost a hundred pieces gets as much time as one whose cost two, and
// all of it while it is alone. There are fewer places than processors, so that small requests, launches and the engine's
// step find one free. A nil processors bounds nothing. Safe for concurrent use.
//
// Invariant: free is 0 while a request waits. Requests that gave up are in waiting until it is their turn; the gate
// bounds how many there are.
type processors struct {
	mu      sync.Mutex
	free    int
	waiting fair.Queue[string, *turn]
}

// turn is one piece of a request that waits.
type turn struct {
	given chan struct{} // closed under the lock when it has its place
	over  bool          // its request gave up
}

// placesOf returns the number of places: one fewer than processors, at least one. A server raises GOMAXPROCS above the
// number of processors, so the lower of the two counts.
func placesOf(processors, maxprocs int) int { return max(1, min(processors, maxprocs)-1) }

// newProcessors returns places for requests that are costly to compute, at least one.
func newProcessors(places int) *processors {
	return &processors{free: places, waiting: fair.NewQueue[string, *turn](1)}
}

// of returns a context whose searches take turns as requests of a party.
func (p *processors) of(ctx context.Context, party string) context.Context {
	if p == nil {
		return ctx
	}
	return schedule.WithTurns(ctx, partyTurns{p, party})
}

// partyTurns are the turns of one party. It implements [schedule.Turns].
type partyTurns struct {
	processors *processors
	party      string
}

// Take waits for a place. After the end of ctx it asks under the lock whether the place was given meanwhile.
func (t partyTurns) Take(ctx context.Context) error {
	p := t.processors
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	mine := &turn{given: make(chan struct{})}
	p.waiting.Push(t.party, mine)
	p.mu.Unlock()
	select {
	case <-mine.given:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-mine.given:
		return nil // the search sees by itself that its context has ended, and gives the place back
	default:
		mine.over = true
		return ctx.Err()
	}
}

// Give passes the place on to the tenant whose turn it is.
func (t partyTurns) Give() {
	p := t.processors
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		next, ok := p.waiting.Pop()
		switch {
		case !ok:
			p.free++
			return
		case !next.over:
			close(next.given)
			return
		}
	}
}
