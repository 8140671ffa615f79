package scheduler

import "github.com/carillon-io/carillon/job"

// longAgo is when a step is due that has something to go on with.
const longAgo job.Millis = 1

// wakeAt returns when there is something for the next step to do: longAgo, if this one left something over.
func (c *Core) wakeAt() job.Millis {
	if c.backlog.Len() > 0 || c.late.Len() > 0 || len(c.expired) > 0 || c.mayDecideAwaiting() ||
		c.retirement.asked == 0 && c.retirement.line.Len() > 0 {
		return longAgo
	}
	at := c.payAt()
	if behind := c.watches.behindAt(); at == 0 || behind != 0 && behind < at {
		at = behind
	}
	if again := c.now.Add(idleMax); c.shared.count > 0 && (at == 0 || again < at) {
		at = again // further ticks of those that wait come due, and are on no wheel
	}
	if next, ok := c.wheel.Next(); ok {
		due := max(job.Millis(next).Add(-c.settings.Lead), 1)
		if next <= c.wheel.Now() {
			due = 1 // be the clock behind the wheel, because it was set back
		}
		if at == 0 || due < at {
			at = due
		}
	}
	return at
}
