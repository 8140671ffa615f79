package replication

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTicks: a loop runs once a period, drops what it was too slow for, and ends with its context.
func TestTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		begun, runs := time.Now(), 0
		for range ticks(ctx, 10*time.Millisecond) {
			if runs++; runs == 1 {
				<-time.After(50 * time.Millisecond) // of the five ticks meanwhile one is kept
			}
		}
		if took := time.Since(begun); runs != 5 || took != 95*time.Millisecond {
			t.Errorf("%d runs in %s", runs, took)
		}
	})
}
