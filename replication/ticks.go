package replication

import (
	"context"
	"iter"
	"time"
)

// ticks yields once a period until ctx ends, or the loop over it does. While the body of the loop runs, ticks are dropped and
// not queued, so a body that takes longer than a period runs less often.
func ticks(ctx context.Context, period time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if !yield(now) {
					return
				}
			}
		}
	}
}
