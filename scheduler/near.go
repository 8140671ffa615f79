package scheduler

import (
	"container/heap"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// nearLaunches are the launches that wait for their time. Those of one tenant come in the order of
// their due times; when several tenants have some that are due, they take turns. Use newNearLaunches.
//
// Invariant: a tenant that has launches is either asleep, ordered by its first due time, or in turns.
// Between calls of popDue, turns is empty or something in it is overdue.
type nearLaunches struct {
	byTenant map[tenantHash]*tenantLaunches
	asleep   tenantHeap
	turns    fair.FIFO[*tenantLaunches] // had something due; one may have lost it since, or all it had
	taken    int                        // by the tenant at the front, in this turn
	spare    []*tenantLaunches
	count    int // of launches
}

// tenantLaunches are those of one tenant.
type tenantLaunches struct {
	tenant   tenantHash
	launches launchHeap
	index    int // in asleep; -1: in turns
}

// Bounds of what empty places of tenants keep, so that an even load allocates nothing.
const (
	nearSparesMax    = 64
	nearSpareHeapMax = 1024
)

// launchQuantum is how many launches a tenant hands out in a turn. A launch takes some microseconds.
const launchQuantum = 16

func newNearLaunches() nearLaunches {
	return nearLaunches{byTenant: make(map[tenantHash]*tenantLaunches)}
}

func (n *nearLaunches) push(w *waiting) {
	w.spot = atNear
	n.count++
	t := n.byTenant[w.Tenant]
	if t == nil {
		t = n.open(w.Tenant)
		heap.Push(&t.launches, w)
		heap.Push(&n.asleep, t)
		return
	}
	heap.Push(&t.launches, w)
	if t.index >= 0 && w.index == 0 {
		heap.Fix(&n.asleep, t.index)
	}
}

func (n *nearLaunches) open(tenant tenantHash) *tenantLaunches {
	var t *tenantLaunches
	if last := len(n.spare) - 1; last >= 0 {
		t, n.spare = n.spare[last], n.spare[:last]
	} else {
		t = new(tenantLaunches)
	}
	t.tenant = tenant
	n.byTenant[tenant] = t
	return t
}

// nextDue returns when the next launch is due, 0 if there is none. While tenants take turns that is
// some instant of the past.
func (n *nearLaunches) nextDue() job.Millis {
	switch {
	case n.turns.Len() > 0:
		return 1
	case len(n.asleep) > 0:
		return n.asleep[0].first()
	}
	return 0
}

// isDue tells whether a launch may be due: popDue knows.
func (n *nearLaunches) isDue(now job.Millis) bool {
	return n.turns.Len() > 0 || len(n.asleep) > 0 && n.asleep[0].first() <= now
}

// popDue removes and returns the launch whose turn it is among those due, nil if none is.
func (n *nearLaunches) popDue(now job.Millis) *waiting {
	for len(n.asleep) > 0 && n.asleep[0].first() <= now {
		n.turns.Push(heap.Pop(&n.asleep).(*tenantLaunches))
	}
	for n.turns.Len() > 0 {
		t := n.turns.Front()
		if !t.isDue(now) {
			n.passTurn(now)
			continue
		}
		w := heap.Pop(&t.launches).(*waiting)
		w.spot = atNone
		n.count--
		if n.taken++; n.taken == launchQuantum || !t.isDue(now) {
			n.passTurn(now)
		}
		return w
	}
	return nil
}

// passTurn ends the turn of the tenant at the front, and puts it where it belongs.
func (n *nearLaunches) passTurn(now job.Millis) {
	t := n.turns.Pop()
	n.taken = 0
	switch {
	case len(t.launches) == 0:
		n.forget(t)
	case t.isDue(now):
		n.turns.Push(t)
	default:
		heap.Push(&n.asleep, t)
	}
}

// remove takes a launch out that is in here.
func (n *nearLaunches) remove(w *waiting) {
	t := n.byTenant[w.Tenant]
	heap.Remove(&t.launches, w.index)
	n.count--
	switch {
	case t.index < 0: // its turn will tell
	case len(t.launches) == 0:
		heap.Remove(&n.asleep, t.index)
		n.forget(t)
	default:
		heap.Fix(&n.asleep, t.index)
	}
}

func (n *nearLaunches) forget(t *tenantLaunches) {
	delete(n.byTenant, t.tenant)
	if cap(t.launches) > nearSpareHeapMax {
		t.launches = nil
	}
	if len(n.spare) < nearSparesMax {
		n.spare = append(n.spare, t)
	}
}

// first returns when the first launch is due; there must be one.
func (t *tenantLaunches) first() job.Millis { return t.launches[0].Due }

func (t *tenantLaunches) isDue(now job.Millis) bool { return len(t.launches) > 0 && t.first() <= now }

// tenantHeap orders tenants by their first due times, and within one by arrival; it implements
// heap.Interface.
type tenantHeap []*tenantLaunches

func (h tenantHeap) Len() int { return len(h) }

func (h tenantHeap) Less(i, j int) bool {
	a, b := h[i].launches[0], h[j].launches[0]
	return a.Due < b.Due || a.Due == b.Due && a.order < b.order
}

func (h tenantHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *tenantHeap) Push(x any) {
	t := x.(*tenantLaunches)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *tenantHeap) Pop() any {
	old := *h
	n := len(old) - 1
	t := old[n]
	old[n] = nil
	*h = old[:n]
	t.index = -1
	return t
}
