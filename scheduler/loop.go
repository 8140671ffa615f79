package scheduler

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Bounds of what one step gathers.
const (
	// gatherBytes is how much proposals may add to a batch before the step begins: what comes later
	// joins the next. Together with one proposal of the largest size it stays inside a commit.
	gatherBytes = 320 << 10
	// outcomesMax is how many outcomes one step takes.
	outcomesMax = 4096
	// outcomesPatience is how long an outcome may wait for others before it causes a commit.
	outcomesPatience = 5 * time.Millisecond
	// decisionPause is the shortest time between two steps that only decide ticks. Ticks are decided
	// ahead, so nobody waits for them, and commits come in larger pieces.
	decisionPause = 10 * time.Millisecond
)

// ticket is what one caller proposes, on its way through the loop. Many proposals of one caller may take
// several steps; none of another caller comes between them.
type ticket struct {
	proposals []Proposal
	taken     int           // how many of them a step has taken in
	done      chan struct{} // closed when all are settled, committed and applied
	lost      error         // set before done closes: the engine stopped, the outcome is unknown
}

func newTicket(p ...Proposal) *ticket { return &ticket{proposals: p, done: make(chan struct{})} }

// loop gathers, steps, commits and releases; one commit at a time, and everything that arrives
// meanwhile joins the next.
func (e *Engine) loop(ctx context.Context) error {
	g := gathering{engine: e, timer: time.NewTimer(0), taken: make(map[job.ID]struct{})}
	g.wakeAt = job.MillisOf(e.opts.Clock.Now()) // the first step finds out what is due
	defer g.timer.Stop()
	defer g.refuseAll()
	for g.wait(ctx) {
		if err := e.stepOnce(&g); err != nil {
			return err
		}
	}
	return nil
}

// stepOnce makes one step of what was gathered, commits it and lets its effects out, in the order
// that Output demands.
func (e *Engine) stepOnce(g *gathering) error {
	lsn := e.opts.Store.Applied().LSN + 1
	outcomes := e.outcomes.peek(outcomesMax)
	out := e.core.Step(Input{
		Now:       job.MillisOf(e.opts.Clock.Now()),
		LSN:       lsn,
		Proposals: g.proposals[:g.ready],
		Outcomes:  outcomes,
		Room:      e.opts.LiveMax - len(e.core.live),
	})
	err := out.Commits(func(b *job.Batch) error {
		lsn++
		return e.commit(e.core.epoch, b, lsn-1)
	})
	if err != nil {
		return err
	}
	e.outcomes.drop(out.OutcomesTaken)
	now := e.opts.Clock.Now()
	e.pad.add(out.Launches, job.MillisOf(now))
	for _, run := range out.Aborts {
		e.opts.Sender.Cancel(run)
	}
	e.pad.settle(out.Settled, now)
	e.publish(out, now)
	g.release(out.ProposalsTaken)
	e.chores.send(out)
	g.wakeAt = out.WakeAt
	return nil
}

// gathering is what the loop has collected for the next step.
type gathering struct {
	engine    *Engine
	timer     *time.Timer
	tickets   []gathered // whose last proposal is in this step
	proposals []Proposal // those that the last step left over come first
	ready     int        // how many of them are for this step
	held      *ticket    // has more than the step can take
	bytes     int
	taken     map[job.ID]struct{} // jobs whose launches a proposal of this step withdrew
	wakeAt    job.Millis
	lastStep  time.Time
}

// gathered is a ticket with the number of proposals that are gathered up to its last one.
type gathered struct {
	ticket *ticket
	end    int
}

// reset begins to gather for another step, with what the last one left over and what it had no room for.
func (g *gathering) reset() {
	g.bytes, g.ready = 0, 0
	clear(g.taken)
	for _, p := range g.proposals {
		if !g.prepare(p) {
			return
		}
	}
	if t := g.held; t != nil {
		g.held = nil
		g.add(t)
	}
}

// isWaiting tells whether there are proposals for another step.
func (g *gathering) isWaiting() bool { return len(g.proposals) > 0 || g.held != nil }

// wait returns when there is something to step, or false when the engine is to stop.
func (g *gathering) wait(ctx context.Context) bool {
	e := g.engine
	g.reset()
	for len(g.proposals) == 0 && !e.outcomes.isFull() {
		g.timer.Reset(g.patience())
		select {
		case <-ctx.Done():
			return false
		case t := <-e.proposals:
			g.add(t)
			continue
		case <-e.outcomes.ready:
			continue
		case <-g.timer.C:
		}
		break
	}
	g.letIn()
	g.drain()
	g.lastStep = time.Now()
	return ctx.Err() == nil
}

