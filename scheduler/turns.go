package scheduler

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// crew are the runs of a job that are going, where there is a limit to them: mostly one.
type crew struct {
	first job.RunID
	more  []job.RunID
}

func (c crew) size() int {
	if c.first == (job.RunID{}) {
		return 0
	}
	return 1 + len(c.more)
}

func (c crew) has(run job.RunID) bool { return c.first == run || slices.Contains(c.more, run) }

// mayTake tells whether a launch may go beside those that are going.
func (c crew) mayTake(w *waiting) bool { return c.size() < max(1, int(w.Limit)) }

func (c crew) with(run job.RunID) crew {
	if c.first == (job.RunID{}) {
		return crew{first: run}
	}
	c.more = append(c.more, run)
	return c
}

func (c crew) without(run job.RunID) crew {
	if c.first == run {
		if len(c.more) == 0 {
			return crew{}
		}
		return crew{first: c.more[0], more: c.more[1:]}
	}
	if i := slices.Index(c.more, run); i >= 0 {
		c.more = slices.Delete(c.more, i, i+1)
	}
	return c
}

// admitLocked decides whether a launch that is due may leave now: it has its turn, its delivery and a place.
func (p *pad) admitLocked(w *waiting, now job.Millis) bool {
	if w.Mode != ModeFree && !p.takeTurnLocked(w, now) {
		return false
	}
	if w.parked != 0 { // else it did not wait for its turn
		w.endTurn(now.Time())
	}
	if !p.boardLocked(w) {
		return false
	}
	p.dropLocked(w)
	p.flying[w.Run] = inFlight{attempt: w.Attempt, since: now, place: w.place, parked: w.parked, turnAt: w.turnAt}
	return true
}

// takeTurnLocked gives a launch its turn, if fewer runs of its job are going than may. If not, it does
// with the launch what its mode says.
func (p *pad) takeTurnLocked(w *waiting, now job.Millis) bool {
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
		for _, earlier := range p.parked[w.Run.Job] {
			p.skipLocked(earlier, job.ReasonOverlap)
		}
		p.spareLocked(w)
		w.beginTurn(now)
		p.parked[w.Run.Job] = []*waiting{w}
	default:
		p.parkLocked(w, now)
	}
	return false
}

// parkLocked lets a launch wait for its turn, behind those that were due before it: it may have been ready before
// them, if they were put back on the pad. One that has ended others to take their turn is not overtaken. Too many
// do not wait.
func (p *pad) parkLocked(w *waiting, now job.Millis) {
	queue := p.parked[w.Run.Job]
	if len(queue) >= job.BufferedRunsMax {
		p.skipLocked(w, job.ReasonQuota)
		return
	}
	p.spareLocked(w)
	w.beginTurn(now)
	i := len(queue)
	for i > 0 && queue[i-1].Mode != ModeCancel && w.isBefore(queue[i-1]) {
		i--
	}
	p.parked[w.Run.Job] = slices.Insert(queue, i, w)
}

func (p *pad) skipLocked(w *waiting, reason job.Reason) {
	p.dropLocked(w)
	p.report(job.Outcome{Run: w.Run, Attempt: w.Attempt, Skipped: reason})
}

// endLocked asks for the end of the runs that are going. Their turn is free when that is committed.
func (p *pad) endLocked(going crew) {
	p.report(job.Outcome{Run: going.first, Cancelled: job.ReasonOverlap})
	for _, run := range going.more {
		p.report(job.Outcome{Run: run, Cancelled: job.ReasonOverlap})
	}
}

// occupy gives runs their turns that are with their targets since before the start.
func (p *pad) occupy(runs []job.RunID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, run := range runs {
		p.occupyLocked(run)
	}
}

func (p *pad) occupyLocked(run job.RunID) {
	if going := p.turns[run.Job]; !going.has(run) {
		p.turns[run.Job] = going.with(run)
	}
}

// vacateLocked takes the turn back that a run has, and tells whether it had one.
func (p *pad) vacateLocked(run job.RunID) bool {
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

// settle tells the pad that runs came to their end: what of them still waits is gone, and those
// that wait for their turn get it.
func (p *pad) settle(runs []job.RunID, now time.Time) {
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

// stallLocked keeps those that wait for the turn of a job until launches may leave again: the tick
// looks after them.
func (p *pad) stallLocked(id job.ID, now time.Time) {
	if queue := p.parked[id]; len(queue) > 0 {
		queue[0].endTurn(now)
		p.stalled = append(p.stalled, id)
		p.wake()
	}
}

// unstallLocked gives turns that became free while nothing was allowed to leave.
func (p *pad) unstallLocked(now job.Millis, most int, ready []*waiting) []*waiting {
	for len(p.stalled) > 0 && len(ready) < most {
		ready = p.unparkLocked(p.stalled[0], now.Time(), ready)
		p.stalled = p.stalled[1:]
	}
	return ready
}

// unparkLocked lets the first of those leave that wait for the turn of a job, as many as may go now.
func (p *pad) unparkLocked(id job.ID, at time.Time, ready []*waiting) []*waiting {
	now := job.MillisOf(at)
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

// forgetLocked takes the launches of a run off the pad that came to its end by other means.
func (p *pad) forgetLocked(run job.RunID) {
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
