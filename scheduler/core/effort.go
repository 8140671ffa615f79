package core

import (
	"github.com/carillon-io/carillon/instant"
)

// The work of a step is bounded, as its bytes are, so that no step delays the next commit. Evaluations of schedules
// take the most time in a step, so the steps of their searches are counted. Work beyond the effort of a step is left to
// the next steps.

const (
	// effortMax is the effort that one step may spend on schedules. A unit of effort is about a tenth of a
	// microsecond, so this is six to ten milliseconds. The last decision of a step may exceed it by the cost of its
	// missed ticks, and each of the searches by that of [schedule.StepsMax]. A larger one delays replies when many costly schedules are due; a smaller one spreads a herd over
	// more commits.
	effortMax = 60_000
	// stepsOfEffort is how many steps of a search are a unit of effort.
	stepsOfEffort = 5
	// compileEffort is the cost of compiling a schedule.
	compileEffort = 100
	// decisionEffort is the cost of a decision besides its evaluations.
	decisionEffort = 5
	// walkSlack is how many ticks more than wanted a walk may meet before it starts again from a nearer instant.
	walkSlack = 64
)

// effort counts the work of a step on schedules. All profiles share one meter, because the step is what is bounded,
// not the single job.
type effort struct {
	spent int // in this step
	most  int // bound of a step
}

// isSpent reports whether the step has used up its effort. What is in progress is finished all the same.
func (e *effort) isSpent() bool { return e.spent >= e.most }

// isHalfSpent reports whether the step has used up what proposals may spend.
func (e *effort) isHalfSpent() bool { return e.spent >= e.most/2 }

// leaveHalf leaves half of the effort to what follows, whatever was spent before.
func (e *effort) leaveHalf() { e.spent = min(e.spent, e.most/2) }

// spend counts a search that took some steps.
func (e *effort) spend(steps int) { e.spent += 1 + steps/stepsOfEffort }

// newest returns the first of the newest ticks of a job between low and last, at most the given number, and how many
// they are; last is a tick. It walks forward through stretches that begin further and further back, because a step
// back costs twenty steps forward.
func (e *profileEntry) newest(r *hotRow, low, last instant.Millis, most uint32, scratch *[]instant.Millis) (first instant.Millis, n uint32) {
	first, n = last, 1
	before, ok := e.latest(r, low-1, last-1)
	if n >= most || !ok {
		return first, n
	}
	span := max(1, (last-before)*instant.Millis(most))
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

// walk lists the ticks in [from, to), and reports whether the list is complete: it stops at the given number.
func (e *profileEntry) walk(r *hotRow, from, to instant.Millis, most int, list []instant.Millis) (_ []instant.Millis, all bool) {
	for at, ok := e.next(r, from-1); ok && at < to; at, ok = e.next(r, at) {
		if len(list) == most {
			return list, false
		}
		list = append(list, at)
	}
	return list, true
}
