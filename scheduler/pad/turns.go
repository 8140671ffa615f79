package pad

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// running holds the runs of a concurrency-limited job that are in progress, mostly one. They have the job's turns.
// Most jobs that limit their runs allow one, so the first run needs no slice. The zero value has no runs.
type running struct {
	first job.RunID
	more  []job.RunID
}

func (c running) size() int {
	if c.first == (job.RunID{}) {
		return 0
	}
	return 1 + len(c.more)
}

func (c running) has(run job.RunID) bool { return c.first == run || slices.Contains(c.more, run) }

// mayTake reports whether a launch may start beside the runs in progress.
func (c running) mayTake(w *waiting) bool { return c.size() < max(1, int(w.Limit)) }

func (c running) with(run job.RunID) running {
	if c.first == (job.RunID{}) {
		return running{first: run}
	}
	c.more = append(c.more, run)
	return c
}

func (c running) without(run job.RunID) running {
	if c.first == run {
		if len(c.more) == 0 {
			return running{}
		}
		return running{first: c.more[0], more: c.more[1:]}
	}
	if i := slices.Index(c.more, run); i >= 0 {
		c.more = slices.Delete(c.more, i, i+1)
	}
	return c
}

// admitLocked reports whether a due launch may leave now: it has its turn, its delivery and a place. If not, the
// launch waits for what it lacks. An admitted launch counts as flying at once, before the sender has it: at no time is
// it neither on the pad nor in flight, and who waits by Flying relies on that.
func (p *Pad) admitLocked(w *waiting, now instant.Millis) bool {
	if w.Mode != ModeFree && !p.takeTurnLocked(w, now) {
		return false
	}
	if w.parked != 0 { // otherwise it did not wait for its turn
		w.endTurn(now.Time())
	}
	if !p.boardLocked(w) {
		return false
	}
	f := inFlight{
		attempt: w.Attempt, since: now, place: w.place, parked: w.parked, turnAt: w.turnAt, ends: w.Ends, isFree: w.Mode == ModeFree,
		isSent: w.lane != nil && w.lane.key.Kind.IsPublished(),
	}
	p.dropLocked(w)
	p.flyLocked(w.Run, f)
	return true
}

// takeTurnLocked gives a launch its turn, if its job has fewer runs in progress than it allows. If not, the mode of
// the launch decides what happens to it. This is the one place where overlap is decided. The outcome of a launch that
// is skipped here is committed by a later step; until then its run is live.
func (p *Pad) takeTurnLocked(w *waiting, now instant.Millis) bool {
	going := p.turns[w.Run.Job]
	if going.has(w.Run) {
		return true
	}
	if going.mayTake(w) || w.Mode == ModeHeld {
		p.turns[w.Run.Job] = going.with(w.Run)
		return true
	}
	switch w.Mode {
	case ModeSkip:
		p.skipLocked(w, job.ReasonOverlap)
	case ModeBufferOne:
		if len(p.parked[w.Run.Job]) > 0 {
			p.skipLocked(w, job.ReasonOverlap)
			break
		}
		p.parkLocked(w, now)
	case ModeCancel:
		p.endLocked(going)
		p.displaceLocked(w.Run.Job)
		p.spareLocked(w)
		w.beginTurn(now)
		p.parked[w.Run.Job] = append(p.parked[w.Run.Job], w)
	default:
		p.parkLocked(w, now)
	}
	return false
}

// displaceLocked skips the launches that wait for the turn of a job, except those that may have left under another
// leader.
func (p *Pad) displaceLocked(id job.ID) {
	p.parked[id] = slices.DeleteFunc(p.parked[id], func(w *waiting) bool {
		if w.Mode == ModeAgain {
			return false
		}
		p.skipLocked(w, job.ReasonOverlap)
		return true
	})
}

// parkLocked makes a launch wait for its turn, behind those that were due before it; they may come later if they were
// put back on the pad. A launch that has ended other runs to get their turn is not overtaken. If too many launches
// wait already, it ends as skipped. The bound keeps a job whose runs never end from filling the memory of all.
func (p *Pad) parkLocked(w *waiting, now instant.Millis) {
	queue := p.parked[w.Run.Job]
	if len(queue) >= job.BufferedRunsMax {
		p.skipLocked(w, job.ReasonQuota)
		return
	}
	p.spareLocked(w)
	w.beginTurn(now)
	i := len(queue)
	for i > 0 && queue[i-1].Mode != ModeCancel && w.Before(queue[i-1]) {
		i--
	}
	p.parked[w.Run.Job] = slices.Insert(queue, i, w)
}

