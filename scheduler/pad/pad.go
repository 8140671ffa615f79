package pad

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Pad holds committed launches until they leave. The engine adds them, the feeders read their cold rows ahead of time,
// and the tick thread passes them to the sender. For jobs that limit their concurrent runs it also knows which runs
// have their turn. Safe for concurrent use.
//
// Invariant: a launch is in exactly one spot. It is later (not to be prepared yet), soon (waiting for its due time),
// parked (waiting for its turn), seeking (due, and waiting for its cold row, which names its lane), in a lane
// (waiting for a place at its target), placed (its row is being read, or it waits for sending), or with the sender.
//
// Invariant: the launches of a job leave in the order in which they were due. None passes another that waits for its
// cold row; those with a place go through one feeder for each job; and sending is locked from an admission to
// Sender.Launch.
//
// Invariant: no launch leaves while trust is over. Each caller of the sender checks it first, without holding mu,
// because trust may be slow.
type Pad struct {
	sender Sender
	rows   Rows
	report func(o job.Outcome, mayWait bool)
	wake   func(due instant.Millis) // tells the tick that a launch is due earlier than it knows
	ticks  *Ticks
	seat   *seat // at a tick; nil before Arm
	trust  func() time.Duration
	clock  func() time.Time

	// sending is locked while launches go to the sender; it is locked before mu.
	sending sync.Mutex

	mu         sync.Mutex
	order      uint64
	later      launchHeap // were due beyond the horizon when they came
	soon       soonLaunches
	feeds      []*feed
	ahead      int64                 // bytes of the deliveries that wait
	lanes      map[job.Lane]*lane    // of the launches on the pad
	spareLanes []*lane               // unused, for the next targets
	facts      map[job.ID]laneFact   // of jobs that have not changed since
	templates  templates             // of jobs with several launches
	seekers    map[job.ID]launchHeap // wait for their cold rows, which name their lanes
	queued     int                   // launches in lanes
	byJob      map[job.ID]*waiting   // the newest
	turns      map[job.ID]running
	parked     map[job.ID][]*waiting
	flying     map[job.RunID]inFlight // with the sender
	sent       int                    // how many of these NATS answers
	count      int                    // of launches on the pad
	again      int                    // how many of count are not the first attempt of their run

	departures
	stalled []job.ID // jobs whose turn became free, with launches that the tick or a feeder is to send
	resting []*lane  // lanes that got a place while nothing was allowed to leave

	held   bool          // nothing may leave, because of Hold
	gate   job.Gate      // of what has left the pad and waits with the sender
	landed chan struct{} // signalled when no attempt is with the sender
}

// inFlight is an attempt that is with the sender.
type inFlight struct {
	attempt uint32
	since   instant.Millis
	place   time.Duration  // how long it waited for its place
	parked  instant.Millis // as in Launch
	turnAt  int64          // as in waiting
	ends    Endings        // as in Launch; 0: its outcome does not free the turn of its run
	isFree  bool           // its run needs no turn
	isSent  bool           // NATS answers it, and not its target
}

// New returns an empty pad. Its owner calls either Arm and Serve, or DriveManually.
func New(opts Options) *Pad {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Ticks == nil {
		opts.Ticks = NewTicks(1)
	}
	return &Pad{
		templates: templates{most: cmp.Or(opts.TemplateBytes, templateBytesDefault)},

		sender: opts.Sender, rows: opts.Rows, report: opts.Report, wake: func(instant.Millis) {}, ticks: opts.Ticks, trust: opts.Trust, clock: opts.Now,
		gate: job.Gate{Trust: opts.Trust},
		soon: newSoonLaunches(), feeds: newFeeds(1), lanes: make(map[job.Lane]*lane), facts: make(map[job.ID]laneFact),
		seekers: make(map[job.ID]launchHeap),
		landed:  make(chan struct{}, 1),
		byJob:   make(map[job.ID]*waiting),
		turns:   make(map[job.ID]running),
		parked:  make(map[job.ID][]*waiting),
		flying:  make(map[job.RunID]inFlight),
	}
}

// Add puts committed launches on the pad, as of an instant. The pad keeps no reference to the slice.
func (p *Pad) Add(launches []Launch, now instant.Millis) {
	if len(launches) == 0 {
		return
	}
	p.mu.Lock()
	first, later := p.nextDueLocked(), p.nextLaterLocked()
	for _, l := range launches {
		if p.order++; l.order == 0 {
			l.order = p.order
		}
		w := &waiting{Launch: l, index: -1}
		p.keepLocked(w)
		switch l.Mode {
		case ModeHeld:
			p.occupyLocked(l.Run)
			p.hangOnLocked(l.Run) // an earlier attempt may still be in flight
		case ModeFree: // the run may have had a turn before an update removed the limit
			p.vacateLocked(l.Run)
		}
		if l.Due > now+horizon {
			w.spot = atLater
			p.later.Push(w)
			continue
		}
		p.soonLocked(w)
	}
	next := p.nextDueLocked()
	if p.nextLaterLocked() != later {
		signal(p.feeds[0].wake)
	}
	p.mu.Unlock()
	if next != first {
		p.wake(next)
	}
}

