package dispatch

import "github.com/carillon-io/carillon/heap"

// deadlines holds attempts by deadline, the earliest first. A heap suits them because timeouts differ from
// job to job, and nearly all attempts are removed before their deadlines.
type deadlines = heap.Heap[*attempt]

// Before orders attempts by deadline.
func (a *attempt) Before(o *attempt) bool { return a.deadline < o.deadline }

// SetIndex implements heap.Item.
func (a *attempt) SetIndex(i int) { a.place = i }
