package testkit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

const (
	// Patience is how long Until, Retry and Receive wait before they fail the test: a minute, or three under the race detector. It
	// is far more than a slow machine needs, as a test that passes never waits for all of it.
	Patience = slowdown * time.Minute

	pollMin = time.Millisecond
	pollMax = 20 * time.Millisecond
	tryMax  = time.Second // of one try of Retry
)

// Until polls until holds returns true, for Patience at most; then it ends the test, which fails for want of what. It is for
// conditions that nothing signals, and is called from the test's own goroutine.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if !Poll(ctx, holds) {
		t.Fatalf("after %s still not: %s", Patience, what)
	}
}

// Retry repeats a call until it returns no error, as clients do while a cluster elects; each call has a second. After
// Patience it ends the test, which fails with the last error. It is called from the test's own goroutine.
func Retry(t testing.TB, what string, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var err error
	succeeds := func() bool {
		one, cancel := context.WithTimeout(ctx, tryMax)
		defer cancel()
		err = call(one)
		return err == nil
	}
	if !Poll(ctx, succeeds) {
		t.Fatalf("after %s still not: %s: %v", Patience, what, err)
	}
}

// Receive returns the next value of a channel. If none comes for Patience, it ends the test. It is called from the test's own
// goroutine.
func Receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatalf("nothing came in %s", Patience)
		panic("unreachable")
	}
}

// Poll calls holds until it returns true or ctx ends, and reports which it was. It is for tests with a bound of their own, and
// for those that expect a condition not to come true. The pauses grow from a millisecond to twenty.
func Poll(ctx context.Context, holds func() bool) bool {
	for pause := pollMin; !holds(); pause = min(2*pause, pollMax) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
	return true
}

// Pass lets time pass in a bubble of testing/synctest, and returns when all goroutines of the bubble have done what
// they had to do by then. No real time passes. It panics outside a bubble.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
