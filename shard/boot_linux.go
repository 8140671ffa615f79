package shard

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bootClock reads a clock that goes on while the machine sleeps.
func bootClock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("carillon: no boot clock: %v", err)) // every Linux has one
	}
	return time.Duration(ts.Nano())
}
