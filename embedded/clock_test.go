package embedded_test

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/scheduler/clocktest"
)

// TestClock runs the suite of the clocks on that of [embedded.Test].
func TestClock(t *testing.T) {
	clocktest.Run(t, func(t *testing.T) clocktest.Bed {
		s, err := embedded.NewTest(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return clocktest.Bed{Clock: s, Pass: s.Advance}
	})
}
