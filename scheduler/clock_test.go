package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/scheduler/clocktest"
	"github.com/carillon-io/carillon/testkit"
)

// TestClocks runs the suite of the clocks on the machine's, in a bubble where time passes at once, and on those of the
// simulations.
func TestClocks(t *testing.T) {
	t.Run("SystemClock", func(t *testing.T) {
		clocktest.RunInBubble(t, func(*testing.T) clocktest.Bed { return clocktest.Bed{Clock: SystemClock{}, Pass: testkit.Pass} })
	})
	t.Run("sim", func(t *testing.T) {
		clocktest.Run(t, func(t *testing.T) clocktest.Bed {
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
			move := func(d time.Duration) { s.now = s.now.Add(d) }
			return clocktest.Bed{Clock: s, Pass: move, Set: move, Alone: true}
		})
	})
	t.Run("world", func(t *testing.T) {
		clocktest.Run(t, func(*testing.T) clocktest.Bed {
			w := new(world)
			return clocktest.Bed{
				Clock: w, Alone: true,
				Pass: func(d time.Duration) { w.passed += d.Milliseconds() },
				Set:  func(d time.Duration) { w.offset += d.Milliseconds() },
			}
		})
	})
}
