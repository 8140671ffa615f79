package main

import (
	"math"

	"github.com/carillon-io/carillon/wheel"
)

// timerSet is a structure that holds timers by id. The caller knows each timer's deadline, and says
// it where a timer is to be found, because some structures need that.
type timerSet interface {
	arm(id uint64, at int64)
	cancel(id uint64, at int64) bool
	rearm(id uint64, from, to int64) bool

	// advance moves the clock, and expires all that is due at now or before.
	advance(now int64)

	// close ends a round. It returns what only this structure can tell, and what it finds wrong.
	close(l *timerLoad) ([]figure, []string)
}

// contestant is a kind of structure.
type contestant struct {
	name, about string
	step        int64 // milliseconds that the clock moves at once; 0 if the structure has its own clock
	sizeBytes   int   // about what a timer takes

	// open makes one that is empty, ready for so many ids. It allocates what the caller of such a structure
	// has to keep beside it, handles by id, so that this does not count as its memory.
	open func(ids int, log *expiryLog) timerSet

	// keptBytes is memory that earlier rounds left behind, and that later ones use again.
	keptBytes int64
}

// allContestants returns ours, then the rivals. The one that leaves something behind comes last.
func allContestants() []contestant {
	return []contestant{
		{name: "carillon", about: "package wheel, steps of 1 ms", step: 1, sizeBytes: 26, open: newCarillon},
		{name: "heap", about: "container/heap with indexes, steps of 1 ms", step: 1, sizeBytes: 33, open: newHeap},
		{name: "btree", about: "google/btree of degree 32, steps of 1 ms", step: 1, sizeBytes: 35, open: newBtree},
		{name: "thw", about: "server/thw of nats-server, steps of 1 s", step: 1000, sizeBytes: 35, open: newThw},
		{name: "go", about: "timers of the Go runtime", sizeBytes: 130, open: newGoTimers},
	}
}

// carillon is our wheel.
type carillon struct {
	w     *wheel.Wheel
	start int64
	refs  []wheel.Ref // by id
	fire  func(id uint64, at wheel.Tick)
}

// newCarillon makes the wheel begin so that, amid the first hour of deadlines, a slot begins on every
// level up to the one whose slots span 49 days. That is the hardest time there is for it.
func newCarillon(ids int, log *expiryLog) timerSet {
	const border, halfHour = 410 << 32, 1_800_000
	c := &carillon{start: border - timerLead - halfHour, refs: make([]wheel.Ref, ids)}
	c.w = wheel.New(wheel.Tick(c.start))
	c.fire = func(id uint64, _ wheel.Tick) { log.fire(id) }
	return c
}

func (c *carillon) tick(at int64) wheel.Tick { return wheel.Tick(c.start + at) }

func (c *carillon) arm(id uint64, at int64) { c.refs[id] = c.w.Arm(id, c.tick(at)) }

func (c *carillon) cancel(id uint64, _ int64) bool { return c.w.Cancel(c.refs[id]) }

func (c *carillon) rearm(id uint64, _, to int64) bool { return c.w.Rearm(c.refs[id], c.tick(to)) }

func (c *carillon) advance(now int64) { c.w.Advance(c.tick(now), math.MaxInt, c.fire) }

// close holds the wheel to its promise about the work of a tick.
func (c *carillon) close(l *timerLoad) ([]figure, []string) {
	stats, bound := c.w.Stats(), l.moveBound(c.start)
	figures := []figure{
		{"moved_each", "moves of a timer on its way", float64(stats.Moved) / float64(l.n), ""},
		{"moved_worst", "timers moved in the worst tick, beyond those due", float64(stats.MovedWorst), ""},
		{"moved_bound", "at most so many may", float64(bound), ""},
	}
	return figures, complaints(
		complaint{max(0, stats.MovedWorst-bound), "more than the bound moved in one tick"},
		complaint{c.w.Len(), "were left in the wheel"},
	)
}

// nothing holds no timers. It tells what the measuring costs.
type nothing struct{}

func (nothing) arm(uint64, int64)                     {}
func (nothing) cancel(uint64, int64) bool             { return true }
func (nothing) rearm(uint64, int64, int64) bool       { return true }
func (nothing) advance(int64)                         {}
func (nothing) close(*timerLoad) ([]figure, []string) { return nil, nil }
