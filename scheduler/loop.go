package scheduler

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Bounds of what one step gathers.
const (
	// gatherBytes bounds how much proposals may add to a step before it begins; later proposals join the next step.
	// Together with one proposal of the largest size it stays within a commit.
	gatherBytes = 320 << 10
	// outcomesMax bounds the outcomes that one step handles.
	outcomesMax = 4096
)

// ticket is the proposals of one caller on their way through the loop. If there are many, they take several steps, and
// no proposal of another caller comes between them. The loop owns the proposals from the send of the ticket until done
// is closed. A caller that gives up earlier must not read them.
type ticket struct {
	proposals []core.Proposal
	taken     int           // how many of them are already in a step
	done      chan struct{} // closed when all are handled, committed and applied
	// lost is set before done closes: the engine stopped, and the outcome is unknown. It is nil if the proposals were
	// handled, even if each was refused.
	lost error
}

// newTicket returns a ticket for the proposals of one caller, in the order in which they are to take effect.
func newTicket(p ...core.Proposal) *ticket { return &ticket{proposals: p, done: make(chan struct{})} }

// loop gathers, steps, commits and releases, one commit at a time. Whatever arrives during a commit joins the next
// one. It is the only goroutine that touches the core, and the only one that appends. So a step needs no lock, and the
// order of commits is the order of steps.
func (e *Engine) loop(ctx context.Context) error {
	g := gathering{engine: e, timer: time.NewTimer(0), taken: make(map[job.ID]struct{}), pace: pacingFor(e.opts.Settings.Lead, e.opts.Shard, e.opts.Settings.Shards)}
	g.wakeAt = instant.Of(e.opts.Clock.Now()) // the first step finds out what is due
	defer g.timer.Stop()
	defer g.refuseAll()
	for g.wait(ctx) {
		if err := e.stepOnce(&g); err != nil {
			return err
		}
	}
	return nil
}

// stepOnce steps with what was gathered, commits the result and releases its effects, in the order that Output
// demands. After an error nothing of the step has left: the callers learn that the outcome is unknown, and the engine
// stops.
func (e *Engine) stepOnce(g *gathering) error {
	lsn := e.opts.Store.Applied().LSN + 1
	g.stepping = true
	outcomes := e.nextOutcomes()
	out := e.core.Step(core.Input{
		Now:       instant.Of(e.opts.Clock.Now()),
		LSN:       lsn,
		Proposals: g.proposals[:g.ready],
		Outcomes:  outcomes,
		Room:      e.opts.LiveMax - e.core.Live(),
		Quotas:    e.quotas(),
		Usual:     g.usual.read(e),
		MayIndex:  e.mayIndex(),
	})
	e.pad.Void(out.Aborts) // before the first commit: the step may need several, and launches leave meanwhile
	err := out.Commits(func(b *job.Batch) error {
		lsn++
		return e.commit(e.core.Epoch(), b, lsn-1)
	})
	if err != nil {
		return err
	}
	// From here on the step is durable. Outcomes leave their queue only now, and callers are answered after publish,
	// so that a caller that reads the status after the answer finds its own change there.
	e.outcomes.drop(out.OutcomesTaken)
	now := e.opts.Clock.Now()
	e.pad.Add(out.Launches, instant.Of(now))
	for _, run := range out.Aborts {
		e.opts.Sender.Cancel(run)
	}
	e.pad.Occupy(out.Going)
	e.pad.EndRuns(out.Ended, now)
	e.publish(out, now)
	g.release(out.ProposalsTaken)
	g.stepping = false
	e.housekeeping.send(out)
	g.wakeAt, g.latest, g.awaits = out.WakeAt, out.LatestAt, out.Awaits
	return errors.Join(e.countSome(), e.indexSome())
}

// gathering is what the loop has collected for the next step.
type gathering struct {
	engine    *Engine
	timer     *time.Timer
	tickets   []gathered      // with their last proposal in this step
	proposals []core.Proposal // those left over by the last step come first
	ready     int             // how many of them are for this step
	// unfinished is the ticket that has more proposals than fit into the step. At most one ticket is in this state,
	// because no other ticket is received meanwhile.
	unfinished *ticket
	bytes      int
	taken      map[job.ID]struct{} // jobs whose launches a proposal of this step withdrew
	// wakeAt is when the core wants the next step, and latest by when it must come; 0: when there is something to handle.
	wakeAt, latest instant.Millis
	awaits         bool // the core has work that waits for the end of any run
	lastStep       time.Time
	stepping       bool // a step is under way, or has failed
	pace           pacing
	usual          usualElsewhere
}