// soonLocked makes a launch wait for its due time. Its feeder reads its row meanwhile, unless the row was read for another
// launch of its job.
func (p *Pad) soonLocked(w *waiting) {
	p.soon.push(w)
	if p.ahead < aheadBytesMax && !p.isInLineLocked(w) {
		if d := p.templates.delivery(w.Launch); d != nil {
			p.attachLocked(w, d)
			return
		}
	}
	f := p.feedOf(w)
	f.unread.Push(w.Tenant, w)
	signal(f.wake)
}

// NextDue returns when the next launch is due; 0 if none waits or the pad is held, [instant.LongAgo] if something can be
// done at once.
func (p *Pad) NextDue() instant.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nextDueLocked()
}

func (p *Pad) nextDueLocked() instant.Millis {
	switch {
	case p.held:
		return 0
	case len(p.resting) > 0 || p.isDepartingLocked():
		return instant.LongAgo
	}
	return p.soon.nextDue()
}

// launchDue passes due launches to the sender, at most departuresMax, and reports whether more are due. No launch
// leaves before its time: now is the wall clock, rounded down to the millisecond.
func (p *Pad) launchDue(now instant.Millis, ready []*waiting) (more bool, _ []*waiting) {
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
	for n := len(ready); n < departuresMax; n++ {
		w := p.soon.popDue(now)
		if w == nil {
			break
		}
		if !p.seeksLocked(w) && p.admitLocked(w, now) {
			ready = append(ready, w)
		}
	}
	more = p.isDepartingLocked() || p.soon.isDue(now)
	p.mu.Unlock()
	p.sendAll(ready)
	return more, ready
}

// mayLeave reports whether launches may go to the sender now. A due launch that may not leave waits on the pad.
func (p *Pad) mayLeave() bool { return p.trust == nil || p.trust() > 0 }

// keepLocked records a launch as the newest of its job.
func (p *Pad) keepLocked(w *waiting) {
	p.count++
	if w.Attempt > 1 {
		p.again++
	}
	if w.older = p.byJob[w.Run.Job]; w.older != nil {
		w.older.newer = w
	}
	p.byJob[w.Run.Job] = w
}

// dropLocked removes the records of a launch that leaves the pad.
func (p *Pad) dropLocked(w *waiting) {
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
		p.templates.forget(w.Run.Job)
	}
	w.older, w.newer = nil, nil
}

// done handles the outcome of an attempt that was with the sender. At any time either the attempt is with the sender
// or its outcome has been reported, so that a caller that waits by Flying misses none.
func (p *Pad) done(o job.Outcome) {
	p.mu.Lock()
	mayWait := false
	if f := p.flying[o.Run]; f.attempt == o.Attempt { // otherwise a newer attempt has left meanwhile
		o.Place = f.place
		p.landLocked(o.Run)
		f.noteTurn(&o)
		ends := f.ends.ends(&o)
		if ends {
			p.passOnLocked(o.Run)
		}
		mayWait = o.Error == "" && (f.isFree || ends)
	}
	last := len(p.flying) == 0
	p.report(o, mayWait)
	p.mu.Unlock()
	if last {
		signal(p.landed)
	}
}

// isEarlyLocked reports whether a launch that was due no longer is, because the clock was set back. Such a launch
// waits for its time again.
func (p *Pad) isEarlyLocked(w *waiting, now instant.Millis) bool {
	if w.Due <= now {
		return false
	}
	p.soon.push(w)
	p.wake(w.Due)
	return true
}

// Take removes the launches of a job that have not left, and returns them in the order of their arrival. None of them
// leaves afterwards. If they are added again, they keep their order. The loop calls it before a step that changes the
// job, so that the step alone decides what becomes of them.
func (p *Pad) Take(id job.ID) []Launch {
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
	p.templates.forget(id)
	for i, j := 0, len(taken)-1; i < j; i, j = i+1, j-1 {
		taken[i], taken[j] = taken[j], taken[i] // oldest first
	}
	return taken
}

// unqueueLocked removes a launch from the heap of its spot.
func (p *Pad) unqueueLocked(w *waiting) {
	switch w.spot {
	case atLater:
		p.later.Remove(w.index)
	case atSoon:
		p.soon.remove(w)
	case atLane:
		w.lane.queue.Remove(w.index)
		p.queued--
	case atSeek:
		p.unseekLocked(w)
	}
	w.spot = atNone
}

// FlyingSince returns when the attempt of a run that is with the sender was launched; ok is false if none is.
func (p *Pad) FlyingSince(run job.RunID) (at instant.Millis, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.flying[run]
	return f.since, ok
}
