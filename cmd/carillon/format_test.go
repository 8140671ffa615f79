package main

import (
	"testing"
	"time"
)

func TestShowDistance(t *testing.T) {
	for want, d := range map[string]time.Duration{"in 0ms": 0, "in 1h59m": 2*time.Hour - time.Second, "1m5s ago": -65 * time.Second} {
		if got := showDistance(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	sorted := make([]time.Duration, 100)
	for i := range sorted {
		sorted[i] = time.Duration(i + 1)
	}
	for percent, want := range map[int]time.Duration{0: 1, 1: 1, 50: 50, 99: 99, 100: 100} {
		if got := percentile(sorted, percent); got != want {
			t.Errorf("p%d: got %d, want %d", percent, got, want)
		}
	}
	if got := percentile(sorted[:1], 99); got != 1 {
		t.Errorf("p99 of one value: got %d, want it", got)
	}
}

func TestShowCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -1000: "-1,000"} {
		if got := showCount(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
