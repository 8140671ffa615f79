package scheduler

import (
	"errors"
	"hash"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/carillon-io/carillon/heap"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// world drives a real engine through virtual time, with its callers, targets, workers and faults, and reports to the
// model everything that can be seen from outside. It does on one goroutine what the loop, the feeders and the tick do
// on theirs, and jumps from one event to the next.
type world struct {
	Boundless
	t     testing.TB
	plan  *simPlan
	rng   *rand.Rand
	leads *rand.Rand // draws leads only
	model *model
	hash  hash.Hash64 // of all commits and launches

	opts       Options
	engine     *Engine
	gather     gathering
	pad        *pad.Manual // its feeder may be slower than the tick
	replanning *simReplan  // nil: nothing is left to follow
	inbox      []*ticket   // not yet in a step
	calls      calls

	store *memStore
	tail  []byte // the last commit, if it is durable and the process died before its effects came out
	fate  int    // commits until the process dies; negative: it does not
	lose  bool   // the commit at which it dies

	passed, offset int64 // real milliseconds; what the wall clock adds to them
	stepAt         int64 // wall clock of the step going on
	commits        int   // of it so far
	events         heap.Heap[*event]
	eventSeq       uint64
	end            int64

	alive        bool
	life         int
	last         *core.Inspection // of the life before, if the store has all that it knew
	targets      map[string]*target
	flights      map[job.RunID]*attempt
	landing      []*attempt
	errors       int
	keys, actors int // of triggers and of callers, made up so far
	names        []string
	standby      simStandby
	ids          simIDs
	quotas       simQuotas
	releases     simReleases
	telling      bool
	low          []byte // where the next notices are
}

// errDied is what a process gets to see of its death.
var errDied = errors.New("the process died")

func newWorld(t testing.TB, p *simPlan) *world {
	w := &world{
		t: t, plan: p, rng: rand.New(rand.NewPCG(p.seed, 7)), leads: rand.New(rand.NewPCG(p.seed, 15)), store: newMemStore(), hash: fnv.New64a(),
		standby: simStandby{rng: rand.New(rand.NewPCG(p.seed, 9))},
		passed:  p.start.UnixMilli(), targets: make(map[string]*target), flights: make(map[job.RunID]*attempt), fate: -1,
	}
	w.end = w.passed + p.span.Milliseconds()
	w.model = newModel(p.modelSettings(), newModelClocks(p.start.Add(-48*time.Hour), p.start.Add(p.span+p.margin())))
	w.opts = Options{
		Log: w, Store: simStore{w.store, &w.releases}, Sender: w, Clock: w, Settings: p.settings, LiveMax: p.liveMax, RowsMax: w.rowsMax,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Quotas: w.quotasNow,
	}
	if p.settings.DeadLetters {
		w.opts.Announcer = w
	}
	var b job.Batch
	w.number(&b)
	w.beginReleases()
	if err := w.store.Apply(job.Position{}, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return w
}

// Now implements Clock.
func (w *world) Now() time.Time { return time.UnixMilli(w.wall()).UTC() }

func (w *world) wall() int64 { return w.passed + w.offset }

// run lets the world go on until its end, or until the model finds something wrong.
func (w *world) run() {
	w.begin()
	w.open()
	for w.model.broken == "" {
		w.settle()
		at := w.nextAt()
		if at > w.end {
			break
		}
		if w.passed = max(w.passed, at); w.chance(2) {
			w.settle()
		}
		for len(w.events) > 0 && w.events[0].at <= w.passed && w.model.broken == "" {
			w.events.Pop().run()
		}
	}
	w.finish()
}

// nextAt returns when something happens next.
func (w *world) nextAt() int64 {
	next := w.end + 1
	if len(w.events) > 0 {
		next = w.events[0].at
	}
	if !w.alive {
		return next
	}
	for _, at := range []instant.Millis{w.gather.wakeAt, w.engine.pad.NextDue(), w.engine.pad.NextLater()} {
		if at != 0 {
			next = min(next, int64(at)-w.offset)
		}
	}
	return next
}

// settle lets the engine come to rest.
func (w *world) settle() {
	for n := 0; w.alive && w.model.broken == ""; n++ {
		if !w.turn() {
			return
		}
		if n == 100_000 {
			w.model.fail("rest", nil, "the engine does not come to rest")
		}
	}
}

// turn lets every part of the engine do what it has to do, once, and reports whether there was something.
func (w *world) turn() bool {
	moved := w.doHousekeeping()
	moved = w.feed() || moved
	moved = w.tick() || moved
	moved = w.land() || moved
	if w.mustStep() {
		w.step()
		moved = true
	}
	return moved
}

func (w *world) feed() bool {
	n := w.pad.Take(instant.Of(w.Now()))
	if n == 0 {
		return false
	}
	w.pad.Read(w.rng.IntN(n + 1))
	return true
}

func (w *world) tick() bool {
	before := w.model.counts.launches
	_, more := w.pad.Launch(instant.Of(w.Now()))
	return more || w.model.counts.launches > before || w.pad.Wants()
}

// mustStep reports whether the loop would make a step.
func (w *world) mustStep() bool {
	w.collect()
	outcomes := w.engine.outcomes.some()
	due := w.gather.wakeAt != 0 && int64(w.gather.wakeAt) <= w.wall()
	return outcomes || due || len(w.inbox) > 0 || w.gather.isWaiting()
}

// collect reads proposals from the channel, so that no caller blocks on it.
func (w *world) collect() {
	for {
		select {
		case t := <-w.engine.proposals:
			w.inbox = append(w.inbox, t)
		default:
			return
		}
	}
}

// step makes one step as the loop does.
func (w *world) step() {
	g := &w.gather
	g.reset()
	for len(w.inbox) > 0 && g.unfinished == nil {
		t := w.inbox[0]
		w.inbox = w.inbox[1:]
		g.add(t)
	}
	w.stepAt, w.commits = w.wall(), 0
	w.model.step(w.stepAt)
	w.model.quotas.counting = w.engine.core.IsCounting()
	w.model.attend(w.stepAt)
	if err := w.engine.stepOnce(g); err != nil {
		w.die()
	}
	if n := w.engine.core.Reading().Misjudged; n > 0 {
		w.model.fail("log", nil, "%d units were larger than they said", n)
	}
}

// doHousekeeping does what a goroutine beside the loop does. A select would choose at random.
func (w *world) doHousekeeping() bool {
	e := w.engine
	var err error
	switch {
	case len(e.housekeeping.reaps) > 0:
		_, err = e.proposeReaps(w.t.Context(), e.housekeeping.moreReaps(<-e.housekeeping.reaps))
	case len(e.housekeeping.pauses.ready) > 0:
		<-e.housekeeping.pauses.ready
		if p, ok := e.housekeeping.pauses.next(); ok {
			err = e.autoPause(w.t.Context(), p)
		}
	case w.replanning.hasEnded() || w.replanning == nil && len(e.housekeeping.replan) > 0:
		err = w.replanNext()
	case len(e.housekeeping.notices) > 0:
		<-e.housekeeping.notices
		w.tellSoon()
	default:
		return false
	}
	if err != nil {
		w.model.fail("chores", nil, "%v", err)
	}
	return true
}

// simReplan is the piece of a change of schedules that is under way.
type simReplan struct {
	piece core.Replan
	*ticket
}

func (r *simReplan) hasEnded() bool {
	if r == nil {
		return false
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// replanNext asks for the next piece, as replanAll does.
func (w *world) replanNext() error {
	from := uint32(1)
	if w.replanning == nil {
		<-w.engine.housekeeping.replan
	} else if from = w.replanning.piece.Next; from == 0 {
		w.replanning = nil
		return nil
	}
	w.replanning = &simReplan{piece: core.Replan{From: from}}
	w.replanning.ticket = newTicket(&w.replanning.piece)
	return w.engine.enqueue(w.t.Context(), w.replanning.ticket)
}

func (w *world) chance(n int) bool { return w.rng.IntN(n) == 0 }

// between returns a random length, mostly short ones.
func (w *world) between(low, high int64) int64 {
	return low + int64(float64(high-low)*w.rng.Float64()*w.rng.Float64())
}

// event is something that happens at a time.
type event struct {
	at    int64
	seq   uint64
	run   func()
	lands bool // a target answers
}

// after lets something happen after so many milliseconds.
func (w *world) after(millis int64, run func()) *event {
	w.eventSeq++
	e := &event{at: w.passed + millis, seq: w.eventSeq, run: run}
	w.events.Push(e)
	return e
}

// Before orders events by time and arrival.
func (e *event) Before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// SetIndex implements heap.Item.
func (e *event) SetIndex(int) {}
