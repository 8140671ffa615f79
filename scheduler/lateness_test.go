package scheduler

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestBucketsAreContiguous(t *testing.T) {
	last := -1
	for v := range uint64(1 << 16) {
		i := bucketOf(v)
		if i != last && i != last+1 || v > bucketTop(i) || i > 0 && v <= bucketTop(i-1) {
			t.Fatalf("%d is in bucket %d, after %d", v, i, last)
		}
		last = i
	}
	if i := bucketOf(1 << 62); i >= len(histogram{}.counts) {
		t.Errorf("bucket %d is beyond the end", i)
	}
}

func TestQuantilesAgainstSortedSamples(t *testing.T) {
	var h histogram
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(rand.ExpFloat64() * float64(time.Millisecond))
		h.record(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))-1]
		if got := h.quantile(q); float64(got) < 0.85*float64(want) || float64(got) > 1.15*float64(want)+1000 {
			t.Errorf("quantile %v: %s, want about %s", q, got, want)
		}
	}
	if h.summary().Max != all[len(all)-1] {
		t.Error("the maximum is not exact")
	}
}
