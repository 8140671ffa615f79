package testkit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestPolls: a condition is asked for until it holds, and for no longer than the context lasts.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		Until(t, "ten seconds are over", func() bool { return time.Since(begin) >= 10*time.Second })
		if took := time.Since(begin); took > 10*time.Second+pollMax {
			t.Errorf("it took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if Poll(ctx, func() bool { return false }) {
			t.Error("what never holds is said to hold")
		}
		if took := time.Since(begin); took > 11*time.Second+2*pollMax {
			t.Errorf("it took %s", took)
		}
	})
}

// TestRetries: a call is repeated until it succeeds, and each has its own second.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		Retry(t, "the third call", func(ctx context.Context) error {
			if calls++; calls == 1 {
				<-ctx.Done()
			}
			if calls < 3 {
				return errors.New("not yet")
			}
			return ctx.Err()
		})
		if calls != 3 {
			t.Errorf("%d calls", calls)
		}
	})
}

// TestPassWaits: what other goroutines of the bubble do meanwhile is done when Pass returns.
func TestPassWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := false
		go func() {
			<-time.After(time.Hour)
			done = true
		}()
		if Pass(time.Hour); !done {
			t.Error("the goroutine has not run yet")
		}
	})
}
