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
// early costs an empty step. latest is by when the step must come: half of the lead after the first tick could be decided, so
// that decisions are durable well before they are due; at once for everything else.
func (c *Core) wakeAt() (at, latest instant.Millis) {
	if c.backlog.Len() > 0 || c.late.Len() > 0 || len(c.expired) > 0 || c.mayDecideAwaiting() ||
		c.retirement.asked == 0 && c.retirement.line.Len() > 0 {
		return instant.LongAgo, instant.LongAgo
	}
	at = c.payAt()
	at = sooner(at, c.watches.behindAt())
	if c.shared.count > 0 {
		at = sooner(at, c.now.Add(awaitPause)) // further ticks of waiting jobs come due, and are not on the wheel
	}
	if c.tenants.count.isUnder || c.isToIndex() {
		at = sooner(at, c.now+countPause)
	}
	latest = at
	if next, ok := c.wheel.Next(); ok {
		due := max(instant.Millis(next).Add(-c.settings.Lead), 1)
		end := due.Add(c.settings.Lead / 2)
		at, latest = sooner(at, due), sooner(latest, end)
	}
	return at, latest
}

// sooner returns the earlier of two instants, of which 0 is never.
func sooner(a, b instant.Millis) instant.Millis {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
