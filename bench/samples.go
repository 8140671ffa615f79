package bench

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// samples are durations from which exact percentiles are computed. All values are kept: a histogram
// would be smaller, but would round the very values at the tail that matter.
type samples []time.Duration

// at returns a percentile by nearest rank: the smallest sample that at least per100k of 100,000 samples do not exceed.
// The samples must be sorted. Without samples it is 0. Nearest rank returns a value that was measured, and never one
// between two.
func (s samples) at(per100k int) time.Duration {
	return measure.Percentile(s, per100k)
}

// point is one percentile of a distribution. key is part of the keys in JSON, label of the text.
type point struct {
	key, label string
	value      time.Duration
}

// points sorts the samples and returns their percentiles.
func (s samples) points() []point {
	slices.Sort(s)
	return []point{
		{"min", "min", s.at(0)},
		{"p50", "p50", s.at(50_000)},
		{"p90", "p90", s.at(90_000)},
		{"p99", "p99", s.at(99_000)},
		{"p999", "p99.9", s.at(99_900)},
		{"p9999", "p99.99", s.at(99_990)},
		{"max", "max", s.at(100_000)},
	}
}
