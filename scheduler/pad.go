package scheduler

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// pad is where committed launches wait for their time. The loop puts them on, the feeder reads their
// cold rows ahead of the time, the tick thread takes them off and hands them to the sender. It knows
// which run has the turn of a job that lets only one go at a time. Safe for concurrent use.
//
// Invariant: a launch is in exactly one spot: far, near (waiting for its time), parked (waiting for
// its turn), seeking (due, and waiting for its cold row before it gets in line), in a lane (waiting for a place at its
// target), placed (its row is being read, or it waits for leave to go), or with the sender.
//
// Invariant: the launches of a job leave in the order in which they were due: none passes another that waits for its
// cold row, what has its place goes through one feeder for each job, and sending is held from an admission to the
// Launch.
//
// Nothing leaves while trust is over. Whoever sends asks for it first, outside of the lock.
type pad struct {
	horizon job.Millis // how far ahead of its time a launch is made ready
	sender  Sender
	report  func(job.Outcome) // takes outcomes; never blocks
	wake    func()            // rouses the tick thread: something earlier is due
	trust   func() time.Duration
	clock   func() time.Time

	sending sync.Mutex // held while launches go to the sender; locked before mu

	mu         sync.Mutex
	order      uint64
	far        launchHeap // due beyond the horizon when they came
	near       nearLaunches
	feeds      []*feed
	ahead      int64                 // bytes of deliveries that wait
	lanes      map[job.Lane]*padLane // that launches on the pad are of
	spareLanes []*padLane            // not in use
	facts      map[job.ID]laneFact   // of jobs that have not changed since
	seekers    map[job.ID]launchHeap // wait for their cold rows before they get in line
	queued     int                   // launches in lanes
	byJob      map[job.ID]*waiting   // the newest
	turns      map[job.ID]crew
	parked     map[job.ID][]*waiting
	flying     map[job.RunID]inFlight // with the sender
	count      int                    // of launches on the pad
	again      int                    // of these, how many are not the first attempt of their run

	departures
	stalled []job.ID   // whose turn became free while nothing was allowed to leave
	resting []*padLane // that got a place then

	held   bool          // nothing leaves any more
	landed chan struct{} // roused when no attempt is with the sender
}

// inFlight is an attempt that is with the sender.
type inFlight struct {
	attempt uint32
	since   job.Millis
	place   time.Duration // that it waited for its place
	parked  job.Millis    // as in Launch
	turnAt  int64         // as in waiting
}

func newPad(horizon job.Millis, sender Sender, report func(job.Outcome)) *pad {
	return &pad{
		horizon: horizon, sender: sender, report: report, wake: func() {},
		clock: time.Now, near: newNearLaunches(), feeds: newFeeds(1), lanes: make(map[job.Lane]*padLane), facts: make(map[job.ID]laneFact),
		seekers: make(map[job.ID]launchHeap),
		landed:  make(chan struct{}, 1),
		byJob:   make(map[job.ID]*waiting),
		turns:   make(map[job.ID]crew),
		parked:  make(map[job.ID][]*waiting),
		flying:  make(map[job.RunID]inFlight),
	}
}

// add puts committed launches on the pad.
func (p *pad) add(launches []Launch, now job.Millis) {
	if len(launches) == 0 {
		return
	}
	p.mu.Lock()
	first := p.nextDueLocked()
	for _, l := range launches {
		if p.order++; l.order == 0 {
			l.order = p.order
		}
		w := &waiting{Launch: l, index: -1}
		p.keepLocked(w)
		switch l.Mode {
		case ModeHeld:
			p.occupyLocked(l.Run)
		case ModeFree: // it may have had a turn before an update took the limit away
			p.vacateLocked(l.Run)
		}
		if l.Due > now+p.horizon {
			w.spot = atFar
			heap.Push(&p.far, w)
			continue
		}
		p.nearLocked(w)
	}
	sooner := p.nextDueLocked() != first
	p.rouseLocked()
	p.mu.Unlock()
	if sooner {
		p.wake()
	}
}

func (p *pad) nearLocked(w *waiting) {
	p.near.push(w)
	p.feedOf(w).unread.Push(w.Tenant, w)
}

// nextDue returns when the next launch is due, 0 if none waits.
func (p *pad) nextDue() job.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nextDueLocked()
}

