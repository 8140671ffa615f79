package scheduler

import (
	"context"
	"runtime"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// How the tick works. Lateness arises here and nowhere else: commits, reads of the store and replies all happen ahead
// of the due time or after it. The tick has an operating system thread of its own. The thread sleeps in a system
// call, with a timer slack of one nanosecond, until the next launch is due. Go's own timers wait for the Go
// scheduler, which other goroutines keep busy, and are milliseconds late on a machine with every core in use. When it
// wakes, the thread needs a free P. The program therefore sets GOMAXPROCS above the number of cores, and leaves it to
// the kernel to share the cores.

// ticker is the tick thread of a pad.
type ticker struct {
	pad   *pad
	clock Clock
	alarm *alarm
}

// idleMax is the longest sleep of the tick, so that it notices when the wall clock is set.
const idleMax = 500 * time.Millisecond

// distrustPause is how long the tick waits before it checks again, while launches are due and none may leave.
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
		if more, ready = t.pad.launchDue(instant.Of(now), ready[:0]); !more {
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
