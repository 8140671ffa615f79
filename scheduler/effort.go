package scheduler

import "github.com/carillon-io/carillon/job"

// A step is bounded in work as it is in bytes, so that no step keeps the next commit waiting: what takes time
// in a step are the evaluations of schedules, and each is counted before it is made. What is left over when
// the effort of a step is spent belongs to the next steps.

const (
	// effortMax is how much one step may spend on schedules. A unit is about a tenth of a microsecond, so this
	// is six to ten milliseconds. The last decision of a step may go beyond it, by what its missed ticks take.
	effortMax = 60_000
	// latestFactor is how much dearer the last tick before an instant is than the first one after it.
	latestFactor = 20
	// What an evaluation costs, for an expression in UTC or an interval.
	plainEffort = 1
	// zoneFactor and filterFactor are how much dearer it is in another zone, and with exclusions.
	zoneFactor, filterFactor = 2, 4
	// decisionEffort is what a decision costs besides its evaluations.
	decisionEffort = 5
	// walkSlack is how many ticks more than it looks for a walk meets before it begins anew, nearer.
	walkSlack = 64
)

// effort counts what a step spends on schedules.
type effort struct {
	spent int // in this step
	most  int // that a step may spend
}

func (e *effort) isSpent() bool { return e.spent >= e.most }

// costOf returns what an evaluation of a profile's schedule costs.
func costOf(p *job.Profile) int {
	cost := plainEffort * (1 + countLines(p.Spec.Expr))
	if p.Spec.Zone != "" {
		cost *= zoneFactor
	}
	if p.Spec.Exclude != "" {
		cost *= filterFactor
	}
	return cost
}

func countLines(text string) (n int) {
	for i := range len(text) {
		if text[i] == '\n' {
			n++
		}
	}
	return n
}

// spend counts evaluations of the schedule of a profile.
func (e *profileEntry) spend(evaluations int) {
	if e.meter != nil {
		e.meter.spent += evaluations * e.cost
	}
}

// newest returns the first of the newest ticks of a job from low up to last, a tick, and how many they are: at
// most so many. It walks forward through stretches that lie further and further back, because a step back
// costs twenty steps forward.
func (e *profileEntry) newest(r *hotRow, low, last job.Millis, most uint32, scratch *[]job.Millis) (first job.Millis, n uint32) {
	first, n = last, 1
	before, ok := e.latest(r, low-1, last-1)
	if n >= most || !ok {
		return first, n
	}
	span := max(1, (last-before)*job.Millis(most))
	for edge := last; n < most && edge > low; {
		start := max(low, edge-span)
		found, all := e.walk(r, start, edge, int(most-n)+walkSlack, (*scratch)[:0])
		*scratch = found
		if !all {
			span = max(1, span/4)
			continue
		}
		if k := len(found); k > 0 {
			fits := min(k, int(most-n))
			first, n = found[k-fits], n+uint32(fits)
		}
		if edge = start; len(found) < int(most-n)/2 {
			span *= 2
		}
	}
	return first, n
}

// walk lists the ticks in [from, to), and tells whether they are all: it gives up at so many.
func (e *profileEntry) walk(r *hotRow, from, to job.Millis, most int, list []job.Millis) (_ []job.Millis, all bool) {
	for at, ok := e.next(r, from-1); ok && at < to; at, ok = e.next(r, at) {
		if len(list) == most {
			return list, false
		}
		list = append(list, at)
	}
	return list, true
}
