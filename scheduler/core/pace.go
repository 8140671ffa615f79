package core

import (
	"math"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Bounds of the pace at which missed ticks are fired, unless a rate is configured. Each shard of a cluster has an equal part
// of them, as of the rate: together the shards fire no faster than one would, if their usual rates are alike. A shard knows
// its own usual rate alone, so beside shards that follow theirs, idle ones have their part of the least one nevertheless:
// together less than catchupRateMin more than one would fire.
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
type pace struct {
	fixed    float64 // runs a second; 0: follow the usual rate
	min, max float64 // of the rate, if it follows the usual one
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

// newPace returns a pace that may pay at once. A rate of 0 makes it follow the usual rate. The shards of a cluster share
// what is configured; 0 means one.
func newPace(rate, shards int, now instant.Millis) pace {
	share := 1 / float64(max(1, shards))
	p := pace{fixed: float64(rate) * share, min: catchupRateMin * share, max: catchupRateMax * share, mark: now, filled: now, keptAt: now}
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
	return min(max(catchupFactor*p.usual, p.min), p.max)
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
		Jobs: len(c.debts.byJob) + c.late.Len(), Rate: rate, Left: time.Duration(left * float64(time.Second)).Round(time.Millisecond),
	}
}

// CatchUp is the progress of catching up on missed ticks.
type CatchUp struct {
	Jobs int           // with missed ticks that are still to be fired
	Rate float64       // runs per second that are spent on them
	Left time.Duration // estimated time to the end, at one run a job
}
