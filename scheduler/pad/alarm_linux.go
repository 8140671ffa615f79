package pad

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// alarm is a sleep that another goroutine can end. It polls an event counter of the kernel with a time-out in
// nanoseconds. A timer of Go would be late whenever all cores are busy: see tick.go. The counter is of the kernel, so
// that a ring reaches a thread that sleeps in the kernel, and is not lost if the thread is not asleep yet.
type alarm struct {
	fd            int
	hasSpareProcs bool // as of its beginning

	mu       sync.RWMutex // read-locked by a ring, so that close waits for it
	isClosed bool         // the number fd may be another file's by now
}

func newAlarm() (*alarm, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make the tick's alarm: %w", os.NewSyscallError("eventfd", err))
	}
	return &alarm{fd: fd, hasSpareProcs: hasSpareProcs()}, nil
}

// sleep returns after d, or as soon as the alarm rings. A ring before the sleep counts. It may also return early, when
// a signal interrupts the call: the caller computes again how long to sleep.
func (a *alarm) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if a.poll(d) {
		var count [8]byte
		_, _ = unix.Read(a.fd, count[:])
	}
}

// quietMost is the longest sleep of which the Go runtime is not told: see pollQuietly. It is that of the monitor of the runtime: when
// the last P is idle, as after a longer sleep of the tick, the monitor sleeps too, and begins to poll every 20 µs again when it wakes.
const quietMost = 10 * time.Millisecond

// poll waits until the alarm rings, but no longer than d, and reports whether it rang.
func (a *alarm) poll(d time.Duration) (rang bool) {
	if d <= quietMost && a.hasSpareProcs {
		return a.pollQuietly(d)
	}
	timeout := unix.NsecToTimespec(int64(d))
	n, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}, &timeout, nil)
	return n > 0
}

// pollQuietly does what poll does, and does not tell the Go runtime that the thread sleeps.
//
// The runtime watches a thread that it knows to be in a system call, and takes its P away when other goroutines could use that:
// it polls every 20 µs for some milliseconds, which costs as much as the launches of a tick that sleeps a thousand times a second.
// Here the thread keeps its P, which is no loss where there are more of them than processors. Whatever stops the world does not
// wait for the sleep: the signal with which the runtime interrupts a goroutine ends it, and is sent until the goroutine stops.
func (a *alarm) pollQuietly(d time.Duration) (rang bool) {
	timeout := unix.NsecToTimespec(int64(d))
	file := unix.PollFd{Fd: int32(a.fd), Events: unix.POLLIN}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&file)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return errno == 0 && n > 0
}

// hasSpareProcs reports whether goroutines could run on all processors while a few threads sleep with their Ps.
func hasSpareProcs() bool { return runtime.GOMAXPROCS(0) >= 2*runtime.NumCPU() }

// ring ends the current sleep, or else the next one. It never blocks. The write fails only if the counter is at its
// maximum, and then a ring is waiting already. After close it does nothing: attempts of a pad that was disarmed still
// end, and free places for which their lanes ring.
func (a *alarm) ring() {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.isClosed {
		return
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(a.fd, one[:])
}

// close frees the counter. No sleep may be under way.
func (a *alarm) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isClosed = true
	return unix.Close(a.fd)
}

// sharpenThread asks the kernel to wake the calling thread on the nanosecond, instead of gathering wake-ups in windows
// of 50 microseconds. Best effort: if it fails, launches are up to that much later. The setting belongs to the thread: a goroutine
// that may have changed threads calls it again.
func sharpenThread() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}
