package dispatch

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// laneKey names a target: a subject, the origin of a URL or a handler.
type laneKey struct {
	kind job.TargetKind
	name string
}

func laneKeyOf(t job.Target) laneKey { return laneKey{t.Kind, targetName(t)} }

// lane is one target with its attempts. It exists only while it has some.
type lane struct {
	key      laneKey
	limit    int
	inFlight int
	waiting  fair.FIFO[*attempt]
	gone     int  // of the waiting ones, that have ended meanwhile
	ready    bool // it is in the ready list of its kind
}

// kindLoad is what all lanes of a kind share.
type kindLoad struct {
	inFlight int
	ready    fair.FIFO[*lane] // lanes with an attempt that their own limit would let go
}

// lanes decides whose turn it is. It is a plain value: it starts nothing and belongs to one goroutine.
//
// Invariant: a lane with waiting attempts and room under its limit is in the ready list, once.
type lanes struct {
	byKey map[laneKey]*lane
	most  int // that byKey ever held; a map does not shrink
	kinds [job.TargetHandler + 1]kindLoad

	perTarget    int
	streamWindow int
	inFlightMax  int
	queueMax     int
}

func newLanes(o Options) *lanes {
	return &lanes{
		byKey:        make(map[laneKey]*lane),
		perTarget:    o.ConcurrencyPerTarget,
		streamWindow: o.StreamWindow,
		inFlightMax:  o.InFlightMax,
		queueMax:     o.QueuePerTarget,
	}
}

// offer lines the attempt up at its target. It returns false if that queue is full.
func (s *lanes) offer(a *attempt) bool {
	key := laneKeyOf(a.delivery.Target)
	l := s.byKey[key]
	if l == nil {
		l = &lane{key: key, limit: s.perTarget}
		if key.kind == job.TargetJetStream {
			l.limit = s.streamWindow
		}
		s.byKey[key] = l
		s.most = max(s.most, len(s.byKey))
	}
	if l.waiting.Len()-l.gone >= s.queueMax {
		return false
	}
	a.lane = l
	l.waiting.Push(a)
	s.queueUp(l)
	return true
}

// next returns the attempt whose turn it is, now in flight, or nil.
func (s *lanes) next(kind job.TargetKind) *attempt {
	k := &s.kinds[kind]
	for k.inFlight < s.inFlightMax && k.ready.Len() > 0 {
		l := k.ready.Pop()
		l.ready = false
		l.dropGone()
		if l.waiting.Len() == 0 {
			s.forget(l)
			continue
		}
		a := l.waiting.Pop()
		a.started = true
		l.inFlight++
		k.inFlight++
		s.queueUp(l)
		return a
	}
	return nil
}

// release takes the attempt, whose outcome is told, out of its lane.
func (s *lanes) release(a *attempt) {
	l := a.lane
	if l == nil {
		return // its queue was full
	}
	if a.started {
		l.inFlight--
		s.kinds[l.key.kind].inFlight--
	} else {
		a.gone = true
		l.gone++
		l.dropGone()
	}
	s.queueUp(l)
	s.forget(l)
}

// dropGone removes attempts that ended while they waited: those at the front, because attempts expire
// in order, and all of them once they are more than those that still wait, because any may be cancelled.
func (l *lane) dropGone() {
	for l.waiting.Len() > 0 && l.waiting.Front().gone {
		l.waiting.Pop()
		l.gone--
	}
	if l.gone <= l.waiting.Len()/2 {
		return
	}
	for range l.waiting.Len() {
		if a := l.waiting.Pop(); !a.gone {
			l.waiting.Push(a)
		}
	}
	l.gone = 0
}

func (s *lanes) queueUp(l *lane) {
	if !l.ready && l.inFlight < l.limit && l.waiting.Len() > 0 {
		l.ready = true
		s.kinds[l.key.kind].ready.Push(l)
	}
}

// forget removes a lane that nothing refers to any more.
func (s *lanes) forget(l *lane) {
	if l.inFlight == 0 && l.waiting.Len() == 0 && !l.ready {
		delete(s.byKey, l.key)
	}
	if len(s.byKey) == 0 && s.most > spareMax {
		s.byKey, s.most = make(map[laneKey]*lane), 0
	}
}
