package main

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestDemoAhead: the job that is due while the server is down is registered again when the planned instant is too near, or is
// over, and once more when that takes too long.
func TestDemoAhead(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		planned time.Duration   // from now
		takes   []time.Duration // of each registration
		want    time.Duration   // from the begin
	}{
		"in time":      {planned: 900 * ms, want: 900 * ms},
		"too near":     {planned: 400 * ms, takes: []time.Duration{20 * ms}, want: 1000 * ms},
		"over":         {planned: -400 * ms, takes: []time.Duration{20 * ms}, want: 1000 * ms},
		"slow as well": {planned: -400 * ms, takes: []time.Duration{600 * ms, 2000 * ms, 100 * ms}, want: 6600 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, takes := time.Now(), slices.Clone(c.takes)
				due, err := demoAhead(begun.Add(c.planned), func(time.Time) error {
					time.Sleep(takes[0]) // in the bubble
					takes = takes[1:]
					return nil
				})
				if got := due.Sub(begun); err != nil || got != c.want || len(takes) > 0 {
					t.Errorf("due after %s, want %s; %d registrations are missing, %v", got, c.want, len(takes), err)
				}
			})
		})
	}
}
