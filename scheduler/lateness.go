package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Lateness summarizes how late something was, or how long it waited, since the start of the process. The quantiles are
// as exact as the buckets of the histogram.
type Lateness struct {
	Count                    uint64
	P50, P90, P99, P999, Max time.Duration

	Sum    time.Duration
	Spread histogram.Reading // the whole distribution
}

// latenessOf summarizes a histogram.
func latenessOf(h *histogram.Times) Lateness { return summarize(h.Read()) }

// plus summarizes what both summarize.
func (l Lateness) plus(other Lateness) Lateness { return summarize(l.Spread.Plus(other.Spread)) }

// summarize returns the summary of a distribution.
func summarize(r histogram.Reading) Lateness {
	quantile := func(q float64) time.Duration { return histogram.Duration(r.Quantile(q)) }
	return Lateness{
		Count: r.Count, P50: quantile(0.5), P90: quantile(0.9), P99: quantile(0.99),
		P999: quantile(0.999), Max: histogram.Duration(r.Max), Sum: histogram.Duration(r.Sum), Spread: r,
	}
}