func (p *Pad) skipLocked(w *waiting, reason job.Reason) {
	p.dropLocked(w)
	p.report(job.Outcome{Run: w.Run, Attempt: w.Attempt, Skipped: reason}, true)
}

// endLocked asks for the end of the runs in progress. Their turn is free when that is committed.
func (p *Pad) endLocked(going running) {
	p.report(job.Outcome{Run: going.first, Cancelled: job.ReasonOverlap}, false)
	for _, run := range going.more {
		p.report(job.Outcome{Run: run, Cancelled: job.ReasonOverlap}, false)
	}
}

// EndGoing asks for the end of the runs that have the turns of some jobs.
func (p *Pad) EndGoing(jobs []job.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range jobs {
		if going, some := p.turns[id]; some {
			p.endLocked(going)
		}
	}
}

// Occupy gives turns to runs that are in progress and have no launch on the pad, because they wait for reports. Only
// the core ends such a run.
func (p *Pad) Occupy(runs []job.RunID) {
	if len(runs) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, run := range runs {
		p.occupyLocked(run)
		p.hangOnLocked(run)
	}
}

func (p *Pad) occupyLocked(run job.RunID) {
	if going := p.turns[run.Job]; !going.has(run) {
		p.turns[run.Job] = going.with(run)
	}
}

// vacateLocked frees the turn of a run, and reports whether the run had one.
func (p *Pad) vacateLocked(run job.RunID) bool {
	going := p.turns[run.Job]
	if !going.has(run) {
		return false
	}
	if going = going.without(run); going.size() == 0 {
		delete(p.turns, run.Job)
	} else {
		p.turns[run.Job] = going
	}
	return true
}

// EndRuns removes whatever the pad has of runs that ended, and gives their turns to the launches that wait for them.
// The loop calls it after the commit that ends them, so a run that follows never starts before the end of the one
// before it is durable, unless Endings say that the end is certain.
func (p *Pad) EndRuns(runs []job.RunID, now time.Time) {
	if len(runs) == 0 {
		return
	}
	var ready []*waiting
	mayLeave := p.mayLeave()
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	for _, run := range runs {
		p.forgetLocked(run)
		p.hangOnLocked(run) // it may be retried by a caller before its attempt ends
		switch {
		case !p.vacateLocked(run) || p.held:
		case mayLeave:
			ready = p.unparkLocked(run.Job, now, ready)
		default:
			p.stallLocked(run.Job, now)
		}
	}
	p.mu.Unlock()
	p.sendAll(ready)
}

// stallLocked makes the tick serve the launches that wait for the turn of a job, which has been free since an
// instant.
func (p *Pad) stallLocked(id job.ID, now time.Time) {
	if queue := p.parked[id]; len(queue) > 0 {
		queue[0].endTurn(now)
		p.stalled = append(p.stalled, id)
		p.wake(instant.LongAgo)
	}
}

// unstallLocked gives free turns to the launches that wait for them, as far as ready has room.
func (p *Pad) unstallLocked(now instant.Millis, ready []*waiting) []*waiting {
	n := 0
	for ; n < len(p.stalled) && len(ready) < departuresMax && !p.held; n++ {
		ready = p.unparkLocked(p.stalled[n], now.Time(), ready)
	}
	p.stalled = cut(p.stalled, n)
	return ready
}

// unparkLocked lets the first launches leave that wait for the turn of a job, as many as the job allows.
func (p *Pad) unparkLocked(id job.ID, at time.Time, ready []*waiting) []*waiting {
	now := instant.Of(at)
	for {
		queue := p.parked[id]
		if len(queue) == 0 || !p.turns[id].mayTake(queue[0]) {
			return ready
		}
		w := queue[0]
		if p.parked[id] = queue[1:]; len(queue) == 1 {
			delete(p.parked, id)
		}
		w.endTurn(at)
		if !p.isEarlyLocked(w, now) && p.admitLocked(w, now) {
			ready = append(ready, w)
		}
	}
}

// forgetLocked removes the launches of a run that ended in another way.
func (p *Pad) forgetLocked(run job.RunID) {
	for w := p.byJob[run.Job]; w != nil; w = w.older {
		if w.Run != run {
			continue
		}
		w.gone = true
		p.unqueueLocked(w)
		p.seekOnLocked(run.Job)
		p.dropLocked(w)
		if queue := p.parked[run.Job]; len(queue) > 0 {
			if queue = slices.DeleteFunc(queue, func(q *waiting) bool { return q == w }); len(queue) == 0 {
				delete(p.parked, run.Job)
			} else {
				p.parked[run.Job] = queue
			}
		}
		return
	}
}
