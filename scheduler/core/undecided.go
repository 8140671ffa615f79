package core

import (
	"github.com/carillon-io/carillon/instant"
)

// undecided returns the due time of the oldest tick that is not decided, or 0 if there is none. In a healthy engine it
// lies in the future. Missed ticks do not count: they are caught up on. With a backlog the result is approximate: it
// is the due time for the tenant that was served first. It is for the metric that shows an engine falling behind; no
// decision depends on it.
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
	c.backlogDue = c.dueOf(r)
}
