package histogram

import "time"

// Reading is a copy of what a histogram has counted, in seconds or in bytes. The zero value is one of
// nothing. Under concurrent recording it may be between two records: the count without the sum.
type Reading struct {
	Count    uint64
	Sum, Max float64
	counts   []uint64 // by bucket, up to the last that has any
	unit     float64  // of the buckets
}

func (b *buckets) read(unit, exact float64) Reading {
	r := Reading{unit: unit, Sum: float64(b.sum.Load()) * exact, Max: float64(b.max.Load()) * exact}
	counts := make([]uint64, bucketCount)
	last := 0
	for i := range counts {
		if counts[i] = b.counts[i].Load(); counts[i] > 0 {
			r.Count += counts[i]
			last = i + 1
		}
	}
	r.counts = counts[:last]
	return r
}

// Quantile returns a value that the given share of those recorded does not exceed, 0 if there are none.
func (r Reading) Quantile(q float64) float64 {
	rank := uint64(q*float64(r.Count) + 0.5)
	var seen uint64
	for i, n := range r.counts {
		if seen += n; n > 0 && seen >= rank {
			return min(r.Max, r.top(i))
		}
	}
	return r.Max
}

// Within returns how many values were at most each of the bounds, which are in ascending order. A bucket
// counts where its largest value is.
func (r Reading) Within(bounds []float64) []uint64 {
	within := make([]uint64, len(bounds))
	next, seen := 0, uint64(0)
	for b, n := range r.counts {
		for next < len(bounds) && r.isAbove(b, bounds[next]) {
			within[next] = seen
			next++
		}
		seen += n
	}
	for ; next < len(bounds); next++ {
		within[next] = seen
	}
	return within
}

// isAbove tells whether a bucket has values above a bound. Bounds of 0.1 s and the like are not exact.
func (r Reading) isAbove(bucket int, bound float64) bool {
	const inexact = 1 + 1e-9
	return r.top(bucket) > bound*inexact
}

// Each calls fn for the buckets that have counted something, in ascending order, with the largest value of
// each.
func (r Reading) Each(fn func(top float64, n uint64)) {
	for i, n := range r.counts {
		if n > 0 {
			fn(r.top(i), n)
		}
	}
}

func (r Reading) top(bucket int) float64 { return float64(bucketTop(bucket)) * r.unit }

// Duration returns a number of seconds as a duration.
func Duration(seconds float64) time.Duration {
	const half = 0.5 // to the nearest nanosecond
	return time.Duration(seconds*float64(time.Second) + half)
}