// patience returns how long the loop may wait for a proposal before it steps for other reasons.
func (g *gathering) patience() time.Duration {
	pause := decisionPause - time.Since(g.lastStep)
	if oldest, some := g.engine.outcomes.oldest(); some {
		return max(0, outcomesPatience-time.Since(oldest))
	}
	if g.wakeAt == 0 {
		return time.Hour
	}
	// Not longer than idleMax: the timer does not see that the wall clock was set forward.
	return max(pause, min(idleMax, g.wakeAt.Sub(job.MillisOf(g.engine.opts.Clock.Now()))), 0)
}

// letIn lets those propose who are about to: of many callers that the last step let go, the first would
// else have a commit alone, and the others wait for it. With nobody about to, it takes no time.
func (g *gathering) letIn() {
	if len(g.proposals) == 0 {
		return
	}
	for range 3 {
		runtime.Gosched()
	}
}

// drain takes the proposals that are there, as many as fit.
func (g *gathering) drain() {
	for g.bytes < gatherBytes && g.held == nil {
		select {
		case t := <-g.engine.proposals:
			g.add(t)
		default:
			return
		}
	}
}

// add takes in what a caller proposes. What the step has no room for waits for the next.
func (g *gathering) add(t *ticket) {
	for t.taken < len(t.proposals) {
		if !g.take(t.proposals[t.taken]) {
			g.held = t
			return
		}
		t.taken++
	}
	g.tickets = append(g.tickets, gathered{t, len(g.proposals)})
}

// take takes a new proposal in, behind those that the last step left over. It refuses one that the step has
// no room for.
func (g *gathering) take(p Proposal) bool {
	if g.ready < len(g.proposals) || g.bytes > 0 && g.bytes+p.bytes() > 2*gatherBytes || !g.prepare(p) {
		return false
	}
	g.proposals = append(g.proposals, p)
	return true
}

// prepare makes a proposal ready for the step, with the launches that it withdraws: from here on none of them
// leaves, unless the step puts them back. It refuses one of a job whose launches are withdrawn already: that
// must see what the first made of them.
func (g *gathering) prepare(p Proposal) bool {
	id := g.touches(p)
	if _, taken := g.taken[id]; taken {
		return false
	}
	g.withdraw(p, id)
	g.bytes += p.bytes()
	g.ready++
	return true
}

// touches returns the job that a proposal changes, 0 if there is none yet.
func (g *gathering) touches(p Proposal) job.ID {
	var h nameHash
	switch p := p.(type) {
	case *Put:
		h = p.Hash
	case *Delete:
		h = p.Hash
	case *Pause:
		h = p.Hash
	case *CancelRun:
		return p.Run.Job
	default:
		return 0
	}
	_, r := g.engine.core.find(h)
	if r == nil {
		return 0
	}
	return r.id
}

// withdraw takes the waiting launches of the job that a proposal changes off the pad.
func (g *gathering) withdraw(p Proposal, id job.ID) {
	w, ok := p.(withdrawer)
	if !ok || id == 0 {
		return
	}
	launches := w.withdrawn()
	if *launches = append(*launches, g.engine.pad.take(id)...); len(*launches) > 0 {
		g.taken[id] = struct{}{}
	}
}

// release lets the callers go on whose proposals are all among the first n, which are settled. The others
// are for the next step.
func (g *gathering) release(n int) {
	kept := g.tickets[:0]
	for _, t := range g.tickets {
		if t.end <= n {
			close(t.ticket.done)
			continue
		}
		kept = append(kept, gathered{t.ticket, t.end - n})
	}
	clear(g.tickets[len(kept):])
	g.tickets, g.proposals = kept, slices.Delete(g.proposals, 0, n)
}

// refuseAll answers the callers whose proposals will not be committed any more, or whose commit
// failed: what became of those is unknown until the next start.
func (g *gathering) refuseAll() {
	e := g.engine
	e.stopOnce.Do(func() { close(e.stopping) })
	lost := job.Errorf(job.CodeUnavailable, "", "the server is stopping; whether the request took effect is unknown, so read before asking again")
	if g.held != nil {
		refuse(g.held, lost)
	}
	for _, t := range g.tickets {
		refuse(t.ticket, lost)
	}
	for {
		select {
		case t := <-e.proposals:
			refuse(t, lost)
		default:
			return
		}
	}
}

func refuse(t *ticket, err error) {
	select {
	case <-t.done:
	default:
		t.lost = err
		close(t.done)
	}
}
