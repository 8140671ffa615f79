package pad

import (
	"container/heap"

	"github.com/carillon-io/carillon/job"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/instant"
)

// soonLaunches are the launches that wait for their due time. Those of one tenant leave in the order of due times. If
// several tenants have due launches, the tenants take turns. It must be made by newSoonLaunches.
//
// Invariant: a tenant with launches is either asleep, ordered by its first due time, or in turns. Between calls of
// popDue, turns is empty or one of its launches is overdue.
type soonLaunches struct {
	byTenant map[job.TenantHash]*tenantLaunches
	asleep   tenantHeap
	turns    fair.FIFO[*tenantLaunches] // had something due; a tenant may have lost it since
	taken    int                        // by the tenant at the front, in this turn
	spare    []*tenantLaunches
	count    int // of launches
}

// tenantLaunches are the launches of one tenant.
type tenantLaunches struct {
	tenant   job.TenantHash
	launches launchHeap
	index    int // in asleep; -1: in turns
}

// Bounds of the memory that empty tenants and heaps keep, so that a steady load allocates nothing.
const (
	nearSparesMax    = 64
	nearSpareHeapMax = 1024
)

// launchQuantum is how many launches a tenant gets in a turn. A launch takes some microseconds.
const launchQuantum = 16

func newSoonLaunches() soonLaunches {
	return soonLaunches{byTenant: make(map[job.TenantHash]*tenantLaunches)}
}

func (n *soonLaunches) push(w *waiting) {
	w.spot = atSoon
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

func (n *soonLaunches) open(tenant job.TenantHash) *tenantLaunches {
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

// nextDue returns when the next launch is due; 0 if there is none. While tenants take turns it returns some instant
// of the past.
func (n *soonLaunches) nextDue() instant.Millis {
	switch {
	case n.turns.Len() > 0:
		return 1
	case len(n.asleep) > 0:
		return n.asleep[0].first()
	}
	return 0
}

// isDue reports whether a launch may be due. It can be wrong while tenants take turns; popDue is exact.
func (n *soonLaunches) isDue(now instant.Millis) bool {
	return n.turns.Len() > 0 || len(n.asleep) > 0 && n.asleep[0].first() <= now
}

// popDue removes and returns the due launch whose tenant has its turn, or nil if no launch is due.
func (n *soonLaunches) popDue(now instant.Millis) *waiting {
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
func (n *soonLaunches) passTurn(now instant.Millis) {
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

// remove removes a launch, which must be here.
func (n *soonLaunches) remove(w *waiting) {
	t := n.byTenant[w.Tenant]
	heap.Remove(&t.launches, w.index)
	n.count--
	switch {
	case t.index < 0: // passTurn will move it
	case len(t.launches) == 0:
		heap.Remove(&n.asleep, t.index)
		n.forget(t)
	default:
		heap.Fix(&n.asleep, t.index)
	}
}

func (n *soonLaunches) forget(t *tenantLaunches) {
	delete(n.byTenant, t.tenant)
	if cap(t.launches) > nearSpareHeapMax {
		t.launches = nil
	}
	if len(n.spare) < nearSparesMax {
		n.spare = append(n.spare, t)
	}
}

// first returns when the first launch is due. There must be one.
func (t *tenantLaunches) first() instant.Millis { return t.launches[0].Due }

func (t *tenantLaunches) isDue(now instant.Millis) bool {
	return len(t.launches) > 0 && t.first() <= now
}

// tenantHeap orders tenants by their first due times, and equal ones by arrival. It implements heap.Interface.
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
