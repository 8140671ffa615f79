package datadir

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Checkpoints count what [Parts.Checkpoint] does. It is safe for concurrent use, and must not be copied.
// Use NewCheckpoints.
type Checkpoints struct {
	took     histogram.Times
	written  atomic.Uint64
	failures atomic.Uint64
	last     atomic.Int64 // nanoseconds of Unix time
}

// NewCheckpoints returns counts of nothing. The store has just been opened, so all that it holds is
// durable: that stands for the last checkpoint.
func NewCheckpoints() *Checkpoints {
	c := new(Checkpoints)
	c.last.Store(time.Now().UnixNano())
	return c
}

// CheckpointStats are readings of [Checkpoints].
type CheckpointStats struct {
	Took         histogram.Reading // seconds, of those that succeeded
	WrittenBytes uint64            // to the store's tables while checkpoints were made
	Failures     uint64
	LastSuccess  time.Time // or when the store was opened
}

// Stats returns readings.
func (c *Checkpoints) Stats() CheckpointStats {
	return CheckpointStats{
		Took: c.took.Read(), WrittenBytes: c.written.Load(), Failures: c.failures.Load(), LastSuccess: time.Unix(0, c.last.Load()),
	}
}

// measure makes a checkpoint and counts it; one that was called off is no failure. A nil receiver counts
// nothing.
func (c *Checkpoints) measure(ctx context.Context, flushed func() uint64, checkpoint func(context.Context) error) error {
	if c == nil {
		return checkpoint(ctx)
	}
	began, before := time.Now(), flushed()
	if err := checkpoint(ctx); err != nil {
		if ctx.Err() == nil {
			c.failures.Add(1)
		}
		return err
	}
	c.took.Record(time.Since(began))
	if after := flushed(); after > before { // it is 0 once the store is closed
		c.written.Add(after - before)
	}
	c.last.Store(time.Now().UnixNano())
	return nil
}
