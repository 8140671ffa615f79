package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepUntil blocks the thread until an instant of the wall clock.
func sleepUntil(at time.Time) {
	until := unix.NsecToTimespec(at.UnixNano())
	for unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}
