package replication

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"time"
)

// world is one simulation: a stream, a lease and some nodes in virtual time. Everything happens on one
// goroutine at a time, in an order that the seed decides.
type world struct {
	plan   plan
	rng    *rand.Rand
	now    time.Duration
	events eventHeap
	nth    uint64 // of the events; those of one moment happen in the order in which they were planned
	task   *task  // that runs now

	stream *simStream
	lease  *simRegister
	nodes  []*simNode
	check  checker

	healed bool // no more faults
	counts map[string]int
	hash   hash.Hash64
}

// event is something that is going to happen.
type event struct {
	at  time.Duration
	nth uint64
	do  func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].nth < h[j].nth
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*h = old[:len(old)-1]
	return e
}

func newWorld(p plan) *world {
	w := &world{plan: p, rng: rand.New(rand.NewPCG(p.seed, 0)), counts: make(map[string]int), hash: fnv.New64a(), now: time.Second}
	w.stream, w.lease, w.check = &simStream{world: w}, &simRegister{world: w}, newChecker(w)
	for i := range p.nodes {
		w.nodes = append(w.nodes, newSimNode(w, i))
	}
	return w
}

// run lets the faults happen, then heals, and waits for everybody to be level with a leader.
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

// healTime is how long the cluster has, after the last fault, until everybody is level. It is a lease,
// what may be left of an election's time-outs, and a checkpoint.
const healTime = 90 * time.Second

// until lets things happen up to a moment, or until a condition holds.
func (w *world) until(end time.Duration, done func() bool) bool {
	for w.check.broken == "" && len(w.events) > 0 && w.events[0].at <= end {
		e := heap.Pop(&w.events).(event)
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
	heap.Push(&w.events, event{max(t, w.now), w.nth, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now+d, do) }

// saw adds something to the story and counts it.
func (w *world) saw(what string, values ...uint64) {
	w.counts[what]++
	w.note(what, values...)
}

// note adds something to the story.
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

// chance tells whether a fault happens that has a probability. After the last fault none does.
func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p && !w.healed }

// task is a thread of a node. It gives way whenever it waits.
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

// spawn begins a thread of a node's process.
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

// resume lets a task go on, if its process lives, as soon as it is not paused.
func (w *world) resume(t *task) {
	n := t.node
	switch {
	case t.over || t.life != n.life:
		return
	case n.pausedUntil > w.now:
		w.at(n.pausedUntil, func() { w.resume(t) })
		return
	case n.busy(t): // a lock is held across a wait of the other thread
		w.after(5*time.Millisecond, func() { w.resume(t) })
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

// sleep lets the running task wait.
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

// call is a request whose answer a task waits for.
type call struct {
	done bool
	err  error
}

// request sends something from a node to a server: serve is called there when it arrives, at once or
// late, or never; its answer may be lost. It returns errNoAnswer when none came in time.
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

// way is how long a request takes.
func (w *world) way(f faults) time.Duration {
	if w.chance(f.requestLate) {
		w.counts["request late"]++
		return w.between(10*time.Millisecond, 10*time.Second)
	}
	return w.between(100*time.Microsecond, 2*time.Millisecond)
}
