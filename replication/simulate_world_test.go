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

// world is one simulation: a stream, a lease and some nodes in virtual time. Only one goroutine runs at a time,
// in an order that the seed decides.
type world struct {
	plan   plan
	rng    *rand.Rand
	now    time.Duration
	events heap.Heap[event]
	nth    uint64 // number of events; events of one instant happen in the order in which they were planned
	task   *task  // the task that runs now

	stream *simStream
	lease  *simRegister
	keys   *simKeys // of a cluster with several shards
	nodes  []*simNode
	links  map[[2]int]wayState // connections from one node to another that are not open
	check  checker

	healed bool // no further faults occur
	counts map[string]int
	hash   hash.Hash64
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

func newWorld(p plan) *world {
	w := &world{plan: p, rng: rand.New(rand.NewPCG(p.seed, 0)), counts: make(map[string]int), links: make(map[[2]int]wayState), hash: fnv.New64a(), now: time.Second}
	w.stream, w.lease, w.check = &simStream{world: w}, &simRegister{world: w}, newChecker(w)
	w.keys = &simKeys{simRegister: w.lease}
	for i := range p.nodes {
		w.nodes = append(w.nodes, newSimNode(w, i))
	}
	return w
}

// run lets the faults happen, then heals the world, and waits until all nodes are level with a leader.
func (w *world) run() {
	for _, n := range w.nodes {
		w.after(w.between(0, 500*time.Millisecond), n.start)
	}
	w.plan.begin(w)
	w.until(w.plan.length, func() bool { return false })
	w.heal()
	w.check.settled = w.now
	if !w.until(w.now+healTime, w.check.level) {
		w.check.fail("liveness", "%s after the last fault there is no leader that commits and whom all have reached: %s", healTime, w.describe())
	}
	w.check.finish()
	for _, n := range w.nodes {
		n.die()
	}
}

// healTime is how long after the last fault all nodes have to become level. It covers a lease, the remaining
// time-outs of an election, and a checkpoint.
const healTime = 90 * time.Second

// until lets events happen up to an instant, or until a condition holds.
func (w *world) until(end time.Duration, done func() bool) bool {
	for w.check.broken == "" && len(w.events) > 0 && w.events[0].at <= end {
		e := w.events.Pop()
		w.now = max(w.now, e.at)
		e.do()
		if done() {
			return true
		}
	}
	return w.check.broken != ""
}

func (w *world) at(t time.Duration, do func()) {
	w.nth++
	w.events.Push(event{max(t, w.now), w.nth, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now+d, do) }

// saw adds an event to the story and counts it.
func (w *world) saw(what string, values ...uint64) {
	w.counts[what]++
	w.note(what, values...)
}

// note adds a line to the story.
func (w *world) note(what string, values ...uint64) {
	var b [8]byte
	w.hash.Write([]byte(what))
	for _, v := range append(values, uint64(w.now)) {
		binary.LittleEndian.PutUint64(b[:], v)
		w.hash.Write(b[:])
	}
	if w.plan.loud {
		fmt.Printf("%12s %s %v\n", w.now, what, values)
	}
}

func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rng.Int64N(int64(high-low)+1))
}

// chance reports whether a fault of a given probability happens. After the last fault none does.
func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p && !w.healed }

// task is a thread of a node. It yields whenever it waits.
type task struct {
	node  *simNode
	life  int
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	over  bool
}

// killed unwinds a task whose process has died.
type killed struct{}

// spawn starts a thread of a node's process.
func (w *world) spawn(n *simNode, run func()) *task {
	t := &task{node: n, life: n.life}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != any(killed{}) {
				panic(r)
			}
		}()
		t.yield = yield
		run()
	})
	w.after(0, func() { w.resume(t) })
	return t
}

// resume continues a task, if its process lives, as soon as it is not paused.
func (w *world) resume(t *task) {
	n := t.node
	switch {
	case t.over || t.life != n.life:
		return
	case n.pausedUntil > w.now:
		w.at(n.pausedUntil, func() { w.resume(t) })
		return
	}
	before := w.task
	w.task = t
	if _, more := t.next(); !more {
		t.over = true
	}
	w.task = before
	w.check.trust()
}

// sleep suspends the running task for a time.
func (w *world) sleep(d time.Duration) {
	t := w.task
	w.after(d, func() { w.resume(t) })
	w.give(t)
}

// give waits until the task is resumed.
func (w *world) give(t *task) {
	if !t.yield(struct{}{}) {
		panic(killed{})
	}
	w.task = t
}

// call is a request for whose answer a task waits.
type call struct {
	done bool
	err  error
}

// request sends a message from a node to a server: serve is called there when the message arrives, at once,
// late or never; its answer may be lost. It returns errNoAnswer when no answer came in time.
func (w *world) request(n *simNode, f faults, serve func() error) error {
	c, t := &call{}, w.task
	finish := func(err error) {
		if !c.done {
			c.done, c.err = true, err
			w.resume(t)
		}
	}
	w.after(callTimeout, func() { finish(errNoAnswer) })
	switch {
	case !n.linked || w.chance(f.requestLost):
		w.counts["request lost"]++
	default:
		w.after(w.way(f), func() { w.arrive(n, t, f, serve, finish) })
	}
	w.give(t)
	return c.err
}

func (w *world) arrive(n *simNode, t *task, f faults, serve func() error, finish func(error)) {
	err := serve()
	if err == errNoAnswer || !n.linked || t.life != n.life || w.chance(f.answerLost) {
		w.counts["answer lost"]++
		return
	}
	w.after(w.between(100*time.Microsecond, 2*time.Millisecond), func() { finish(err) })
}

// way returns how long a request takes.
func (w *world) way(f faults) time.Duration {
	if w.chance(f.requestLate) {
		w.counts["request late"]++
		return w.between(10*time.Millisecond, w.plan.latest)
	}
	return w.between(100*time.Microsecond, 2*time.Millisecond)
}
