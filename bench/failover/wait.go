package main

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is the pause between two looks at what is waited for. What is measured to it is this coarse. A smaller
// value would load the processes that are measured.
const lookEvery = 10 * time.Millisecond

// until waits for a condition, whose error says what is still missing. It asks at least once, and the error at the end
// has the last reason.
func until(ctx context.Context, most time.Duration, look func() error) error {
	return untilEvery(ctx, lookEvery, most, look)
}

// untilEvery does so with another pause between two looks.
func untilEvery(ctx context.Context, pause, most time.Duration, look func() error) error {
	deadline := time.Now().Add(most)
	for {
		err := look()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s: %w", most, err)
		}
		if err := rest(ctx, pause); err != nil {
			return err
		}
	}
}

// rest waits, unless the program is to end. A negative duration is no wait.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