// gathered is a ticket with the number of gathered proposals up to its last one.
type gathered struct {
	ticket *ticket
	end    int
}

// isBegun reports whether an earlier step has taken some of the proposals, which are no longer among those that are gathered.
func (t gathered) isBegun() bool { return t.end < len(t.ticket.proposals) }

// reset begins to gather for another step: first what the last step left over, then what it had no room for.
func (g *gathering) reset() {
	g.bytes, g.ready = 0, 0
	clear(g.taken)
	for _, p := range g.proposals {
		if !g.prepare(p) {
			return
		}
	}
	if t := g.unfinished; t != nil {
		g.unfinished = nil
		g.add(t)
	}
}

// isWaiting reports whether there are proposals for another step.
func (g *gathering) isWaiting() bool { return len(g.proposals) > 0 || g.unfinished != nil }

// wait returns true when there is something to do in a step, and false when the engine is to stop. A full queue of
// outcomes or a proposal ends the wait at once; an outcome alone waits for others. While the engine rests it is here,
// between two steps.
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
		case over := <-e.rests:
			select {
			case <-over:
				continue
			case <-ctx.Done():
				return false
			}
		case <-g.timer.C:
		}
		break
	}
	g.yieldToCallers()
	g.drain()
	g.lastStep = time.Now()
	return ctx.Err() == nil
}

// yieldToCallers yields, so that callers released by the last step can join this commit. Otherwise the first of many
// would get a commit of its own, and the others would wait for it. If no caller is about to propose, it takes no time.
func (g *gathering) yieldToCallers() {
	if len(g.proposals) == 0 {
		return
	}
	for range 3 {
		runtime.Gosched()
	}
}

// drain gathers the proposals that have arrived, as many as fit.
func (g *gathering) drain() {
	for g.bytes < gatherBytes && g.unfinished == nil {
		select {
		case t := <-g.engine.proposals:
			g.add(t)
		default:
			return
		}
	}
}

// add gathers the proposals of a caller. Those that do not fit wait for the next step.
func (g *gathering) add(t *ticket) {
	for t.taken < len(t.proposals) {
		if !g.take(t.proposals[t.taken]) {
			g.unfinished = t
			return
		}
		t.taken++
	}
	g.tickets = append(g.tickets, gathered{t, len(g.proposals)})
}

// take gathers a new proposal, behind those that the last step left over. It returns false if the step has no room for
// it. The bound is on what the proposals announce; the first is accepted whatever its size.
func (g *gathering) take(p core.Proposal) bool {
	if g.ready < len(g.proposals) || g.bytes > 0 && g.bytes+p.Bytes() > 2*gatherBytes || !g.prepare(p) {
		return false
	}
	g.proposals = append(g.proposals, p)
	return true
}

// prepare withdraws the launches that a proposal concerns: from here on none of them leaves, unless the step puts
// them back. It returns false if an earlier proposal has withdrawn launches of the same job, because this one must
// see what that one makes of them.
func (g *gathering) prepare(p core.Proposal) bool {
	id := g.touches(p)
	if _, taken := g.taken[id]; taken {
		return false
	}
	g.withdraw(p, id)
	g.size(p)
	g.bytes += p.Bytes()
	g.ready++
	return true
}

// release answers the callers whose proposals are all among the first n, which are finished. The other proposals are
// for the next step.
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

// refuseAll answers the callers whose proposals will not be committed, or whose commit failed. The outcome of a failed
// commit is unknown until the next start. Of what was in no step, nothing has changed. A ticket that is sent after the last receive here is answered by await, when
// Serve has returned.
func (g *gathering) refuseAll() {
	e := g.engine
	e.stopOnce.Do(func() { close(e.stopping) })
	lost := apierr.Errorf(apierr.Unavailable, "", "the server is stopping; whether the request took effect is unknown, so read before asking again")
	if g.unfinished != nil {
		refuse(g.unfinished, lost)
	}
	for _, t := range g.tickets {
		if g.stepping || t.isBegun() {
			refuse(t.ticket, lost)
		} else {
			refuse(t.ticket, e.refusal())
		}
	}
	for {
		select {
		case t := <-e.proposals:
			refuse(t, e.refusal())
		default:
			return
		}
	}
}

// refuse answers a caller with an error, unless it is answered already.
func refuse(t *ticket, err error) {
	select {
	case <-t.done:
	default:
		t.lost = err
		close(t.done)
	}
}
