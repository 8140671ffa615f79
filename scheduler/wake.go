package scheduler

import (
	"github.com/carillon-io/carillon/instant"
)

// longAgo is the due time of work that can be done at once. Zero would mean never.
const longAgo instant.Millis = 1

// wakeAt returns when the next step has something to do: longAgo, if this step left work over.
func (c *Core) wakeAt() instant.Millis {
	if c.backlog.Len() > 0 || c.late.Len() > 0 || len(c.expired) > 0 || c.mayDecideAwaiting() ||
		c.retirement.asked == 0 && c.retirement.line.Len() > 0 {
		return longAgo
	}
	at := c.payAt()
	if behind := c.watches.behindAt(); at == 0 || behind != 0 && behind < at {
		at = behind
	}
	if again := c.now.Add(idleMax); c.shared.count > 0 && (at == 0 || again < at) {
		at = again // further ticks of waiting jobs come due, and are not on the wheel
	}
	if next, ok := c.wheel.Next(); ok {
		due := max(instant.Millis(next).Add(-c.settings.Lead), 1)
		if next <= c.wheel.Now() {
			due = longAgo // the wheel is ahead of a clock that was set back
		}
		if at == 0 || due < at {
			at = due
		}
	}
	return at
}
