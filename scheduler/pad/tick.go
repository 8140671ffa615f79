package pad

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

// IdleMax is the longest sleep of the tick, so that it notices when the wall clock is set. It bounds every other sleep
// until an instant of the wall clock, for the same reason. A clock that is set forward thus delays a launch by at most
// this long; a shorter sleep would wake an idle process more often.
const IdleMax = 500 * time.Millisecond

// distrustPause is how long the tick waits before it checks again, while launches are due and none may leave. Trust
// comes back without a signal, so the tick must ask for it: this is the delay that a launch can suffer by that.
const distrustPause = 5 * time.Millisecond

// Arm makes the alarm that wakes the tick. The alarm holds a resource of the system until Close or Disarm. Arm must be
// called before Serve, while no other method runs. It is separate from New because an engine that stands by has a pad
// and needs no thread.
func (p *Pad) Arm() error {
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	p.alarm, p.wake = alarm, alarm.ring
	return nil
}

// Disarm releases the alarm, without Close. It does nothing on a pad without alarm. Serve must not be running.
func (p *Pad) Disarm() error {
	alarm := p.alarm
	if alarm == nil {
		return nil
	}
	p.alarm = nil
	return alarm.close()
}

// tick launches what is due until ctx ends. It never sleeps while something can leave. Whatever makes a launch due
// earlier than the tick knows must call wake.
func (p *Pad) tick(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sharpenThread()
	stop := context.AfterFunc(ctx, p.alarm.ring)
	defer stop()
	var ready []*waiting
	for ctx.Err() == nil {
		now := p.clock()
		var more bool
		if more, ready = p.launchDue(instant.Of(now), ready[:0]); !more {
			p.alarm.sleep(p.untilDue())
		}
	}
}

// untilDue returns how long the tick may sleep; 0 or less if something is due. While launches are due and may not
// leave it returns distrustPause, because the tick would otherwise never sleep until trust is back.
func (p *Pad) untilDue() time.Duration {
	now, due := p.clock().Round(0), p.NextDue()
	idle := untilLook(now)
	if due == 0 {
		return idle
	}
	wait := min(idle, due.Time().Sub(now))
	if wait < distrustPause && !p.mayLeave() {
		return distrustPause
	}
	return wait
}

// untilLook returns the time until an idle tick next notices that the clock was set: more than 0, and IdleMax at most. All
// ticks of a process wake at the same instants, because the Go runtime watches a thread that has gone to sleep in the
// kernel, with some fifty wakes of its own in the next ten milliseconds, and watches many with as many as one. The
// instants are a quarter of a second away from whole seconds, at which most launches are due.
func untilLook(now time.Time) time.Duration {
	return IdleMax - time.Duration(now.Add(IdleMax/2).UnixNano())%IdleMax
}
