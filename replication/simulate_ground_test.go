package replication

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/carillon-io/carillon/heap"
)

// ground is what all shards of a simulation share: the time, the machines, and the ways between them. Only one goroutine runs
// at a time, in an order that the seed decides.
type ground struct {
	plan   plan
	rng    *rand.Rand
	now    time.Duration
	events heap.Heap[event]
	nth    uint64 // number of events; events of one instant happen in the order in which they were planned
	task   *task  // the task that runs now

	worlds   []*world
	machines []*machine
	links    map[[2]int]wayState      // connections from one machine to another that are not open
	stalls   map[[2]int]time.Duration // until when the beats from one machine wait on their way to another
	islands  int                      // number of splits so far
	bucket   simBucket
	keys     *simKeys // of a cluster with several shards

	broken string          // what does not hold that must; "" as long as all does
	waived map[string]bool // checks of what is not promised in this story
	healed bool            // no further faults occur
	counts map[string]int
	hash   hash.Hash64
}

func newGround(p plan) *ground {
	return &ground{plan: p, rng: rand.New(rand.NewPCG(p.seed, 0)), counts: make(map[string]int), links: make(map[[2]int]wayState), stalls: make(map[[2]int]time.Duration), hash: fnv.New64a(), now: time.Second}
}

// event is an action planned for an instant.
type event struct {
	at  time.Duration
	nth uint64
	do  func()
}

// Before orders events by instant, and then as they were planned.
func (e event) Before(o event) bool { return e.at < o.at || e.at == o.at && e.nth < o.nth }

// SetIndex implements heap.Item.
func (e event) SetIndex(int) {}

// until lets events happen up to an instant, or until a condition holds.
func (g *ground) until(end time.Duration, done func() bool) bool {
	for g.broken == "" && len(g.events) > 0 && g.events[0].at <= end {
		e := g.events.Pop()
		g.now = max(g.now, e.at)
		e.do()
		if done() {
			return true
		}
	}
	return g.broken != ""
}

func (g *ground) at(t time.Duration, do func()) {
	g.nth++
	g.events.Push(event{max(t, g.now), g.nth, do})
}

func (g *ground) after(d time.Duration, do func()) { g.at(g.now+d, do) }

// saw adds an event to the story and counts it.
func (g *ground) saw(what string, values ...uint64) {
	g.counts[what]++
	g.note(what, values...)
}

// note adds a line to the story.
func (g *ground) note(what string, values ...uint64) {
	var b [8]byte
	g.hash.Write([]byte(what))
	for _, v := range append(values, uint64(g.now)) {
		binary.LittleEndian.PutUint64(b[:], v)
		g.hash.Write(b[:])
	}
	if g.plan.loud {
		fmt.Printf("%12s %s %v\n", g.now, what, values)
	}
}

// fail notes what does not hold that must, unless something else did not before.
func (g *ground) fail(check, format string, args ...any) {
	if g.waived[check] {
		return
	}
	if g.broken == "" {
		g.broken = fmt.Sprintf("%s: at %s: %s", check, g.now, fmt.Sprintf(format, args...))
	}
}

func (g *ground) between(low, high time.Duration) time.Duration {
	return low + time.Duration(g.rng.Int64N(int64(high-low)+1))
}

// chance reports whether a fault of a given probability happens. After the last fault none does.
func (g *ground) chance(p float64) bool { return p > 0 && g.rng.Float64() < p && !g.healed }

// task is a thread of a process. It yields whenever it waits.
type task struct {
	machine *machine
	life    *int // that of what it belongs to: once it is not born any more, the task has ended
	born    int
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	over    bool
}

func (t *task) lives() bool { return *t.life == t.born }

// killed unwinds a task whose process has died.
type killed struct{}

// spawn starts a thread on a machine, of what has a life there.
func (g *ground) spawn(m *machine, life *int, run func()) *task {
	t := &task{machine: m, life: life, born: *life}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != any(killed{}) {
				panic(r)
			}
		}()
		t.yield = yield
		run()
	})
	g.after(0, func() { g.resume(t) })
	return t
}

// resume continues a task, if its process lives, as soon as it is not paused.
func (g *ground) resume(t *task) {
	switch {
	case t.over || !t.lives():
		return
	case t.machine.still():
		t.machine.awake(func() { g.resume(t) })
		return
	}
	before := g.task
	g.task = t
	if _, more := t.next(); !more {
		t.over = true
	}
	g.task = before
	for _, w := range g.worlds {
		w.check.trust()
	}
}

// sleep suspends the running task for a time.
func (g *ground) sleep(d time.Duration) {
	t := g.task
	g.after(d, func() { g.resume(t) })
	g.give(t)
}

// give waits until the task is resumed.
func (g *ground) give(t *task) {
	if !t.yield(struct{}{}) {
		panic(killed{})
	}
	g.task = t
}

// call is a request for whose answer a task waits.
type call struct {
	done bool
	err  error
}

// request sends a message from a machine to a server: serve is called there when the message arrives, at once,
// late or never; its answer may be lost. It returns errNoAnswer when no answer came in time.
func (g *ground) request(m *machine, f faults, serve func() error) error {
	c, t := &call{}, g.task
	finish := func(err error) {
		if !c.done {
			c.done, c.err = true, err
			g.resume(t)
		}
	}
	g.after(callTimeout, func() { finish(errNoAnswer) })
	switch {
	case !m.linked || g.chance(f.requestLost):
		g.counts["request lost"]++
	default:
		g.after(g.way(f), func() { g.arrive(m, t, f, serve, finish) })
	}
	g.give(t)
	return c.err
}

func (g *ground) arrive(m *machine, t *task, f faults, serve func() error, finish func(error)) {
	err := serve()
	if err == errNoAnswer || !m.linked || !t.lives() || g.chance(f.answerLost) {
		g.counts["answer lost"]++
		return
	}
	g.after(g.between(100*time.Microsecond, 2*time.Millisecond), func() { finish(err) })
}

// way returns how long a request takes.
func (g *ground) way(f faults) time.Duration {
	if g.chance(f.requestLate) {
		g.counts["request late"]++
		return g.between(10*time.Millisecond, g.plan.latest)
	}
	return g.plan.far + g.between(100*time.Microsecond, 2*time.Millisecond)
}
