// Package clocktest is the conformance suite for clocks: tests of what the scheduler needs of each. The machine's clock, that
// of embedded.Test and those of the simulations pass it. RunBoot is the same for the clocks by which a leader measures how
// long it may launch.
package clocktest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Clock is the interface that the suite tests; scheduler.Clock says what its method promises.
type Clock interface {
	Now() time.Time
}

// A Bed is a clock, and how a test moves it.
type Bed struct {
	Clock Clock
	// Pass lets so much time pass, and no more.
	Pass func(d time.Duration)
	// Set sets the wall clock forward by d, or back if d is negative, while no time passes. Nil: no test can set this clock.
	Set func(d time.Duration)
	// Alone says that the clock is for one goroutine, as that of a simulation, where nothing else runs while it moves.
	Alone bool
}

// Run tests the clocks that open makes, a new one for each test. Open registers its clean-up with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Bed) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// RunInBubble is Run with each test in a bubble of testing/synctest, for clocks that move by the time of the process.
func RunInBubble(t *testing.T, open func(t *testing.T) Bed) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.test(t, open(t)) })
		})
	}
}

var tests = []struct {
	name string
	test func(t *testing.T, b Bed)
}{
	{"stands while no time passes", stands},
	{"moves by the time that passes", moves},
	{"has every millisecond", hasMilliseconds},
	{"moves by what it is set", isSet},
	{"is read while it moves", isShared},
}

// stands: two readings of one instant are equal, so that all that one step decides has one time.
func stands(t *testing.T, b Bed) {
	first := b.Clock.Now()
	for range 100 {
		if now := b.Clock.Now(); !now.Equal(first) {
			t.Fatalf("no time has passed from %s to %s", first, now)
		}
	}
}

// moves: what a clock shows is neither early, as nothing may be launched before its time, nor late, as it would be then.
func moves(t *testing.T, b Bed) {
	for _, d := range []time.Duration{time.Millisecond, 999 * time.Millisecond, time.Second, time.Hour, 400 * 24 * time.Hour} {
		before := b.Clock.Now()
		b.Pass(d)
		after := b.Clock.Now()
		if passed := after.Sub(before); passed != d {
			t.Errorf("%s have passed, and the clock measures %s", d, passed)
		}
		if passed := instant.Of(after).Sub(instant.Of(before)); passed != d {
			t.Errorf("%s have passed, and the wall clock has moved by %s", d, passed)
		}
	}
}

// hasMilliseconds: the unit of schedules is the millisecond, so a clock that is coarser would launch late.
func hasMilliseconds(t *testing.T, b Bed) {
	last := instant.Of(b.Clock.Now())
	for range 2000 {
		b.Pass(time.Millisecond)
		now := instant.Of(b.Clock.Now())
		if now != last+1 {
			t.Fatalf("a millisecond after %s it is %s", last.Time(), now.Time())
		}
		last = now
	}
}

// isSet: the engine has to notice a wall clock that is set forward or back, and time goes on from there.
func isSet(t *testing.T, b Bed) {
	if b.Set == nil {
		t.Skip("no test can set this clock")
	}
	b.Pass(10 * 24 * time.Hour) // so that no clock is set to before its beginning
	for _, d := range []time.Duration{time.Hour, -time.Hour, -24 * time.Hour, time.Millisecond} {
		before := instant.Of(b.Clock.Now())
		b.Set(d)
		if now := instant.Of(b.Clock.Now()); now.Sub(before) != d {
			t.Errorf("set by %s, the clock moves by %s", d, now.Sub(before))
		}
		b.Pass(time.Second)
		if now := instant.Of(b.Clock.Now()); now.Sub(before) != d+time.Second {
			t.Errorf("set by %s, and a second later the clock has moved by %s", d, now.Sub(before))
		}
	}
}

// isShared: goroutines beside the loop read the clock while it moves, and none sees it go back.
func isShared(t *testing.T, b Bed) {
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := b.Clock.Now()
			for range 1000 {
				now := b.Clock.Now()
				if now.Before(last) {
					t.Errorf("it is %s after %s", now, last)
				}
				last = now
			}
		})
	}
	if !b.Alone {
		for range 100 {
			b.Pass(time.Millisecond)
		}
	}
	readers.Wait()
}

// RunBoot tests a clock that measures intervals, as replication.Options.Boot promises. Pass lets at least so much time pass.
// The clock may be slow by a thousandth, as the clocks of machines drift; the rules of the lease allow for more than that.
func RunBoot(t *testing.T, boot func() time.Duration, pass func(d time.Duration)) {
	first := boot()
	if first <= 0 {
		t.Errorf("the clock shows %s; 0 stands for never", first)
	}
	const interval = 20 * time.Millisecond
	pass(interval)
	if passed := boot() - first; passed < interval-interval/1000 {
		t.Errorf("%s have passed, and the clock measures %s", interval, passed)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := boot()
			for range 1000 {
				now := boot()
				if now < last {
					t.Errorf("it is %s after %s", now, last)
				}
				last = now
			}
		})
	}
	readers.Wait()
}
