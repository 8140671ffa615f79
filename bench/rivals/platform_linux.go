package main

import (
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel kill a child when this program is gone, however that came about.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// sleepThread blocks the calling thread for a while, or for less when a signal comes. The kernel is to wake it on the
// nanosecond, instead of gathering wake-ups in windows of 50 microseconds.
func sleepThread(d time.Duration) {
	if d <= 0 {
		return
	}
	runtime.LockOSThread() // the precision belongs to the thread
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	timeout := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll(nil, &timeout, nil)
}
