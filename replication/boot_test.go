package replication

import (
	"math/rand/v2"
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
		w := &world{rng: rand.New(rand.NewPCG(testkit.Seed(t), 1))}
		clocktest.RunBoot(t, newSimNode(w, 0).boot, func(d time.Duration) { w.now += d })
	})
}
