package pad

import (
	"github.com/carillon-io/carillon/heap"
	"github.com/carillon-io/carillon/instant"
)

// Load is how many launches a pad has at one instant, for the status and the metrics. Nothing is decided by it.
type Load struct {
	Waiting   int // all that have not left: the sum of the next three
	Scheduled int // not due yet: decided ahead, within the lead
	Retrying  int // further attempts that are not due yet
	Backlog   int // due: they wait for the turn of their job, for a place, or for permission to leave
	Queued    int // those of the backlog that wait for a place at their target
	Flying    int // with the sender
}

// Count counts the launches as of an instant. Its cost grows with the launches that are due, not with the others.
func (p *Pad) Count(now instant.Millis) Load {
	p.mu.Lock()
	defer p.mu.Unlock()
	early := len(p.later) + p.soon.count - p.soon.countDue(now)
	again := min(p.again, early) // launches that are due leave at once, so this is correct to within a tick
	return Load{
		Waiting: p.count, Scheduled: early - again, Retrying: again, Backlog: p.count - early, Queued: p.queued, Flying: len(p.flying),
	}
}

// discountLocked subtracts a launch from the counts.
func (p *Pad) discountLocked(w *waiting) {
	p.count--
	if w.Attempt > 1 {
		p.again--
	}
}

// countDue counts the due launches. It visits no others except their neighbours in the heaps; a healthy engine has
// hardly any.
func (n *soonLaunches) countDue(now instant.Millis) int {
	count := countDueTenants(n.asleep, 0, now)
	for i := range n.turns.Len() {
		count += countDue(n.turns.At(i).launches, 0, now)
	}
	return count
}

// countDueTenants counts the due launches of the tenants from index i of a heap downwards.
func countDueTenants(h heap.Heap[*tenantLaunches], i int, now instant.Millis) int {
	if i >= len(h) || h[i].first() > now {
		return 0
	}
	return countDue(h[i].launches, 0, now) + countDueTenants(h, 2*i+1, now) + countDueTenants(h, 2*i+2, now)
}

// countDue counts the due launches from index i of a heap downwards.
func countDue(h launchHeap, i int, now instant.Millis) int {
	if i >= len(h) || h[i].Due > now {
		return 0
	}
	return 1 + countDue(h, 2*i+1, now) + countDue(h, 2*i+2, now)
}

// Overdue returns the due time of the first launch that waits for its time. It returns 0 if there is none, or if
// launching has ended.
func (p *Pad) Overdue() instant.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return 0
	}
	return p.soon.overdue()
}

// overdue returns the due time of the first launch that waits for its time, or 0 if there is none.
func (n *soonLaunches) overdue() instant.Millis {
	var at instant.Millis
	if n.turns.Len() > 0 && len(n.turns.Front().launches) > 0 {
		at = n.turns.Front().first()
	}
	if len(n.asleep) > 0 && (at == 0 || n.asleep[0].first() < at) {
		at = n.asleep[0].first()
	}
	return at
}
