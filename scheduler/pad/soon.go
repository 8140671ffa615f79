package pad

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/heap"
	"github.com/carillon-io/carillon/instant"
)

// soonLaunches are the launches that wait for their due time. Those of one tenant leave in the order of due times. If
// several tenants have due launches, the tenants take turns. It must be made by newSoonLaunches.
//
// Invariant: a tenant with launches is either asleep, ordered by its first due time, or in turns. Between calls of
// popDue, turns is empty or one of its launches is overdue.
type soonLaunches struct {
	byTenant map[Tenant]*tenantLaunches
	asleep   heap.Heap[*tenantLaunches]
	turns    fair.FIFO[*tenantLaunches] // had something due; a tenant may have lost it since
	taken    int                        // by the tenant at the front, in this turn
	spare    []*tenantLaunches
	count    int // of launches
}

// tenantLaunches are the launches of one tenant.
type tenantLaunches struct {
	tenant   Tenant
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
	return soonLaunches{byTenant: make(map[Tenant]*tenantLaunches)}
}

func (n *soonLaunches) push(w *waiting) {
	w.spot = atSoon
	n.count++
	t := n.byTenant[w.Tenant]
	if t == nil {
		t = n.open(w.Tenant)
		t.launches.Push(w)
		n.asleep.Push(t)
		return
	}
	t.launches.Push(w)
	if t.index >= 0 && w.index == 0 {
		n.asleep.Fix(t.index)
	}
}

func (n *soonLaunches) open(tenant Tenant) *tenantLaunches {
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
		n.turns.Push(n.asleep.Pop())
	}
	for n.turns.Len() > 0 {
		t := n.turns.Front()
		if !t.isDue(now) {
			n.passTurn(now)
			continue
		}
		w := t.launches.Pop()
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
		n.asleep.Push(t)
	}
}

// remove removes a launch, which must be here.
func (n *soonLaunches) remove(w *waiting) {
	t := n.byTenant[w.Tenant]
	t.launches.Remove(w.index)
	n.count--
	switch {
	case t.index < 0: // passTurn will move it
	case len(t.launches) == 0:
		n.asleep.Remove(t.index)
		n.forget(t)
	default:
		n.asleep.Fix(t.index)
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

// Before orders tenants by their first due times, and equal ones by arrival.
func (t *tenantLaunches) Before(o *tenantLaunches) bool { return t.launches[0].Before(o.launches[0]) }

// SetIndex implements heap.Item.
func (t *tenantLaunches) SetIndex(i int) { t.index = i }
