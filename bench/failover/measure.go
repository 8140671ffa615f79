package main

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// round is what was measured of one fault.
type round struct {
	scenario string
	figures  map[figure]time.Duration // those that there are
	repeats  int                      // runs that arrived again
	late     int                      // deliveries of a leader that was replaced
}

// figure is the name of what is measured of a round.
type figure string

// The figures, in the order of the report.
const (
	firstLaunch figure = "first launch" // of the new leader, after the fault
	firstPut    figure = "first put"    // acknowledged after the gap, counted from the fault
	putGap      figure = "put gap"      // longest time between two acknowledged puts
	lateness    figure = "lateness"     // largest of the ticks that were due
)

var figures = []figure{firstLaunch, firstPut, putGap, lateness}

// span is a part of a history.
type span struct{ from, until history.Instant }

func (s span) has(at history.Instant) bool { return s.from <= at && at <= s.until }

// measure returns the figures of each fault, in order. A fault that was never over counts to the end.
func measure(h *history.History) []round {
	puts, ticks, repeats, farewells, reigns := h.AckedPuts(), h.Ticks(), h.Repeats(), h.Farewells(), h.Reigns()
	var rounds []round
	for _, f := range h.Faults {
		s := span{f.From, f.Healed}
		r := round{scenario: f.Kind, figures: make(map[figure]time.Duration)}
		r.repeats, r.late = count(repeats, s), count(farewells, s)
		for _, reign := range reigns[min(1, len(reigns)):] { // of the first, the logs may lack the begin
			if f.Takeover && reign.First != 0 && s.has(reign.First) {
				r.figures[firstLaunch] = reign.First.Sub(f.From)
				break
			}
		}
		if longest, end := gap(puts, s); end != 0 {
			r.figures[firstPut], r.figures[putGap] = end.Sub(f.From), longest
		}
		for _, d := range ticks {
			if s.has(d.Scheduled) {
				r.figures[lateness] = max(r.figures[lateness], d.Arrived.Sub(d.Scheduled))
			}
		}
		rounds = append(rounds, r)
	}
	return rounds
}

func count(at []history.Instant, s span) int {
	n := 0
	for _, i := range at {
		if s.has(i) {
			n++
		}
	}
	return n
}

// gap returns the longest time between two neighbours that lies, at least in part, in a span, and when it
// ended; 0 if there is none.
func gap(at []history.Instant, s span) (longest time.Duration, end history.Instant) {
	for i := 1; i < len(at); i++ {
		if d := at[i].Sub(at[i-1]); at[i] >= s.from && at[i-1] <= s.until && d >= longest {
			longest, end = d, at[i]
		}
	}
	return longest, end
}

// spread is the spread of one figure over the rounds of one scenario.
type spread struct {
	Scenario string        `json:"scenario"`
	Figure   figure        `json:"figure"`
	Rounds   int           `json:"rounds"`
	Min      time.Duration `json:"min_ns"`
	Median   time.Duration `json:"median_ns"`
	P99      time.Duration `json:"p99_ns"`
	Max      time.Duration `json:"max_ns"`
}

// spreads summarizes rounds by scenario, in the order of their first round.
func spreads(rounds []round) []spread {
	var names []string
	values := make(map[string]map[figure][]time.Duration)
	for _, r := range rounds {
		if values[r.scenario] == nil {
			names = append(names, r.scenario)
			values[r.scenario] = make(map[figure][]time.Duration)
		}
		for f, d := range r.figures {
			values[r.scenario][f] = append(values[r.scenario][f], d)
		}
	}
	var out []spread
	for _, name := range names {
		for _, f := range figures {
			if ds := values[name][f]; len(ds) > 0 {
				out = append(out, spreadOf(name, f, ds))
			}
		}
	}
	return out
}

// spreadOf takes exact nearest ranks.
func spreadOf(name string, f figure, ds []time.Duration) spread {
	slices.Sort(ds)
	rank := func(percent int) time.Duration { return ds[max((len(ds)*percent+99)/100, 1)-1] }
	return spread{Scenario: name, Figure: f, Rounds: len(ds), Min: ds[0], Median: rank(50), P99: rank(99), Max: ds[len(ds)-1]}
}
