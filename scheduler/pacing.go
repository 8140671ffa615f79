package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// pacing says how long the loop may wait for company, which makes fewer and larger commits. Ticks are decided ahead, so
// nothing waits for a decision as long as much of the lead is left; and an outcome that frees nothing is only a record.
// Whatever somebody waits for has the pauses of minPacing.
type pacing struct {
	// decisions is the shortest time between two steps that only decide ticks.
	decisions time.Duration
	// outcomes is how long an outcome for which nothing waits may wait for others before it causes a commit. So many
	// runs more may be launched again after a crash.
	outcomes time.Duration
}

// minPacing is what a scheduler has that is not ahead, and the patience with outcomes that something waits for.
var minPacing = pacing{decisions: 10 * time.Millisecond, outcomes: 5 * time.Millisecond}

// pacingFor returns the pacing for a lead: a fifth of it, up to 100 and 50 ms. In a cluster, which is ten seconds ahead, more
// than that gives hardly fewer commits.
func pacingFor(lead time.Duration) pacing {
	return pacing{
		decisions: max(minPacing.decisions, min(lead/5, 100*time.Millisecond)),
		outcomes:  max(minPacing.outcomes, min(lead/5, 50*time.Millisecond)),
	}
}

// patience returns how long the loop may wait for a proposal before it must step for another reason: for outcomes, or because
// the core wants it, whichever comes first.
func (g *gathering) patience() time.Duration {
	wait := time.Hour
	if g.wakeAt != 0 {
		// At most IdleMax, because the timer does not notice that the wall clock was set forward.
		wait = min(g.untilDecision(), pad.IdleMax)
	}
	if at, some := g.engine.outcomes.stepAt(g.outcomesPatience()); some {
		wait = min(wait, time.Until(at))
	}
	return max(0, wait)
}

// outcomesPatience returns how long an outcome that frees nothing by itself may wait now.
func (g *gathering) outcomesPatience() time.Duration {
	if g.awaits {
		return minPacing.outcomes
	}
	return g.pace.outcomes
}

// untilDecision returns how long the loop may rest before the step that the core asked for: until the pause since the last
// step is over, but not beyond the instant at which decisions would no longer be far ahead.
func (g *gathering) untilDecision() time.Duration {
	now := instant.Of(g.engine.opts.Clock.Now())
	since := time.Since(g.lastStep)
	rest := max(g.wakeAt.Sub(now), g.pace.decisions-since)
	rest = min(rest, max(g.latest, g.wakeAt).Sub(now))
	return max(rest, minPacing.decisions-since)
}
