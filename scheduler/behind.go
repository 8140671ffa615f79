package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// How far the engine is behind is told by instants that a step leaves, not by lengths: so it grows when
// no step comes any more.

// undecided returns when the oldest tick is due that is still to be decided, 0 if there is none: in the
// future, if all goes well. What was due long ago is not in it: that is caught up on. With a backlog it is
// about right: that of the tenant who was served first.
func (c *Core) undecided() job.Millis {
	var at job.Millis
	if next, ok := c.wheel.Next(); ok {
		at = job.Millis(next)
	}
	if c.backlog.Len() > 0 && (at == 0 || c.backlogDue < at) {
		at = c.backlogDue
	}
	return at
}

// noteBacklogDue keeps when a job in the backlog is due.
func (c *Core) noteBacklogDue(r *hotRow) {
	c.backlogDue = r.cursor + c.jitterOf(r, c.profiles.get(r.profile), r.cursor)
}

// overdue returns when the first launch was due that waits for its time, 0 if there is none.
func (n *nearLaunches) overdue() job.Millis {
	var at job.Millis
	if n.turns.Len() > 0 && len(n.turns.Front().launches) > 0 {
		at = n.turns.Front().first()
	}
	if len(n.asleep) > 0 && (at == 0 || n.asleep[0].first() < at) {
		at = n.asleep[0].first()
	}
	return at
}

// overdue returns when the first launch was due that waits for its time; 0 if there is none, or if none may
// leave any more.
func (p *pad) overdue() job.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return 0
	}
	return p.near.overdue()
}

// isStopping tells whether the engine has ended its work, or is about to.
func (e *Engine) isStopping() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// since returns how long ago an instant was; 0 for one to come, and for none.
func since(at job.Millis, now time.Time) time.Duration {
	if at == 0 {
		return 0
	}
	return max(0, now.Sub(at.Time()))
}
