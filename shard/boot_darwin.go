package shard

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bootClock reads a clock that goes on while the machine sleeps. On macOS that is the monotonic clock; the one
// that Go reads stands still during sleep.
func bootClock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("carillon: no monotonic clock: %v", err)) // every macOS since 10.12 has one
	}
	return time.Duration(ts.Nano())
}
