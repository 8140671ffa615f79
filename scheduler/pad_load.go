package scheduler

import "github.com/carillon-io/carillon/job"

// padLoad counts the launches of a pad.
type padLoad struct {
	waiting   int // all that have not left: the sum of the next three
	scheduled int // whose time has not come: they were decided ahead, within the lead
	retrying  int // further attempts whose instant has not come
	backlog   int // whose time has come: they wait for the turn of their job, for a place, or for leave to go
	queued    int // of the backlog, those that wait for a place at their target
	flying    int // with the sender
}

// load counts the launches at an instant.
func (p *pad) load(now job.Millis) padLoad {
	p.mu.Lock()
	defer p.mu.Unlock()
	early := len(p.far) + p.near.count - p.near.countDue(now)
	again := min(p.again, early) // those that are due leave at once, so this is right to within a tick
	return padLoad{
		waiting: p.count, scheduled: early - again, retrying: again, backlog: p.count - early, queued: p.queued, flying: len(p.flying),
	}
}

// discountLocked takes a launch out of the counts.
func (p *pad) discountLocked(w *waiting) {
	p.count--
	if w.Attempt > 1 {
		p.again--
	}
}

// countDue counts the launches whose time has come. It looks at no others but their neighbours in the heaps:
// a healthy engine has hardly any.
func (n *nearLaunches) countDue(now job.Millis) int {
	count := 0
	for i := range n.turns.Len() {
		count += n.turns.At(i).launches.countDue(0, now)
	}
	return count + n.asleep.countDue(0, now)
}

func (h tenantHeap) countDue(i int, now job.Millis) int {
	if i >= len(h) || h[i].first() > now {
		return 0
	}
	return h[i].launches.countDue(0, now) + h.countDue(2*i+1, now) + h.countDue(2*i+2, now)
}

func (h launchHeap) countDue(i int, now job.Millis) int {
	if i >= len(h) || h[i].Due > now {
		return 0
	}
	return 1 + h.countDue(2*i+1, now) + h.countDue(2*i+2, now)
}
