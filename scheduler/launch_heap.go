package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// waiting is a launch on the pad.
type waiting struct {
	Launch
	spot     spot
	index    int           // in the heap of its spot; -1: in none
	delivery *job.Delivery // nil until the cold row is read, and while it waits for long
	cost     int64         // bytes of delivery, as the pad's bound counts them; 0: not counted
	failure  string        // why it cannot leave
	reading  bool          // a feeder has it in hand
	gone     bool          // taken off while its cold row was being read
	turnAt   int64         // when it got the turn that it had waited for, in ns of Unix time; 0: it has not

	lane   *padLane      // nil until its cold row was read first
	weight int           // bytes of its payload
	found  bool          // it waits for its turn to get in line, and its cold row is read
	placed bool          // it has a place at its target, and a feeder makes it ready
	place  time.Duration // that it waited for that place

	older, newer *waiting // launches of the same job, by arrival
}

// isBefore orders launches by due time, and then by their first arrival on the pad.
func (w *waiting) isBefore(o *waiting) bool {
	return w.Due < o.Due || w.Due == o.Due && w.order < o.order
}

// spot is where a launch waits.
type spot uint8

const (
	atNone spot = iota // for its turn, for a feeder, or nowhere any more
	atFar              // for the time at which it is made ready
	atNear             // for its time
	atSeek             // for its cold row, before it gets in line
	atLane             // for a place at its target
)

// launchHeap orders launches by due time, and then by arrival; it implements heap.Interface.
type launchHeap []*waiting

func (h launchHeap) Len() int { return len(h) }

func (h launchHeap) Less(i, j int) bool { return h[i].isBefore(h[j]) }

func (h launchHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *launchHeap) Push(x any) {
	w := x.(*waiting)
	w.index = len(*h)
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *launchHeap) Pop() any {
	old := *h
	n := len(old) - 1
	w := old[n]
	old[n] = nil
	*h = old[:n]
	w.index = -1
	return w
}
