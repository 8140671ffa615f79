package shard

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bootClock reads a clock that goes on while the machine sleeps. The call cannot block, so the scheduler of the runtime need not
// know of it: it is read at each look at a lease.
func bootClock() time.Duration {
	var ts unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(fmt.Sprintf("carillon: no boot clock: %v", errno)) // every Linux has one
	}
	return time.Duration(ts.Nano())
}
