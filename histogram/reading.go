package histogram

import (
	"slices"
	"time"
)

// Reading is a copy of the counts of a histogram, in seconds or in bytes. The zero value is the reading
// of an empty histogram. If it is taken during a Record, it may contain that value in Count but not yet
// in Sum.
type Reading struct {
	Count    uint64
	Sum, Max float64
	counts   []uint64 // by bucket, up to the last one that is not 0
	unit     float64  // of a bucket's values, in seconds or bytes
}

// read returns a reading. unit and exact are the units of the buckets and of the sum.
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

// Plus returns the reading of the values of both, which must be of the same unit. An empty reading adds nothing.
func (r Reading) Plus(other Reading) Reading {
	if len(r.counts) < len(other.counts) {
		r, other = other, r
	}
	r.counts = slices.Clone(r.counts)
	for i, n := range other.counts {
		r.counts[i] += n
	}
	r.Count, r.Sum, r.Max = r.Count+other.Count, r.Sum+other.Sum, max(r.Max, other.Max)
	return r
}

// Quantile returns a value that the share q, from 0 to 1, of the recorded values does not exceed; 0 if there
// are none. It is the upper end of a bucket, or Max if that is less: a lateness that is shown too small could
// hide that a promise is not kept.
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

// Within returns, for each of the bounds, the number of values that are at most that bound. The bounds
// must ascend. All values of a bucket count as its largest value, so a number may be too low and is never
// too high.
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

// isAbove reports whether a bucket has values above a bound. It allows for the rounding of bounds such
// as 0.1 s, which binary numbers cannot represent.
func (r Reading) isAbove(bucket int, bound float64) bool {
	const inexact = 1 + 1e-9
	return r.top(bucket) > bound*inexact
}

// Each calls fn for each bucket that is not empty, in ascending order, with the largest value of the
// bucket and its count.
func (r Reading) Each(fn func(top float64, n uint64)) {
	for i, n := range r.counts {
		if n > 0 {
			fn(r.top(i), n)
		}
	}
}

// top returns the largest value of a bucket, in seconds or bytes.
func (r Reading) top(bucket int) float64 { return float64(bucketTop(bucket)) * r.unit }

// Duration returns a number of seconds, as a Reading has it, as a duration.
func Duration(seconds float64) time.Duration {
	const half = 0.5 // to the nearest nanosecond
	return time.Duration(seconds*float64(time.Second) + half)
}
