package replication

import (
	"context"
	"iter"
	"time"
)

// ticks yields once a period until ctx ends, or the loop over it does. While the body of the loop runs, ticks are dropped and
// one is kept, so a body that takes longer than a period runs less often. The first one comes within a period.
func ticks(ctx context.Context, period time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		tick := time.NewTimer(untilTick(period))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				tick.Reset(untilTick(period))
				if !yield(now) {
					return
				}
			}
		}
	}
}

// untilTick returns the time until the next whole period of the clock. So the loops of all members of a process wake at the
// same instants, which costs an idle process with several shards a fraction of what as many wakes at different ones cost.
func untilTick(period time.Duration) time.Duration { return untilTickAt(time.Now(), period) }

// untilTickAt is untilTick when the clock shows now.
func untilTickAt(now time.Time, period time.Duration) time.Duration {
	return period - time.Duration(now.UnixNano())%period
}