func (p *pad) nextDueLocked() job.Millis {
	switch {
	case p.held:
		return 0
	case len(p.stalled) > 0 || len(p.resting) > 0 || p.isDepartingLocked():
		return 1 // long ago
	}
	return p.near.nextDue()
}

// launchDue hands launches that are due to the sender, at most a bounded number, and tells whether
// more are due. No launch leaves before its time: now is the wall clock, cut down to the millisecond.
func (p *pad) launchDue(now job.Millis, ready []*waiting) (more bool, _ []*waiting) {
	if !p.mayLeave() {
		return false, ready
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	if p.held {
		p.mu.Unlock()
		return false, ready
	}
	p.unrestLocked()
	ready = p.departLocked(now, ready)
	ready = p.unstallLocked(now, departuresMax, ready)
	for n := len(ready); n < departuresMax; n++ {
		w := p.near.popDue(now)
		if w == nil {
			break
		}
		if !p.seeksLocked(w) && p.admitLocked(w, now) {
			ready = append(ready, w)
		}
	}
	more = len(p.stalled) > 0 || p.isDepartingLocked() || p.near.isDue(now)
	p.mu.Unlock()
	p.sendAll(ready)
	return more, ready
}

// mayLeave tells whether launches may go to the sender now. What is due and may not waits on the pad.
func (p *pad) mayLeave() bool { return p.trust == nil || p.trust() > 0 }

// keepLocked makes a launch the newest of its job.
func (p *pad) keepLocked(w *waiting) {
	p.count++
	if w.Attempt > 1 {
		p.again++
	}
	if w.older = p.byJob[w.Run.Job]; w.older != nil {
		w.older.newer = w
	}
	p.byJob[w.Run.Job] = w
}

// dropLocked forgets a launch that leaves the pad.
func (p *pad) dropLocked(w *waiting) {
	p.discountLocked(w)
	p.leaveLaneLocked(w)
	if w.older != nil {
		w.older.newer = w.newer
	}
	switch {
	case w.newer != nil:
		w.newer.older = w.older
	case w.older != nil:
		p.byJob[w.Run.Job] = w.older
	default:
		delete(p.byJob, w.Run.Job)
	}
	w.older, w.newer = nil, nil
}

// done takes in the outcome of an attempt that was with the sender. At any time the attempt is with the sender or its
// outcome is reported.
func (p *pad) done(o job.Outcome) {
	p.mu.Lock()
	if f := p.flying[o.Run]; f.attempt == o.Attempt { // or a newer attempt has left meanwhile
		o.Place = f.place
		delete(p.flying, o.Run)
		f.noteTurn(&o)
	}
	last := len(p.flying) == 0
	p.report(o)
	p.mu.Unlock()
	if last {
		signal(p.landed)
	}
}

// isEarlyLocked tells whether a launch that was due is not any more, because the clock was set back, and
// lets it wait for its time again.
func (p *pad) isEarlyLocked(w *waiting, now job.Millis) bool {
	if w.Due <= now {
		return false
	}
	p.near.push(w)
	p.wake()
	return true
}

// take removes the launches of a job that have not left and returns them. Once taken, none leaves.
func (p *pad) take(id job.ID) []Launch {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []Launch
	for w := p.byJob[id]; w != nil; w = w.older {
		w.gone = true
		p.discountLocked(w)
		taken = append(taken, w.Launch)
		p.unqueueLocked(w)
		p.leaveLaneLocked(w)
	}
	delete(p.byJob, id)
	delete(p.parked, id)
	p.found = slices.DeleteFunc(p.found, func(of job.ID) bool { return of == id })
	delete(p.facts, id) // the job may be about to change
	for i, j := 0, len(taken)-1; i < j; i, j = i+1, j-1 {
		taken[i], taken[j] = taken[j], taken[i] // oldest first
	}
	return taken
}

// unqueueLocked takes a launch out of the heap of its spot.
func (p *pad) unqueueLocked(w *waiting) {
	switch w.spot {
	case atFar:
		heap.Remove(&p.far, w.index)
	case atNear:
		p.near.remove(w)
	case atLane:
		heap.Remove(&w.lane.queue, w.index)
		p.queued--
	case atSeek:
		p.unseekLocked(w)
	}
	w.spot = atNone
}

// flyingSince returns when the attempt of a run that is with the sender was launched.
func (p *pad) flyingSince(run job.RunID) (at job.Millis, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.flying[run]
	return f.since, ok
}

// signal rouses whoever reads from a channel of one place, without ever blocking.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
