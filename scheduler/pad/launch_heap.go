package pad

import (
	"time"

	"github.com/carillon-io/carillon/heap"
	"github.com/carillon-io/carillon/job"
)

// waiting is a launch on the pad.
type waiting struct {
	Launch
	spot     spot
	index    int           // in the heap of its spot; -1: in none
	delivery *job.Delivery // nil until the cold row is read, and during a long wait
	cost     int64         // bytes of delivery, as the pad's bound counts them; 0: not counted
	failure  string        // why it cannot leave
	reading  bool          // a feeder works on it
	gone     bool          // withdrawn while its cold row was being read
	turnAt   int64         // when its wait for a turn ended, in ns of Unix time; 0: it has not ended

	lane   *lane         // nil until its cold row was read for the first time
	weight int           // bytes of its payload
	found  bool          // it seeks its lane, and its cold row is read
	placed bool          // it has a place at its target, and a feeder reads its delivery
	place  time.Duration // how long it waited for that place

	older, newer *waiting // launches of the same job, by arrival
}

// Before orders launches by due time, and then by their first arrival on the pad.
func (w *waiting) Before(o *waiting) bool {
	return w.Due < o.Due || w.Due == o.Due && w.order < o.order
}

// SetIndex implements heap.Item.
func (w *waiting) SetIndex(i int) { w.index = i }

// spot is the place on the pad where a launch waits.
type spot uint8

const (
	atNone  spot = iota // it waits for its turn or for a feeder, or has left
	atLater             // waits until it is prepared
	atSoon              // waits for its due time
	atSeek              // due, waits for its cold row, which names its lane
	atLane              // waits for a place at its target
)

// launchHeap holds launches by due time, and then by arrival.
type launchHeap = heap.Heap[*waiting]
