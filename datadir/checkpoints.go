package datadir

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Checkpoints counts the checkpoints of [Parts.Checkpoint]. It is safe for concurrent use, and must not be copied. Use
// NewCheckpoints. The fields are atomic because the goroutine of Keep writes them while requests for metrics read
// them; a reading need not be of one instant.
type Checkpoints struct {
	// durations of those that succeeded
	took     histogram.Times
	written  atomic.Uint64
	failures atomic.Uint64
	// Its age grows while checkpoints fail.
	last atomic.Int64 // nanoseconds of Unix time
}

// NewCheckpoints returns a Checkpoints with all counts 0. Its last success is now, when the store is
// opened: all that a store holds at its opening is durable.
func NewCheckpoints() *Checkpoints {
	c := new(Checkpoints)
	c.last.Store(time.Now().UnixNano())
	return c
}

// CheckpointStats are readings of [Checkpoints].
type CheckpointStats struct {
	Took         histogram.Reading // durations of the successful checkpoints, in seconds
	WrittenBytes uint64            // bytes written to the store's tables during checkpoints
	Failures     uint64
	LastSuccess  time.Time // of the last successful checkpoint; before the first, when the store was opened
}

// Stats returns the present readings.
func (c *Checkpoints) Stats() CheckpointStats {
	return CheckpointStats{
		Took: c.took.Read(), WrittenBytes: c.written.Load(), Failures: c.failures.Load(), LastSuccess: time.Unix(0, c.last.Load()),
	}
}

// measure runs a checkpoint and counts it. A checkpoint whose context has ended is not counted as a failure. A nil
// receiver runs the checkpoint and counts nothing. flushed returns the bytes that the store has written to its tables
// since it was opened.
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
	if after := flushed(); after > before { // after is 0 once the store is closed
		c.written.Add(after - before)
	}
	c.last.Store(time.Now().UnixNano())
	return nil
}
