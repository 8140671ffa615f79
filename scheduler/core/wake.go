package core

import (
	"time"

	"github.com/carillon-io/carillon/instant"
)

// awaitPause is how long ticks that wait for their tenants' shares are left before the core looks for further ones.
// Room for the waiting ones comes with outcomes, and those cause steps of their own.
const awaitPause = 500 * time.Millisecond

// wakeAt returns when the next step has something to do: instant.LongAgo, if this step left work over. It must never
// be too late: the loop sleeps until then, and a much later call counts as a gap in which the engine stood still. Too
// early costs an empty step.
func (c *Core) wakeAt() instant.Millis {
	if c.backlog.Len() > 0 || c.late.Len() > 0 || len(c.expired) > 0 || c.mayDecideAwaiting() ||
		c.retirement.asked == 0 && c.retirement.line.Len() > 0 {
		return instant.LongAgo
	}
	at := c.payAt()
	if behind := c.watches.behindAt(); at == 0 || behind != 0 && behind < at {
		at = behind
	}
	if again := c.now.Add(awaitPause); c.shared.count > 0 && (at == 0 || again < at) {
		at = again // further ticks of waiting jobs come due, and are not on the wheel
	}
	if again := c.now + countPause; (c.tenants.count.isUnder || c.isToIndex()) && (at == 0 || again < at) {
		at = again
	}
	if next, ok := c.wheel.Next(); ok {
		due := max(instant.Millis(next).Add(-c.settings.Lead), 1)
		if next <= c.wheel.Now() {
			due = instant.LongAgo // the wheel is ahead of a clock that was set back
		}
		if at == 0 || due < at {
			at = due
		}
	}
	return at
}
