package scheduler

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/carillon-io/carillon/scheduler/core"
)

// simPlan is what a seed makes of a simulation: how long, how many jobs, how much goes wrong.
type simPlan struct {
	seed  uint64
	kind  string // hours, month, year
	start time.Time
	span  time.Duration
	jobs  int
	scale time.Duration // about the distance between the ticks of a quick job

	settings     Settings
	decisionsMax int
	commitMax    int  // bytes of a commit
	liveMax      int  // 0: as many as an engine has by itself
	fickle       bool // callers change a job several times within the lead
	motley       bool // jobs have several schedules, and exclusions of their own

	lifetime time.Duration // of the process, on average
	outages  time.Duration // the longest
	pause    time.Duration // between two acts, on average
	clock    time.Duration // between two steps of the wall clock, on average
	clockMax time.Duration
	mood     time.Duration // for how long a target behaves alike, at most
	tell     time.Duration // how long notices wait, at most
	slow     time.Duration // the slowest commit
	sweep    time.Duration
}

const simDay = 24 * time.Hour

// newPlan draws the plan of a seed. Of ten seeds one is a year, three are months and six are hours.
func newPlan(seed uint64) *simPlan {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := &simPlan{seed: seed, fickle: seed%7 == 3 && seed%10 >= 4, motley: seed%4 == 1, start: time.Date(2025+rng.IntN(4), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)}
	switch n := seed % 10; {
	case n == 0:
		p.kind, p.span, p.jobs, p.scale = "year", 366*simDay, 2500, time.Hour
		p.lifetime, p.outages, p.pause, p.clock = 30*time.Hour, 5*simDay, 30*time.Minute, 200*time.Hour
		p.mood, p.tell, p.sweep = 4*simDay, time.Hour, 5*time.Hour
	case n <= 3:
		p.kind, p.span, p.jobs, p.scale = "month", 30*simDay, 150, 10*time.Minute
		p.lifetime, p.outages, p.pause, p.clock = 8*time.Hour, 2*simDay, 4*time.Minute, 30*time.Hour
		p.mood, p.tell, p.sweep = 6*time.Hour, 10*time.Minute, 20*time.Minute
	default:
		p.kind, p.span, p.jobs, p.scale = "hours", 3*time.Hour, 30, 10*time.Second
		p.lifetime, p.outages, p.pause, p.clock = 4*time.Minute, 20*time.Minute, 6*time.Second, 10*time.Minute
		p.mood, p.tell, p.sweep = 5*time.Minute, time.Minute, 20*time.Second
	}
	p.draw(rng)
	return p
}

// draw settles what varies among plans of one kind.
func (p *simPlan) draw(rng *rand.Rand) {
	pickDuration := func(d ...time.Duration) time.Duration { return d[rng.IntN(len(d))] }
	p.settings = Settings{
		Lead:               pickDuration(50*time.Millisecond, 250*time.Millisecond, 250*time.Millisecond, time.Second, 10*time.Second),
		Grace:              pickDuration(100*time.Millisecond, time.Second, time.Second, 5*time.Second),
		CompletedRetention: pickDuration(-1, 10*p.scale, 100*p.scale),
		HistoryDays:        []int{1, 2, 7}[rng.IntN(3)],
		CatchupRate:        []int{0, 1, 5, 50}[rng.IntN(4)],
		DeadLetters:        rng.IntN(2) == 0,
	}
	p.settings.Events = p.settings.DeadLetters && rng.IntN(2) == 0
	p.decisionsMax = core.DecisionsMax
	if rng.IntN(3) == 0 {
		p.decisionsMax = 1 + rng.IntN(20)
	}
	if p.commitMax = core.CommitBytesMax; rng.IntN(2) == 0 {
		p.commitMax = 2<<10 + rng.IntN(2<<10)
		if p.kind == "hours" { // many things at a time
			p.jobs, p.span, p.pause = 5*p.jobs, p.span/3, p.pause/5
			p.outages, p.lifetime = p.outages/4, p.lifetime/2
		}
	}
	p.slow = pickDuration(0, pick(p.commitMax < core.CommitBytesMax, 3*time.Second, 0), 20*time.Millisecond, 3*time.Second)
	p.clockMax = pickDuration(time.Second, time.Minute, time.Hour)
	if rng.IntN(3) == 0 {
		p.clock = 100 * p.span
	}
	if p.kind == "hours" && rng.IntN(2) == 0 { // across a change of the clock in Europe or America
		change := []time.Time{
			time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 3, 8, 6, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 5, 0, 0, 0, time.UTC),
		}
		p.start = change[rng.IntN(len(change))]
	}
	if p.kind == "hours" && rng.IntN(3) == 0 {
		p.liveMax, p.settings.ManualMax = 12+rng.IntN(60), 2+rng.IntN(6)
	}
}

func (p *simPlan) String() string {
	return fmt.Sprintf("%s from %s, %d jobs, %+v, slow %s, commits of %d", p.kind, p.start.Format(time.DateOnly), p.jobs, p.settings, p.slow, p.commitMax)
}

// margin is how far beyond its end a simulation needs schedules.
func (p *simPlan) margin() time.Duration {
	if p.kind == "year" {
		return 370 * simDay
	}
	return 75 * simDay
}

func (p *simPlan) modelSettings() modelSettings {
	s := p.settings
	return modelSettings{
		lead: s.Lead.Milliseconds(), grace: s.Grace.Milliseconds(), retention: max(0, s.CompletedRetention.Milliseconds()),
		historyDays: int64(s.HistoryDays), rate: float64(s.CatchupRate), dead: s.DeadLetters, events: s.Events,
		slack: 3 * p.slow.Milliseconds(), cut: p.commitMax < core.CommitBytesMax, aheadMax: min(core.AheadMax, p.commitMax/(8*core.RunBytes)), liveMax: p.liveMax, manualMax: s.ManualMax,
	}
}

// outage draws for how long the process is down.
func (p *simPlan) outage(rng *rand.Rand) int64 {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return int64(rng.IntN(2000))
	case 2:
		return int64(rng.Float64() * rng.Float64() * rng.Float64() * float64(p.outages.Milliseconds()))
	}
	return int64(rng.Float64() * float64(p.scale.Milliseconds()))
}

// delay draws how long a commit takes. The further commits of a step are slow more often, because a disk is slow when there is
// much to write.
func (p *simPlan) delay(rng *rand.Rand, busy bool) int64 {
	if p.slow == 0 || rng.IntN(pick(busy, 2, 50)) > 0 {
		return 0
	}
	return 1 + int64(rng.Float64()*rng.Float64()*float64(p.slow.Milliseconds()))
}
