//go:build !linux

package bench

import "time"

// sleepUntil blocks until an instant of the wall clock.
func sleepUntil(at time.Time) { time.Sleep(time.Until(at)) }
