package api

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/schedule"
)

// Searches of all tenants take at most so many pieces a second for each place, after a first burst. A piece of a costly
// search takes 85 microseconds, so a place computes a fifth of the time. The burst is that of five previews of the largest
// size. Without the bound, requests that are waiting keep a processor busy without end, and what wakes up for another
// tenant waits until the system takes that processor away from them.
const (
	piecesRate, piecesBurst = 2500, 1250
	// piecesRest is how long the places rest when there is no piece left. A shorter rest costs more wake-ups; a longer one
	// computes more pieces in a row.
	piecesRest = time.Millisecond
)

// processors are shared among the tenants whose requests are costly to compute. A request computes its first piece at
// once; for each further piece it takes a turn, and tenants take turns. All pieces cost about the same, so tenants share
// processor time and not requests: one whose requests cost a hundred pieces gets as much time as one whose cost two, and
// all of it while it is alone. There are fewer places than processors, and all places rest when the pieces of the second are
// used up, so that small requests, launches and the engine's step find a processor free. A nil processors bounds nothing.
// Safe for concurrent use.
//
// Invariant: while a request waits, free is 0 or the places rest. Requests that gave up are in waiting until it is their
// turn; the gate bounds how many there are.
type processors struct {
	mu      sync.Mutex
	free    int
	pieces  *rate.Limiter // asked with mu held only
	rests   bool          // a timer will call wake
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

// newProcessors returns places for requests that are costly to compute, at least one, with so many pieces a second for all
// of them together, after a first burst of at least one.
func newProcessors(places int, pieces rate.Limit, burst int) *processors {
	return &processors{free: places, pieces: rate.NewLimiter(pieces, burst), waiting: fair.NewQueue[string, *turn](1)}
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
	mine := &turn{given: make(chan struct{})}
	p.mu.Lock()
	p.waiting.Push(t.party, mine)
	p.passLocked()
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
	p.free++
	p.passLocked()
}

// passLocked gives free places to those whose turn it is, or lets the places rest if there is no piece left.
func (p *processors) passLocked() {
	for p.free > 0 && !p.rests {
		if p.waiting.Len() > 0 && p.pieces.Tokens() < 1 {
			p.rests = true
			time.AfterFunc(piecesRest, p.wake)
			return
		}
		next, ok := p.waiting.Pop()
		switch {
		case !ok:
			return
		case !next.over:
			p.pieces.Allow()
			p.free--
			close(next.given)
		}
	}
}

// wake ends a rest.
func (p *processors) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rests = false
	p.passLocked()
}
