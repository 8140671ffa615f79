package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// round is what was measured of one fault. Figures that cannot be had are absent, and not 0: a 0 would pass every
// bound.
type round struct {
	// scenario is the name of the fault that began the round.
	scenario string
	figures  map[figure]int64 // those that there are
	led      []int            // shards that the node led which the fault hit; only with several shards
	// The longest time between two acknowledged puts of each shard, before the program mended what was broken and from
	// then on; only with several shards.
	gaps, returns []time.Duration
	// The most ticks that a job of each shard has lost, of those that count for the figure missing; only with several shards.
	lost []int
}

// figure is the name of what is measured of a round: a time in nanoseconds, or a count.
type figure string

// The figures, in the order of the report.
const (
	firstLaunch  figure = "first launch"  // of the new leader, after the fault
	firstPut     figure = "first put"     // acknowledged of those sent after the fault, under the new leader if there is one
	putGap       figure = "put gap"       // longest time between two acknowledged puts
	ledGap       figure = "led gap"       // the same within a shard that the node led which the fault hit; of the worst of these
	otherGap     figure = "other gap"     // the same of the other shards
	returnGap    figure = "return gap"    // the same of all shards from when the node comes back, until the shards are spread again
	lateness     figure = "lateness"      // largest of the ticks that were due
	duplicates   figure = "duplicates"    // runs that arrived again
	farewells    figure = "farewells"     // launches by an old leader after the first of its successor
	lastFarewell figure = "last farewell" // how long after that first launch the last of them came
	epochs       figure = "epochs"        // leaderships that began
	missing      figure = "missing"       // ticks that never arrived, of the job that lost most; each overlap policy has one, and each of several shards
)

// Their order is that of the columns.
var figures = []figure{firstLaunch, firstPut, putGap, ledGap, otherGap, returnGap, lateness, duplicates, farewells, lastFarewell, epochs, missing}

// ofShards reports whether only a cluster with several shards has the figure.
func (f figure) ofShards() bool { return f == ledGap || f == otherGap || f == returnGap }

// isCount tells a count from a time.
func (f figure) isCount() bool {
	return f == duplicates || f == farewells || f == epochs || f == missing
}

// shown returns a value of the figure as a report has it.
func (f figure) shown(v int64) string {
	if f.isCount() {
		return strconv.FormatInt(v, 10)
	}
	return time.Duration(v).Round(time.Millisecond).String()
}

// span is a part of a history. Both ends belong to it.
type span struct{ from, until history.Instant }

// has reports whether an instant lies in the span.
func (s span) has(at history.Instant) bool { return s.from <= at && at <= s.until }

// measure returns the figures of each fault, in order, without those that only prepared another. A fault that was never
// over counts to the end. It only reads the history, so the figures of a run can be computed again from it.
func measure(h *history.History) []round {
	puts, ticks, repeats, late, reigns := h.AckedPuts(), h.Ticks(), h.Repeats(), h.Farewells(), h.Reigns()
	all := slices.Concat(puts...)
	slices.Sort(all)
	var rounds []round
	for _, f := range h.Faults {
		if f.Prepares {
			continue
		}
		s := span{f.From, f.Healed}
		r := round{scenario: f.Kind, figures: map[figure]int64{duplicates: count(repeats, s), epochs: int64(f.Epochs)}}
		if first, ok := firstLaunches(reigns, f, s); ok {
			r.figures[firstLaunch] = int64(first.Sub(f.From))
		}
		if f.Served <= f.Healed {
			r.figures[firstPut] = int64(f.Served.Sub(f.From))
		}
		if longest, ok := gap(all, s); ok {
			r.figures[putGap] = int64(longest)
		}
		if h.Shards > 1 {
			r.takeGaps(puts, f)
		}
		for _, d := range ticks {
			if s.has(d.Scheduled) {
				r.most(lateness, int64(d.Arrived.Sub(d.Scheduled)))
			}
		}
		r.takeFarewells(late, s)
		r.takeMissing(h, f)
		rounds = append(rounds, r)
	}
	return rounds
}

// takeMissing notes the ticks that never arrived: of the job that lost most, and of that job of each shard.
func (r *round) takeMissing(h *history.History, f history.Fault) {
	if h.Shards > 1 {
		r.lost = make([]int, h.Shards)
	}
	for job, n := range h.Missing(f.From, f.Healed) {
		r.most(missing, int64(n))
		if h.Shards > 1 {
			shard := history.ShardOf(job, h.Shards)
			r.lost[shard] = max(r.lost[shard], n)
		}
	}
}

