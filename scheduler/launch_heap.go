package scheduler

import "github.com/carillon-io/carillon/job"

// waiting is a launch on the pad.
type waiting struct {
	Launch
	index    int           // in the heap; -1: not there
	delivery *job.Delivery // nil until the cold row is read
	failure  string        // why the cold row could not be read
	gone     bool          // taken off while its cold row was being read

	older, newer *waiting // launches of the same job, by arrival
}

// isBefore orders launches by due time, and then by their first arrival on the pad.
func (w *waiting) isBefore(o *waiting) bool {
	return w.Due < o.Due || w.Due == o.Due && w.order < o.order
}

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
