package scheduler

import (
	"context"
	"runtime"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The arrangement of the tick. Lateness is decided here and nowhere else: commits, reads of the store
// and replies all happen ahead of the time or after it. The tick has an operating system thread of its
// own, which sleeps in a system call with a timer slack of one nanosecond until the next launch is
// due; Go's own timers wait for a scheduler that other goroutines keep busy, and are milliseconds late
// on a machine with every core in use. The thread needs a free P when it wakes: the program sets
// GOMAXPROCS above the number of cores, and the kernel then shares the cores out.

// ticker is a pad's tick thread.
type ticker struct {
	pad   *pad
	clock Clock
	alarm *alarm
}

// idleMax is the longest that the tick sleeps at a time, so that a step of the wall clock is noticed.
const idleMax = 500 * time.Millisecond

// distrustPause is how long the tick waits before it looks again, while something is due and nothing may
// leave.
const distrustPause = 5 * time.Millisecond

// run launches what is due until ctx ends.
func (t *ticker) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sharpenThread()
	stop := context.AfterFunc(ctx, t.alarm.ring)
	defer stop()
	var ready []*waiting
	for ctx.Err() == nil {
		now := t.clock.Now()
		var more bool
		if more, ready = t.pad.launchDue(job.MillisOf(now), ready[:0]); !more {
			t.alarm.sleep(t.untilDue())
		}
	}
}

func (t *ticker) untilDue() time.Duration {
	due := t.pad.nextDue()
	if due == 0 {
		return idleMax
	}
	wait := min(idleMax, due.Time().Sub(t.clock.Now().Round(0)))
	if wait < distrustPause && !t.pad.mayLeave() {
		return distrustPause
	}
	return wait
}
