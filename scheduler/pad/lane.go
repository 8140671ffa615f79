package pad

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// lane holds the launches that wait for a place at one target. A waiting launch is as small as any on the pad,
// because its cold row is read again when it has its place. A lane exists while launches on the pad belong to it, or
// while a place is asked for.
//
// Invariant: while launches wait in queue, a place is asked for, or the lane rests because nothing may leave.
type lane struct {
	key     job.Lane
	room    func() bool // called by the sender: there is a place
	queue   launchHeap  // by due time, and then by arrival
	asked   bool
	weight  int // of the launch for which a place is asked
	refs    int // launches on the pad that belong to it
	reading int // launches that have a place and whose delivery is being read
}

// laneFact is what the last cold row of a job says about the launches of that job. It is a shortcut: a launch without
// it waits for its own row. Take drops it, so it never outlives a change of the job.
type laneFact struct {
	key    job.Lane
	weight int // bytes of the payload
}

// factsMax bounds the jobs with a laneFact. Beyond it, all facts are dropped. All facts, not the oldest: a lost one
// costs a single read, so keeping an order of age is not worth its memory.
const factsMax = 64 << 10

// enterLaneLocked assigns its lane to a launch whose cold row is read.
func (p *Pad) enterLaneLocked(w *waiting) {
	if w.lane != nil {
		return
	}
	fact := laneFact{key: w.delivery.Lane(), weight: len(w.delivery.Payload)}
	if isShared := w.older != nil || w.newer != nil; isShared && !w.HasPayload { // otherwise no other launch would use the fact
		if len(p.facts) >= factsMax {
			clear(p.facts)
		}
		p.facts[w.Run.Job] = fact
	}
	p.joinLaneLocked(w, fact)
}

// enterKnownLocked assigns its lane to a launch without its cold row, if a row of its job was read since the job's
// last change. A herd of one job thus enters its lane without reading the payload of each run.
func (p *Pad) enterKnownLocked(w *waiting) bool {
	fact, known := p.facts[w.Run.Job]
	if known = known && !w.HasPayload; known {
		p.joinLaneLocked(w, fact)
	}
	return known
}

// isInLineLocked reports whether a launch will wait in its lane when it is due. Reading its cold row now would then
// be useless.
func (p *Pad) isInLineLocked(w *waiting) bool {
	fact, known := p.facts[w.Run.Job]
	l := p.lanes[fact.key]
	return known && !w.HasPayload && l != nil && len(l.queue) > 0
}

func (p *Pad) joinLaneLocked(w *waiting, fact laneFact) {
	l := p.lanes[fact.key]
	if l == nil {
		l = p.newLaneLocked()
		l.key = fact.key
		p.lanes[fact.key] = l
	}
	l.refs++
	w.lane, w.weight = l, fact.weight
}

// newLaneLocked returns an unused lane.
func (p *Pad) newLaneLocked() *lane {
	if last := len(p.spareLanes) - 1; last >= 0 {
		l := p.spareLanes[last]
		p.spareLanes = p.spareLanes[:last]
		return l
	}
	l := new(lane)
	l.room = func() bool { return p.callUp(l) }
	return l
}

// leaveLaneLocked releases the lane and the bytes of a launch that leaves the pad.
func (p *Pad) leaveLaneLocked(w *waiting) {
	p.uncountLocked(w)
	if w.lane != nil {
		w.lane.refs--
		p.tidyLocked(w.lane)
	}
}

// tidyLocked removes a lane that is no longer used.
func (p *Pad) tidyLocked(l *lane) {
	if l.refs == 0 && l.reading == 0 && !l.asked && p.lanes[l.key] == l {
		delete(p.lanes, l.key)
		if len(p.spareLanes) < spareLanesMax && cap(l.queue) <= nearSpareHeapMax {
			p.spareLanes = append(p.spareLanes, l)
		}
	}
}

// spareLanesMax bounds the unused lanes that are kept for the next targets, so that a steady load allocates nothing.
const spareLanesMax = 64

// boardLocked reports whether a launch that has its turn may go to the sender now: it has a place and its delivery.
// If not, it waits in its lane for a place, or its delivery is being read.
func (p *Pad) boardLocked(w *waiting) bool {
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
		return true // the launches before it have left
	}
	p.placeLocked(w)
	return false
}

// reserveLocked reserves a place for a launch, or asks for one. A lane asks for one place at a time, for its first
// launch. So a lane of a million launches is one waiting request at the sender, and a launch that is withdrawn leaves
// no trace there.
func (p *Pad) reserveLocked(w *waiting) bool {
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

// queueLocked makes a launch wait in its lane for a place. Its delivery is dropped, because the wait may be long and
// the lane too. Its turn, if it has one, is kept.
func (p *Pad) queueLocked(w *waiting) {
	if w.queuedAt == 0 {
		w.queuedAt = p.clock().UnixNano()
	}
	p.unloadLocked(w)
	w.spot = atLane
	w.lane.queue.Push(w)
	p.queued++
}

// placeLocked has the delivery read of a launch that has its place. The delivery goes through the feeder even if it is
// in memory, because launches before it in this lane may still be with their feeder.
func (p *Pad) placeLocked(w *waiting) {
	if w.queuedAt != 0 {
		w.place = max(0, time.Duration(p.clock().UnixNano()-w.queuedAt))
	}
	w.placed = true
	w.lane.reading++
	p.wantLocked(w)
}

// callUp uses a place that a lane asked for, and reports whether there is a launch for it. It then asks for the next
// place, if more launches wait. While nothing may leave, the lane uses no place and rests. The sender calls it from
// any goroutine, possibly from within Release. The place fits the payload for which it was asked. If another launch is
// first by then, with a payload of another size, the place is refused and a new one asked.
func (p *Pad) callUp(l *lane) bool {
	mayLeave := p.mayLeave()
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asked = false
	defer p.tidyLocked(l)
	if len(l.queue) == 0 {
		return false
	}
	if p.held || !mayLeave {
		p.resting = append(p.resting, l)
		p.wake(instant.LongAgo)
		return false
	}
	takes := l.queue[0].weight == l.weight
	if takes {
		p.placeLocked(p.unqueueFirstLocked(l))
	}
	p.fillLocked(l)
	return takes
}

// fillLocked gives the first launches of a lane the places that are free, and asks for the next one.
func (p *Pad) fillLocked(l *lane) {
	for len(l.queue) > 0 && p.reserveLocked(l.queue[0]) {
		p.placeLocked(p.unqueueFirstLocked(l))
	}
}

// unrestLocked resumes the lanes that were called while nothing was allowed to leave.
func (p *Pad) unrestLocked() {
	for _, l := range p.resting {
		p.fillLocked(l)
	}
	clear(p.resting)
	p.resting = p.resting[:0]
}

func (p *Pad) unqueueFirstLocked(l *lane) *waiting {
	w := l.queue.Pop()
	w.spot = atNone
	p.queued--
	return w
}

// tooLate is the error of an attempt that waited for a place until it may no longer begin.
const tooLate = "there was no place at the target before retry.max_age was over"

// isTooLate reports whether a launch has waited for its place for too long.
func (w *waiting) isTooLate(now instant.Millis) bool {
	return w.place > 0 && w.Expires != 0 && now > w.Expires
}
