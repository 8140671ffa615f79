package dashboard

import (
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// bounds are spread so that both a millisecond and an outage can be seen.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute,
}

// boundSeconds are the bounds as histograms have them.
var boundSeconds = func() (list []float64) {
	for _, bound := range bounds {
		list = append(list, bound.Seconds())
	}
	return list
}()

// spread counts latenesses by the bounds, each apart from the smaller ones; the last count is
// beyond all bounds.
type spread struct {
	counts []uint64
	total  uint64
	max    time.Duration
}

// since is what was recorded between two states of one distribution.
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

// quantile returns about how late a share of what was recorded was at most; 0 if nothing was.
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
