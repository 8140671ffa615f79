package bench

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The instants around a hand-over in which the gap in the launches of its shard is searched.
const (
	gapBefore = 100 * time.Millisecond
	gapAfter  = 2 * time.Second
)

// tell adds the lateness in the windows of both kinds, and the gaps.
func (l *rotation) tell(r *result, receipts []receipt) {
	calm, moving := l.lateness(receipts, l.calm), l.lateness(receipts, l.moving)
	var of [2]samples
	var p99 [2][]float64
	var ratios []float64
	for i := range calm {
		a, b := millis(calm[i].at(99_000)), millis(moving[i].at(99_000))
		p99[0], p99[1], ratios = append(p99[0], a), append(p99[1], b), append(ratios, b/a)
		of[0], of[1] = append(of[0], calm[i]...), append(of[1], moving[i]...)
	}
	r.spread("calm", "lateness, calm", of[0])
	r.spread("moving", "lateness while shards are handed over", of[1])
	r.extent("calm_p99_ms", "of the windows, calm, p99", p99[0], "ms")
	r.extent("moving_p99_ms", "of the windows with hand-overs, p99", p99[1], "ms")
	r.extent("ratio_p99", "with hand-overs to calm, p99", ratios, "")
	r.add("goal_ratio_p99", "goal, at most", handoverRatioGoal, "")
	arrivals := l.arrivals(receipts)
	var gaps, calmGaps, took []float64
	for _, one := range l.moves {
		gaps = append(gaps, millis(greatestGap(arrivals[one.shard], one.asked.Add(-gapBefore), one.asked.Add(gapAfter))))
		took = append(took, millis(one.done.Sub(one.asked)))
	}
	for _, w := range l.calm {
		for _, list := range arrivals {
			calmGaps = append(calmGaps, millis(greatestGap(list, w.to.Add(-gapBefore-gapAfter), w.to)))
		}
	}
	r.count("handovers", "hand-overs", len(l.moves))
	r.count("handovers_spread", "others, by which the nodes spread what they lead", int(l.epochs[1]-l.epochs[0])-len(l.moves))
	r.extent("gap_ms", "greatest gap in the launches of the shard", gaps, "ms")
	r.add("goal_gap_ms", "goal, at most", millis(handoverGapGoal), "ms")
	r.extent("calm_gap_ms", "the same where nothing is handed over", calmGaps, "ms")
	r.extent("took_ms", "from the request until a status names the new leader", took, "ms")
	count := l.window.judge(receipts)
	count.tellBroken(r)
}

// lateness returns the sorted lateness of the runs that were scheduled in each of some windows.
func (l *rotation) lateness(receipts []receipt, windows []span) []samples {
	all := make([]samples, len(windows))
	for _, one := range receipts {
		for i, w := range windows {
			if !one.scheduled.Before(w.from) && one.scheduled.Before(w.to) {
				all[i] = append(all[i], one.arrived.Sub(one.scheduled))
			}
		}
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// arrivals returns the times at which runs of each shard arrived, in order.
func (l *rotation) arrivals(receipts []receipt) map[uint32][]time.Time {
	all := make(map[uint32][]time.Time)
	for _, one := range receipts {
		shard := job.ShardOf(job.SlotOf("default", one.job), l.shards)
		all[shard] = append(all[shard], one.arrived)
	}
	for _, list := range all {
		slices.SortFunc(list, time.Time.Compare)
	}
	return all
}

// greatestGap returns the longest time between two arrivals, one after the other, that touches a span. The arrivals are in
// order.
func greatestGap(arrivals []time.Time, from, to time.Time) (longest time.Duration) {
	for i := 1; i < len(arrivals); i++ {
		if arrivals[i].After(from) && arrivals[i-1].Before(to) {
			longest = max(longest, arrivals[i].Sub(arrivals[i-1]))
		}
	}
	return longest
}
