package shard

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/scheduler/clocktest"
)

// TestBootClock runs the suite of the clocks that measure how long a leader may launch on that of this system.
func TestBootClock(t *testing.T) {
	clocktest.RunBoot(t, bootClock, func(d time.Duration) { <-time.After(d) })
}
