package pad

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a sleep that another goroutine can end. It polls an event counter of the kernel with a time-out in
// nanoseconds. A timer of Go would be late whenever all cores are busy: see tick.go. The counter is of the kernel, so
// that a ring reaches a thread that sleeps in the kernel, and is not lost if the thread is not asleep yet.
type alarm struct {
	fd int

	mu       sync.RWMutex // read-locked by a ring, so that close waits for it
	isClosed bool         // the number fd may be another file's by now
}

func newAlarm() (*alarm, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make the tick's alarm: %w", os.NewSyscallError("eventfd", err))
	}
	return &alarm{fd: fd}, nil
}

// sleep returns after d, or as soon as the alarm rings. A ring before the sleep counts. It may also return early, when
// a signal interrupts the call: the caller computes again how long to sleep.
func (a *alarm) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timeout := unix.NsecToTimespec(int64(d))
	n, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}, &timeout, nil)
	if n > 0 {
		var count [8]byte
		_, _ = unix.Read(a.fd, count[:])
	}
}

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
// of 50 microseconds. Best effort: if it fails, launches are up to that much later. The calling goroutine must be
// locked to its thread, because the setting belongs to the thread.
func sharpenThread() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}
