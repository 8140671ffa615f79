package histogram

import (
	"math/rand/v2"
	"slices"
	"sync"
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
	if i := bucketOf(1<<64 - 1); i >= bucketCount {
		t.Errorf("bucket %d is beyond the end", i)
	}
}

func TestQuantilesAgainstSortedSamples(t *testing.T) {
	var h Times
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(rand.ExpFloat64() * float64(time.Millisecond))
		h.Record(d)
		all = append(all, d)
	}
	slices.Sort(all)
	r := h.Read()
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))-1]
		if got := Duration(r.Quantile(q)); float64(got) < 0.85*float64(want) || float64(got) > 1.15*float64(want)+1000 {
			t.Errorf("quantile %v: %s, want about %s", q, got, want)
		}
	}
	if Duration(r.Max) != all[len(all)-1] {
		t.Error("the maximum is not exact")
	}
}

// TestWithin: what was recorded is counted under the bounds that it does not exceed, to within the width of a
// bucket.
func TestWithin(t *testing.T) {
	var h Times
	for _, d := range []time.Duration{-time.Second, 200 * time.Microsecond, 900 * time.Microsecond, 4 * time.Millisecond, 90 * time.Millisecond, 45 * time.Second, time.Hour} {
		h.Record(d)
	}
	r := h.Read()
	bounds := []float64{0.00025, 0.0005, 0.001, 0.005, 0.1, 10, 60, 600}
	if got, want := r.Within(bounds), []uint64{2, 2, 3, 4, 5, 5, 6, 6}; !slices.Equal(got, want) {
		t.Errorf("%v were within %v, want %v", got, bounds, want)
	}
	if sum := Duration(r.Sum); r.Count != 7 || sum < time.Hour+45*time.Second || sum > time.Hour+46*time.Second {
		t.Errorf("%d recorded, %s together", r.Count, sum)
	}
	if none := new(Times).Read(); none.Quantile(0.5) != 0 || none.Within(bounds)[7] != 0 {
		t.Errorf("an empty histogram has something: %+v", none)
	}
}

// TestSizesCountOneByOne: small sizes have a bucket each, and many may record at a time.
func TestSizesCountOneByOne(t *testing.T) {
	var h Sizes
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 1000 {
				h.Record(n % 8)
			}
		})
	}
	all.Wait()
	r, tops := h.Read(), 0
	r.Each(func(top float64, n uint64) {
		if top != float64(tops) || n != 500 {
			t.Errorf("%d of up to %v bytes, want 500 of %d", n, top, tops)
		}
		tops++
	})
	if r.Count != 4000 || r.Sum != 4*125*28 || r.Max != 7 || tops != 8 {
		t.Errorf("%d sizes, %v together, up to %v, in %d buckets", r.Count, r.Sum, r.Max, tops)
	}
}

func BenchmarkRecord(b *testing.B) {
	var h Times
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(time.Duration(i) * time.Microsecond)
	}
}
