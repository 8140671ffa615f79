package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/instant"
)

// The delay of the engine is computed from instants that a step leaves behind, not from lengths of queues. So it also
// grows when no step comes any more.

// undecided returns the due time of the oldest tick that is not decided, or 0 if there is none. In a healthy engine
// it lies in the future. Missed ticks do not count: they are caught up on. With a backlog the result is approximate:
// it is the due time for the tenant that was served first.
func (c *Core) undecided() instant.Millis {
	var at instant.Millis
	if next, ok := c.wheel.Next(); ok {
		at = instant.Millis(next)
	}
	if c.backlog.Len() > 0 && (at == 0 || c.backlogDue < at) {
		at = c.backlogDue
	}
	return at
}

// noteBacklogDue records the due time of a job in the backlog.
func (c *Core) noteBacklogDue(r *hotRow) {
	c.backlogDue = r.cursor + c.jitterOf(r, c.profiles.get(r.profile), r.cursor)
}

// isStopping reports whether the engine has stopped or is stopping.
func (e *Engine) isStopping() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// since returns how long ago an instant was; 0 for the zero instant and for the future.
func since(at instant.Millis, now time.Time) time.Duration {
	if at == 0 {
		return 0
	}
	return max(0, now.Sub(at.Time()))
}
