package scheduler

import (
	"github.com/carillon-io/carillon/job"
)

// departuresMax bounds the launches that go to the sender at once.
const departuresMax = 256

// departures are the launches that were made ready and wait for leave to go, in the order in which they will. The tick
// and the feeders both let them go, in this order.
type departures struct {
	boarded []*waiting // have their place
	found   []job.ID   // whose launches get in line next

	leaving []*waiting // by a feeder; guarded by sending alone
	unused  []place    // to give back, outside of mu; guarded by sending
}

// place is a place at a target.
type place struct {
	lane   job.Lane
	weight int
}

// ready gives a launch what its target will get. If the launch is wanted, it leaves at once, or waits for what
// it lacks: for the tick if nothing may leave.
func (p *pad) ready(w *waiting, d *job.Delivery, err error, now job.Millis) {
	mayLeave := p.mayLeave()
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	p.readyLocked(w, d, err)
	p.leaving = p.leaving[:0]
	if mayLeave {
		p.leaving = p.departLocked(now, p.leaving)
	}
	if w.spot == atSeek {
		p.spareLocked(w)
	}
	if p.isDepartingLocked() {
		p.wake()
	}
	p.mu.Unlock()
	p.sendAll(p.leaving)
}

func (p *pad) readyLocked(w *waiting, d *job.Delivery, err error) {
	w.reading = false
	if !w.gone {
		p.loadLocked(w, d, err)
	}
	switch {
	case w.placed:
		p.boarded = append(p.boarded, w)
	case w.spot == atSeek:
		p.foundLocked(w)
	case w.spot == atNear && p.ahead > aheadBytesMax:
		p.unloadLocked(w)
	}
}

// isDepartingLocked tells whether launches wait for leave to go.
func (p *pad) isDepartingLocked() bool { return len(p.boarded)+len(p.found) > 0 && !p.held }

// departLocked lets launches go that were made ready, as far as ready has room for them.
func (p *pad) departLocked(now job.Millis, ready []*waiting) []*waiting {
	n := 0
	for ; n < len(p.boarded) && len(ready) < departuresMax; n++ {
		if w := p.boarded[n]; p.takeOffLocked(w, now) {
			ready = append(ready, w)
		}
	}
	p.boarded = cut(p.boarded, n)
	for n = 0; n < len(p.found) && len(ready) < departuresMax && !p.held; n++ {
		if ready = p.admitFoundLocked(p.found[n], now, departuresMax, ready); len(ready) == departuresMax {
			break // perhaps there are more of this job
		}
	}
	p.found = cut(p.found, n)
	return ready
}

// takeOffLocked tells whether a launch leaves that has its place. Else its place is free again.
func (p *pad) takeOffLocked(w *waiting, now job.Millis) bool {
	leaves := false
	if !w.gone && !p.held && !p.isEarlyLocked(w, now) {
		if w.isTooLate(now) {
			w.failure = tooLate
		}
		leaves = p.admitLocked(w, now)
	}
	w.placed = false
	w.lane.reading--
	p.tidyLocked(w.lane)
	if !leaves || w.failure != "" {
		p.unused = append(p.unused, place{lane: w.lane.key, weight: w.weight})
	}
	return leaves
}

// sendAll hands launches to the sender, and gives back the places that are not used. The caller holds sending.
func (p *pad) sendAll(ready []*waiting) {
	for _, u := range p.unused {
		p.sender.Release(u.lane, u.weight)
	}
	p.unused = p.unused[:0]
	for i, w := range ready {
		ready[i] = nil
		if w.failure != "" {
			p.done(job.Outcome{Run: w.Run, Attempt: w.Attempt, Error: w.failure})
			continue
		}
		p.sender.Launch(w.delivery, p.done)
	}
}

// close lets nothing leave any more, and gives back the places of what has not left. The feeders have
// ended.
func (p *pad) close() {
	p.hold()
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	for _, f := range p.feeds {
		for w, ok := f.wanted.Pop(); ok; w, ok = f.wanted.Pop() {
			if w.placed {
				p.boarded = append(p.boarded, w)
			}
		}
	}
	p.departLocked(0, nil)
	p.mu.Unlock()
	p.sendAll(nil)
}

// cut removes the first n of a queue, and keeps its memory.
func cut[T any](queue []T, n int) []T {
	rest := copy(queue, queue[n:])
	clear(queue[rest:])
	return queue[:rest]
}