// firstLaunches returns when each shard that a fault takes the leader of has seen a launch of the next one; not ok if one
// has not.
func firstLaunches(reigns [][]history.Reign, f history.Fault, s span) (last history.Instant, ok bool) {
	if !f.Takeover || reigns == nil {
		return 0, false
	}
	shards := f.Shards
	if len(shards) == 0 {
		for shard := range reigns {
			shards = append(shards, shard)
		}
	}
	for _, shard := range shards {
		of := reigns[shard][min(1, len(reigns[shard])):] // of the first, the logs may lack the begin
		i := slices.IndexFunc(of, func(r history.Reign) bool { return r.First != 0 && s.has(r.First) })
		if i < 0 {
			return 0, false
		}
		last = max(last, of[i].First)
	}
	return last, true
}

// takeGaps notes the gaps of each shard, and the longest of those that the victim led and of the others.
func (r *round) takeGaps(puts [][]history.Instant, f history.Fault) {
	r.led = f.Shards
	broken, mended := span{f.From, min(f.Mended, f.Healed)}, span{min(f.Mended, f.Healed), f.Healed}
	for shard, at := range puts {
		longest, later := gapIn(at, broken), gapIn(at, mended)
		r.gaps, r.returns = append(r.gaps, longest), append(r.returns, later)
		kind := otherGap
		if slices.Contains(f.Shards, shard) {
			kind = ledGap
		}
		r.most(kind, int64(longest))
		r.most(returnGap, int64(later))
	}
}

// gapIn returns the longest time without a put that lies in a span. Unlike gap it leaves out what lies outside, so that a
// gap of a fault is none of the return as well.
func gapIn(at []history.Instant, s span) (longest time.Duration) {
	last := s.from
	for _, i := range at {
		if i > last && s.has(i) {
			longest, last = max(longest, i.Sub(last)), i
		}
	}
	return max(longest, s.until.Sub(last))
}

// most raises a figure to a value.
func (r *round) most(f figure, v int64) { r.figures[f] = max(r.figures[f], v) }

// takeFarewells counts the launches of replaced leaders in a span. Unlike the other figures their number is there
// even if it is 0, because none is the best result.
func (r *round) takeFarewells(late []history.Farewell, s span) {
	r.figures[farewells] = 0
	for _, l := range late {
		if s.has(l.Arrived) {
			r.figures[farewells]++
			r.most(lastFarewell, int64(l.After))
		}
	}
}

// count returns how many instants lie in a span.
func count(at []history.Instant, s span) int64 {
	n := int64(0)
	for _, i := range at {
		if s.has(i) {
			n++
		}
	}
	return n
}

// gap returns the longest time between two neighbours that lies, at least in part, in a span. A gap counts with its
// whole length although a part of it lies outside the span, because clients felt all of it.
func gap(at []history.Instant, s span) (longest time.Duration, ok bool) {
	for i := 1; i < len(at); i++ {
		if at[i] >= s.from && at[i-1] <= s.until {
			longest, ok = max(longest, at[i].Sub(at[i-1])), true
		}
	}
	return longest, ok
}

// spread is the spread of one figure over the rounds of one scenario. Times are in nanoseconds.
type spread struct {
	Scenario string `json:"scenario"`
	Figure   figure `json:"figure"`
	Rounds   int    `json:"rounds"`
	Min      int64  `json:"min"`
	// With an even number of rounds it is the lower of the two in the middle.
	Median int64 `json:"median"`
	P99    int64 `json:"p99"`
	Max    int64 `json:"max"`
}

// spreads summarizes rounds by scenario, in the order of their first round.
func spreads(rounds []round) []spread {
	var names []string
	values := make(map[string]map[figure][]int64)
	for _, r := range rounds {
		if values[r.scenario] == nil {
			names = append(names, r.scenario)
			values[r.scenario] = make(map[figure][]int64)
		}
		for f, v := range r.figures {
			values[r.scenario][f] = append(values[r.scenario][f], v)
		}
	}
	var out []spread
	for _, name := range names {
		for _, f := range figures {
			if vs := values[name][f]; len(vs) > 0 {
				out = append(out, spreadOf(name, f, vs))
			}
		}
	}
	return out
}

// spreadOf takes exact nearest ranks. With a few rounds the p99 is the largest value.
func spreadOf(name string, f figure, vs []int64) spread {
	slices.Sort(vs)
	rank := func(percent int) int64 { return vs[max((len(vs)*percent+99)/100, 1)-1] }
	return spread{Scenario: name, Figure: f, Rounds: len(vs), Min: vs[0], Median: rank(50), P99: rank(99), Max: vs[len(vs)-1]}
}
