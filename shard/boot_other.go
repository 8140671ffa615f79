//go:build !linux && !darwin

package shard

import "time"

// processStart is the origin of bootClock.
var processStart = time.Now()

// bootClock reads Go's monotonic clock. Where that clock stands still while the machine sleeps, a lease does
// too, so no node of a cluster may sleep there.
func bootClock() time.Duration { return time.Since(processStart) }
