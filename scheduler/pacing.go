package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// pacing says how long the loop may wait for company, which makes fewer and larger commits. Ticks are decided ahead, so
// nothing waits for a decision as long as much of the lead is left; and an outcome that frees nothing is only a record.
// What a caller or a run waits for has the pauses of minPacing.
type pacing struct {
	// decisions is the shortest time between two steps that only decide ticks.
	decisions time.Duration
	// outcomes is how long an outcome for which nothing waits may wait for others before it causes a commit. So many
	// runs more may be launched again after a crash.
	outcomes time.Duration
	// rounds are when it steps for outcomes and decisions that may wait.
	rounds rounds
}

// minPacing is what a scheduler has that is not ahead, and the patience with outcomes that something waits for.
var minPacing = pacing{decisions: 10 * time.Millisecond, outcomes: 5 * time.Millisecond}

// Bounds of the waits that pacingFor returns. One shard alone decides ten times a second at least, and has each outcome in the
// log after 50 ms. Several shards of one process would make as many times the commits for the same runs, so each waits longer:
// for its decisions up to a tenth of the lead, and for outcomes up to five times as long, which is how long a run has to have
// ended, at most, to be launched again after a crash.
const (
	decisionsOfOne = 100 * time.Millisecond
	outcomesOfOne  = 50 * time.Millisecond
	outcomesMost   = 5 * outcomesOfOne
)

// pacingFor returns the pacing for a lead, of a shard of so many: a fifth of the lead, up to the bounds. In a cluster, which
// is ten seconds ahead, more than that gives hardly fewer commits.
func pacingFor(lead time.Duration, shard uint32, shards int) pacing {
	company := time.Duration(max(shards, 1))
	decisions := max(decisionsOfOne, min(company*decisionsOfOne, lead/10))
	outcomes := max(outcomesOfOne, min(company*outcomesOfOne, outcomesMost, lead/10))
	p := pacing{
		decisions: max(minPacing.decisions, min(lead/5, decisions)),
		outcomes:  max(minPacing.outcomes, min(lead/5, outcomes)),
	}
	if shards > 1 {
		p.rounds = roundsFor(p.outcomes, shard, shards)
	}
	return p
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

// outcomesPatience returns the pacing for outcomes that free nothing by themselves, as of now.
func (g *gathering) outcomesPatience() pacing {
	if g.awaits {
		return minPacing
	}
	return g.pace
}

// untilDecision returns how long the loop may rest before the step that the core asked for: until the pause since the last
// step is over and a round comes, but not beyond the instant at which decisions would no longer be far ahead.
func (g *gathering) untilDecision() time.Duration {
	now := instant.Of(g.engine.opts.Clock.Now())
	since := time.Since(g.lastStep)
	rest := g.pace.rounds.wait(time.Now(), max(g.wakeAt.Sub(now), g.pace.decisions-since))
	rest = min(rest, max(g.latest, g.wakeAt).Sub(now))
	return max(rest, minPacing.decisions-since)
}
