package core

import (
	"math"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Bounds of the pace at which missed ticks are fired, unless a rate is configured. They are those of the whole cluster, as the
// rate is.
const (
	catchupRateMin = 1_000.0  // runs a second
	catchupRateMax = 10_000.0 // runs a second
	catchupFactor  = 2        // times the usual rate
	// catchupBurst is how many seconds of the rate may be spent at once.
	catchupBurst = 0.1
	// usualMillis is the time constant of the usual rate: runs that are this old count 1/e of new ones.
	usualMillis = 60_000
	// usualKeptMillis is the shortest time between two writes of the usual rate.
	usualKeptMillis = 60_000
)

// pace is a token bucket whose rate follows how many ticks fire on time: targets are expected to bear twice their
// usual load for a while. The pace protects the targets, not the engine.
//
// The shards of a cluster share the rate that one shard with all of their jobs would have. A rate that is configured they
// share equally, otherwise each by its usual rate, and an idle one has a part of the least rate, since it may have missed
// ticks as well. A shard whose usual rate is not known counts as if it had that of this one.
type pace struct {
	fixed  float64 // runs a second of this shard; 0: follow the usual rate
	shards float64 // of the cluster
	others Usual
	// usual is the number of runs fired on time a second, smoothed over about a minute.
	usual float64
	fired int // ticks on time since mark
	mark  instant.Millis
	// tokens are the missed ticks that may be fired at once; filled is when tokens were last added.
	tokens float64
	filled instant.Millis
	kept   float64 // the usual rate as it is in the store
	keptAt instant.Millis
}

// Usual is the usual rate of the other shards of the cluster, as far as it is known. The zero value is that none is.
type Usual struct {
	Rate   float64 // their runs on time a second, added up; not negative
	Shards int     // how many of them have told theirs; at most all but this one
}

// newPace returns a pace that may pay at once. A rate of 0 makes it follow the usual rate. The shards of a cluster share
// what is configured; 0 means one.
func newPace(rate, shards int, now instant.Millis) pace {
	all := float64(max(1, shards))
	p := pace{fixed: float64(rate) / all, shards: all, mark: now, filled: now, keptAt: now}
	p.tokens = p.burst()
	return p
}

// restore sets the usual rate to the stored one. Without it, an engine that starts after an outage would pay at the
// lowest rate, whatever its targets are used to.
func (p *pace) restore(usual float64) {
	p.usual, p.kept = usual, usual
	p.tokens = p.burst()
}

// rate returns how many missed ticks may be fired per second.
func (p *pace) rate() float64 {
	if p.fixed > 0 {
		return p.fixed
	}
	unknown := max(0, p.shards-1-float64(p.others.Shards))
	total := p.usual*(1+unknown) + p.others.Rate
	idle := catchupRateMin / catchupFactor / p.shards // what each shard counts besides its usual rate
	return min(max(catchupFactor*total, catchupRateMin), catchupRateMax) * (p.usual + idle) / (total + p.shards*idle)
}

// burst returns the most tokens. There is at least one, otherwise a rate below ten a second could never pay.
func (p *pace) burst() float64 { return max(1, p.rate()*catchupBurst) }

// may reports whether a missed tick may be fired now.
func (p *pace) may(now instant.Millis) bool {
	if passed := now - p.filled; passed != 0 {
		p.tokens = min(p.burst(), p.tokens+p.rate()*float64(max(0, passed))/1000)
		p.filled = now
	}
	return p.tokens >= 1
}

func (p *pace) spend() { p.tokens-- }

// nextAt returns when the next missed tick may be fired.
func (p *pace) nextAt(now instant.Millis) instant.Millis {
	if p.tokens >= 1 {
		return now
	}
	return now + instant.Millis(math.Ceil((1-p.tokens)/p.rate()*1000))
}

// refresh updates the usual rate, at most once a second.
func (p *pace) refresh(now instant.Millis) {
	passed := now - p.mark
	switch {
	case passed < 0:
		p.mark = now // the clock was set back
	case passed >= 1000:
		weight := 1 - math.Exp(-float64(passed)/usualMillis)
		p.usual += weight * (float64(p.fired)*1000/float64(passed) - p.usual)
		p.fired, p.mark = 0, now
	}
}

// keepPace updates the usual rate, and writes it from time to time, in a commit that is made anyway. After an outage
// the stored rate says what was usual before.
func (c *Core) keepPace() {
	p := &c.pace
	p.refresh(c.now)
	changed := math.Abs(p.usual-p.kept) > p.kept/4+1
	if changed && c.out.Batch.Len() > 0 && c.now-p.keptAt >= usualKeptMillis {
		p.kept, p.keptAt = math.Round(p.usual), c.now
		c.unit(metaBytes)
		c.out.Batch.PutMeta(metaUsualRate, uint64(p.kept))
	}
}

// catchUpStatus returns the progress of catching up.
func (c *Core) catchUpStatus() CatchUp {
	rate := c.pace.rate()
	left := float64(c.debts.ticks+c.late.Len()) / rate
	return CatchUp{
		Jobs: len(c.debts.byJob) + c.late.Len(), Rate: rate, Usual: c.pace.usual,
		Left: time.Duration(left * float64(time.Second)).Round(time.Millisecond),
	}
}

// CatchUp is the progress of catching up on missed ticks.
type CatchUp struct {
	Jobs  int           // with missed ticks that are still to be fired
	Rate  float64       // runs per second that are spent on them
	Usual float64       // runs per second that fire on time, smoothed over about a minute
	Left  time.Duration // estimated time to the end, at one run a job
}
