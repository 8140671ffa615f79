package dashboard

import (
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// bounds are the bucket bounds of the charts. They range from a quarter of a millisecond to ten minutes, so that both
// punctual runs and an outage are visible. They are those of the classic histograms in package metrics, so that a
// chart and a graph of the same node agree.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute,
}

// boundSeconds has the bounds in seconds, the unit of package histogram.
var boundSeconds = func() (list []float64) {
	for _, bound := range bounds {
		list = append(list, bound.Seconds())
	}
	return list
}()

// spread is a distribution of lateness: counts[i] is the number of values above bounds[i-1] and up to bounds[i]; the
// last count has the values above all bounds. max is the largest value since the start, and bounds the estimates of
// quantiles in the last bucket.
type spread struct {
	counts []uint64
	// total is the sum of counts.
	total uint64
	max   time.Duration
}

// since returns what was recorded between two readings of one distribution. Both must be of one leadership, or the
// counts would not only grow; the recorder sees to that. max is that of after, because a largest value cannot be
// subtracted.
func since(before, after *scheduler.Lateness) spread {
	s := spread{counts: make([]uint64, len(bounds)+1), total: after.Count - before.Count, max: after.Max}
	was, is := before.Spread.Within(boundSeconds), after.Spread.Within(boundSeconds)
	var seen uint64
	for i := range bounds {
		within := is[i] - was[i]
		s.counts[i] = within - min(seen, within)
		seen = max(seen, within)
	}
	s.counts[len(bounds)] = s.total - min(seen, s.total)
	return s
}

// quantile returns an estimate of the lateness that the share q of the values does not exceed,
// interpolated within a bucket; 0 if there are no values. Within a bucket it assumes that values are spread evenly,
// so the error is at most the width of the bucket.
func (s *spread) quantile(q float64) time.Duration {
	if s.total == 0 {
		return 0
	}
	low, seen := time.Duration(0), 0.0
	rank := q * float64(s.total)
	for i, n := range s.counts[:len(bounds)] {
		if n > 0 && seen+float64(n) >= rank {
			share := (rank - seen) / float64(n)
			return min(s.max, low+time.Duration(share*float64(bounds[i]-low)))
		}
		seen += float64(n)
		low = bounds[i]
	}
	return s.max
}
