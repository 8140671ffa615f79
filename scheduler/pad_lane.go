package scheduler

import (
	"container/heap"
	"time"

	"github.com/carillon-io/carillon/job"
)

// padLane has the launches that wait for a place at one target. A launch that waits is as small as any on
// the pad: its cold row is read again when it has its place. It exists while launches on the pad are of it,
// or while a place is asked for.
//
// Invariant: while launches wait in queue, a place is asked for, or the lane rests because nothing may leave.
type padLane struct {
	key     job.Lane
	room    func() bool // for the sender: there is a place
	queue   launchHeap  // by due time, and then by arrival
	asked   bool
	weight  int // of the launch that a place is asked for
	refs    int // launches on the pad that are of it
	reading int // launches that have a place and are made ready
}

// laneFact is what the pad knows of the launches of a job from the last one whose cold row it read.
type laneFact struct {
	key    job.Lane
	weight int // bytes of the payload
}

// factsMax bounds the jobs of which the pad remembers that. Beyond it, it begins anew.
const factsMax = 64 << 10

// enterLaneLocked finds the lane of a launch whose cold row is read.
func (p *pad) enterLaneLocked(w *waiting) {
	if w.lane != nil {
		return
	}
	fact := laneFact{key: w.delivery.Lane(), weight: len(w.delivery.Payload)}
	if isShared := w.older != nil || w.newer != nil; isShared && !w.HasPayload { // else it is of no use to any other
		if len(p.facts) >= factsMax {
			clear(p.facts)
		}
		p.facts[w.Run.Job] = fact
	}
	p.joinLaneLocked(w, fact)
}

// enterKnownLocked finds the lane of a launch without its cold row, if one of its job was read since the job changed
// last: a herd of one job gets in line without reading the payload of each run.
func (p *pad) enterKnownLocked(w *waiting) bool {
	fact, known := p.facts[w.Run.Job]
	if known = known && !w.HasPayload; known {
		p.joinLaneLocked(w, fact)
	}
	return known
}

// isInLineLocked tells whether a launch will wait in its lane when it is due: to read its cold row now would be for
// nothing.
func (p *pad) isInLineLocked(w *waiting) bool {
	fact, known := p.facts[w.Run.Job]
	l := p.lanes[fact.key]
	return known && !w.HasPayload && l != nil && len(l.queue) > 0
}

func (p *pad) joinLaneLocked(w *waiting, fact laneFact) {
	l := p.lanes[fact.key]
	if l == nil {
		l = p.newLaneLocked()
		l.key = fact.key
		p.lanes[fact.key] = l
	}
	l.refs++
	w.lane, w.weight = l, fact.weight
}

// newLaneLocked returns a lane that is not in use.
func (p *pad) newLaneLocked() *padLane {
	if last := len(p.spareLanes) - 1; last >= 0 {
		l := p.spareLanes[last]
		p.spareLanes = p.spareLanes[:last]
		return l
	}
	l := new(padLane)
	l.room = func() bool { return p.callUp(l) }
	return l
}

// leaveLaneLocked lets go of the lane and the bytes of a launch that leaves the pad.
func (p *pad) leaveLaneLocked(w *waiting) {
	p.uncountLocked(w)
	if w.lane != nil {
		w.lane.refs--
		p.tidyLocked(w.lane)
	}
}

// tidyLocked forgets a lane that is not in use.
func (p *pad) tidyLocked(l *padLane) {
	if l.refs == 0 && l.reading == 0 && !l.asked && p.lanes[l.key] == l {
		delete(p.lanes, l.key)
		if len(p.spareLanes) < spareLanesMax && cap(l.queue) <= nearSpareHeapMax {
			p.spareLanes = append(p.spareLanes, l)
		}
	}
}

// spareLanesMax bounds the lanes that are kept for the next targets, so that an even load allocates nothing.
const spareLanesMax = 64

// boardLocked tells whether a launch that has its turn may go to the sender now: it has a place, and its
// delivery. Else it waits in its lane for a place, or is made ready and comes again.
func (p *pad) boardLocked(w *waiting) bool {
	l := w.lane
	switch {
	case w.failure != "":
		return true
	case w.placed:
		return w.delivery != nil
	case len(l.queue) > 0 || !p.reserveLocked(w):
		p.queueLocked(w)
		return false
	case w.delivery != nil && l.reading == 0:
		return true // what has come before it has left
	}
	p.placeLocked(w)
	return false
}

// reserveLocked takes a place for a launch, or asks for one.
func (p *pad) reserveLocked(w *waiting) bool {
	l := w.lane
	if l.asked {
		return false
	}
	if p.sender.Reserve(l.key, w.weight, l.room) {
		return true
	}
	l.asked, l.weight = true, w.weight
	return false
}

// queueLocked lets a launch wait for a place.
func (p *pad) queueLocked(w *waiting) {
	if w.queuedAt == 0 {
		w.queuedAt = p.clock().UnixNano()
	}
	p.unloadLocked(w)
	w.spot = atLane
	heap.Push(&w.lane.queue, w)
	p.queued++
}

// placeLocked has a launch made ready that has its place.
func (p *pad) placeLocked(w *waiting) {
	if w.queuedAt != 0 {
		w.place = max(0, time.Duration(p.clock().UnixNano()-w.queuedAt))
	}
	w.placed = true
	w.lane.reading++
	p.wantLocked(w)
}

// callUp takes a place that a lane has asked for, and tells whether there is a launch for it. Then it goes
// on: there may be more. While nothing may leave the lane takes none, and rests.
func (p *pad) callUp(l *padLane) bool {
	mayLeave := p.mayLeave()
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asked = false
	defer p.tidyLocked(l)
	if p.held || len(l.queue) == 0 {
		return false
	}
	if !mayLeave {
		p.resting = append(p.resting, l)
		p.wake()
		return false
	}
	takes := l.queue[0].weight == l.weight
	if takes {
		p.placeLocked(p.unqueueFirstLocked(l))
	}
	p.fillLocked(l)
	return takes
}

// fillLocked gives the first launches of a lane the places that there are, and asks for the next.
func (p *pad) fillLocked(l *padLane) {
	for len(l.queue) > 0 && p.reserveLocked(l.queue[0]) {
		p.placeLocked(p.unqueueFirstLocked(l))
	}
}

// unrestLocked lets the lanes go on that were called while nothing was allowed to leave.
func (p *pad) unrestLocked() {
	for _, l := range p.resting {
		p.fillLocked(l)
	}
	clear(p.resting)
	p.resting = p.resting[:0]
}

func (p *pad) unqueueFirstLocked(l *padLane) *waiting {
	w := heap.Pop(&l.queue).(*waiting)
	w.spot = atNone
	p.queued--
	return w
}

// tooLate is the failure of an attempt that has waited for its place until it may not begin any more.
const tooLate = "there was no place at the target before retry.max_age was over"

// isTooLate tells whether a launch has waited for its place for too long.
func (w *waiting) isTooLate(now job.Millis) bool {
	return w.place > 0 && w.Expires != 0 && now > w.Expires
}
