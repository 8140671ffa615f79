package api

import (
	"container/list"
	"context"
	"sync"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/fair"
)

// gate bounds the requests of one kind, and shares its places among tenants: how many run at a time, how many more wait to
// run, and how many bytes all of them hold. A nil gate bounds nothing. Safe for concurrent use. Admission comes first and
// never waits. A tenant that has many requests is refused or waits while others are admitted and run, see [fair.Shares];
// waiting tenants take turns.
//
// Invariant: each pass that runs or waits has one of admitted. A tenant is in turns exactly while it has a line.
type gate struct {
	bytesMax   int
	goroutines *goroutines // of the requests that run

	mu                sync.Mutex
	admitted, running fair.Shares[string]
	lines             map[string]*gateLine
	turns             fair.FIFO[*gateLine]
	bytes             int // of all admitted requests
	bytesBy           map[string]int
}

// gateLine has the requests of one tenant that wait, the oldest first. It may be empty, after requests gave up.
type gateLine struct {
	party   string
	waiting list.List // of *pass
}

// pass is the admission of one request. A nil pass is one of a nil gate. It belongs to the goroutine of its request, except
// that the gate gives it its place.
type pass struct {
	gate  *gate
	party string
	bytes int

	run   func()        // is called on a goroutine of its own when the request may run; nil: given is closed
	given chan struct{} // nil before enter
	// Guarded by the gate's mutex. A pass that is not running and has no place in a line was only admitted.
	isRunning bool
	line      *gateLine
	place     *list.Element
}

// newGate returns a gate for the given numbers of requests that run, and that run or wait, and for their bytes.
func newGate(running, admitted, bytesMax int, g *goroutines) *gate {
	return &gate{
		bytesMax: bytesMax, goroutines: g, admitted: fair.NewShares[string](admitted), running: fair.NewShares[string](running),
		lines: make(map[string]*gateLine), bytesBy: make(map[string]int),
	}
}

// admit counts a request of a tenant in, or refuses it. It never blocks. The caller calls leave on the pass, once.
func (g *gate) admit(party string, bytes int) (*pass, error) {
	if g == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasBytesLocked(party, bytes) {
		return nil, apierr.Errorf(apierr.RateLimited, "", "the requests of this kind that are under way have %d bytes, %d of them those of your tenant, and the limit is %d for all tenants; ask again later",
			g.bytes, g.bytesBy[party], g.bytesMax)
	}
	if !g.admitted.Take(party) {
		return nil, apierr.Errorf(apierr.RateLimited, "", "%d requests of this kind are under way, %d of them those of your tenant, which is as many as it may have now; ask again later",
			g.admitted.Taken(), g.admitted.Held(party))
	}
	g.bytes += bytes
	g.bytesBy[party] += bytes
	return &pass{gate: g, party: party, bytes: bytes}, nil
}

// hasBytesLocked reports whether the gate has room for the bytes of a request. A tenant may hold three times as many as
// stay free, and always one request.
func (g *gate) hasBytesLocked(party string, bytes int) bool {
	held, free := g.bytesBy[party], g.bytesMax-g.bytes-bytes
	return free >= 0 && (held == 0 || held+bytes <= 3*free) || g.bytes == 0
}

// begin calls run on a goroutine of its own as soon as the request may run. A request that waits has no goroutine.
func (p *pass) begin(run func()) {
	if p == nil {
		go run()
		return
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.run = run
	p.gate.lineUpLocked(p)
}

// enter waits until the request may run. It fails when ctx ends. It can then say for certain that nothing has changed,
// because no verb has been called yet. A request that begin has started enters at once.
func (p *pass) enter(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.gate.mu.Lock()
	if !p.isRunning {
		p.given = make(chan struct{})
		p.gate.lineUpLocked(p)
	}
	isRunning := p.isRunning
	p.gate.mu.Unlock()
	if !isRunning {
		select {
		case <-p.given:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return apierr.Errorf(apierr.RateLimited, "", "the server was too busy to begin with the request in time; nothing has changed, ask again later")
	}
	return nil
}

// leave ends the admission of a request, and its run if it has one.
func (p *pass) leave() {
	if p == nil {
		return
	}
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted.Free(p.party)
	g.bytes -= p.bytes
	if g.bytesBy[p.party] -= p.bytes; g.bytesBy[p.party] == 0 {
		delete(g.bytesBy, p.party)
	}
	switch {
	case p.isRunning:
		g.running.Free(p.party)
		g.passLocked()
	case p.place != nil:
		p.line.waiting.Remove(p.place)
	}
}

// underWay returns how many requests are admitted.
func (g *gate) underWay() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.admitted.Taken()
}

// lineUpLocked gives a place to a request, or appends it to the line of its tenant. A tenant with a line has no place
// left, so a new request never overtakes one that waits.
func (g *gate) lineUpLocked(p *pass) {
	l := g.lines[p.party]
	if (l == nil || l.waiting.Len() == 0) && g.running.Take(p.party) {
		p.giveLocked()
		return
	}
	if l == nil {
		l = &gateLine{party: p.party}
		g.lines[p.party] = l
		g.turns.Push(l)
	}
	p.line, p.place = l, l.waiting.PushBack(p)
}

// passLocked gives free places to waiting requests: the tenants take turns, and one that may have no more is passed over.
func (g *gate) passLocked() {
	for over := 0; over < g.turns.Len(); {
		l := g.turns.Pop()
		switch {
		case l.waiting.Len() == 0:
			delete(g.lines, l.party)
			continue
		case !g.running.Take(l.party):
			over++
		default:
			over = 0
			p := l.waiting.Remove(l.waiting.Front()).(*pass)
			p.place = nil
			p.giveLocked()
		}
		g.turns.Push(l)
	}
}

// giveLocked lets a request run.
func (p *pass) giveLocked() {
	p.isRunning = true
	switch {
	case p.run != nil:
		p.gate.goroutines.run(p.run)
	case p.given != nil:
		close(p.given)
	}
}
