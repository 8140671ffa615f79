package replication

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/scheduler/clocktest"
	"github.com/carillon-io/carillon/testkit"
)

// TestBootClocks runs the suite of the clocks that measure how long a leader may launch on that of the process, which is the
// default, and on that of a simulated machine.
func TestBootClocks(t *testing.T) {
	t.Run("process", func(t *testing.T) {
		clocktest.RunBoot(t, Options{}.withDefaults().Boot, func(d time.Duration) { <-time.After(d) })
	})
	t.Run("simulated", func(t *testing.T) {
		g := newGround(plan{seed: testkit.Seed(t)})
		clocktest.RunBoot(t, newMachine(g, 0).boot, func(d time.Duration) { g.now += d })
	})
}
