package main

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// samples are durations of which exact percentiles are read.
type samples []time.Duration

// at returns the sample of a rank, by nearest rank: the smallest that at least so many in 100,000 are
// not above. The samples must be sorted. With none it is 0.
func (s samples) at(per100k int) time.Duration {
	return measure.Percentile(s, per100k)
}

// ranks are the places of a distribution that are told.
var ranks = []struct {
	key, label string
	per100k    int
}{
	{"min", "min", 0},
	{"p50", "p50", 50_000},
	{"p99", "p99", 99_000},
	{"p999", "p99.9", 99_900},
	{"max", "max", 100_000},
}

// spread adds the distribution of some samples, in milliseconds. It sorts them.
func (r *result) spread(key, label string, s samples) {
	slices.Sort(s)
	for _, rank := range ranks {
		r.figure(key+"_"+rank.key+"_ms", label+" "+rank.label, millis(s.at(rank.per100k)), "ms")
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
