//go:build !linux && !darwin

package carillon

import "time"

// processStart is what the clock of bootClock counts from.
var processStart = time.Now()

// bootClock reads the monotonic clock of Go. Where that stands still while the machine sleeps, so does a
// lease: let no node of a cluster sleep.
func bootClock() time.Duration { return time.Since(processStart) }
