//go:build !linux

package pad

import "time"

// alarm is a sleep that another goroutine can end, with the precision of Go's timers. It serves development on such
// systems: it keeps every promise about order, and misses the punctuality of Linux.
type alarm struct {
	rung  chan struct{}
	timer *time.Timer
}

func newAlarm() (*alarm, error) {
	return &alarm{rung: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}, nil
}

// sleep returns after d, or as soon as the alarm rings. A ring before the sleep counts.
func (a *alarm) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	a.timer.Reset(d)
	select {
	case <-a.rung:
	case <-a.timer.C:
	}
}

// ring ends the current sleep, or else the next one. It never blocks.
func (a *alarm) ring() { signal(a.rung) }

func (a *alarm) close() error { a.timer.Stop(); return nil }

// sharpenThread does nothing: these systems have no such setting.
func sharpenThread() {}
