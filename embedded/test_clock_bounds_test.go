package embedded_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/testkit"
)

// TestSpendIsASum that does not overflow, and none of it is negative.
func TestSpendIsASum(t *testing.T) {
	test := newTest(t, embedded.Options{})
	for name, spent := range map[string][]time.Duration{"long": {math.MaxInt64, math.MaxInt64}, "back": {-time.Hour}} {
		h := func(context.Context, embedded.Run) error {
			for _, d := range spent {
				test.Spend(d)
			}
			return nil
		}
		if err := test.Handle(name, h); err != nil {
			t.Fatal(err)
		}
		put(t, test, embedded.Job{Name: name, Schedule: "@every 1h", Target: embedded.Call(name), AttemptTimeout: client.Duration(2 * time.Minute), Retry: soon(1)})
	}
	test.Advance(90 * time.Minute)
	expect(t, history(t, test, "long"), "13:00:00 dead: no answer within 2m0s")
	expect(t, history(t, test, "back"), `13:00:00 dead: handler "back" panicked: embedded: Spend(-1h0m0s): the clock of a test goes forward only`)
}

// TestStartOfTheClock: no clock stands before 1970, as the zero time does.
func TestStartOfTheClock(t *testing.T) {
	for _, start := range []time.Time{{}, time.Unix(0, -1)} {
		_, err := embedded.NewTest(start, embedded.Options{})
		testkit.Refuses(t, err, "want 1970 or later")
	}
	test, err := embedded.NewTest(time.Unix(0, 0), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Close(); err != nil {
		t.Error(err)
	}
}
