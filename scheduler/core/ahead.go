package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Ticks are decided ahead of their time. An update must not decide such a tick again: neither one that it keeps, nor
// one that an earlier update, a pause or a cancellation withdrew. It must not lose a tick either that only the new
// schedule has.
//
// No tick after the row's last one was ever decided, so the cursor of a new schedule begins there. The update itself
// decides the ticks that the new schedule has between now and that cursor: the core knows which runs are live, and
// the proposer reads which runs are over.
//
// How far ahead the ticks of a job are decided is in its row, whoever decided them: the leader before may have had another lead. A
// row that is further ahead than the lead of this leader does not show that the clock was set back; see isSetBack.

// AheadMax is the number of ticks that an update decides itself. If the new schedule has more of them within the lead,
// the rest is skipped as superseded, in ranges between the ticks that already have an outcome or a run. With a lead of
// ten seconds, this concerns schedules that tick more than six times a second. All of these runs are in the one unit
// of the update, so a larger number makes that unit larger.
const AheadMax = 64

// AheadReadMax bounds how many finished runs of future ticks a proposer reads. Beyond it, the proposer gives up its
// list, and the new schedule begins after the row's last tick: some ticks of the change are then lost, but none is
// fired twice.
const AheadReadMax = 4096

// Ledger is what a proposer read about the ticks of its job. It is older than the step that uses it. What the core
// decided since is in Core.overAhead; if that does not reach back to AsOf, the proposal is stale and its proposer
// reads again.
type Ledger struct {
	AsOf    uint64           // the LSN of the oldest of the reads: everything here is at least as new
	Cursor  instant.Millis   // of the timer
	Decided bool             // the new schedule is a one-shot, and its tick is already in the ledger
	From    instant.Millis   // finished ticks after this instant are known:
	Over    []instant.Millis // ticks with a finished run, newest first
	Ranges  []TickRange      // ranges in which all ticks were skipped
	// Ahead is true if ticks were decided ahead, so that the update may have to decide some itself: its unit is then
	// larger.
	Ahead bool
	// Unread is true if the row's last tick was further ahead than LeadMax: the finished ticks were not read.
	Unread bool
	// Finished is when the newest of the finished ticks got its outcome, by the clock of then; 0 if there are none.
	Finished instant.Millis
}

// bytes returns how much the ticks add to the unit of an update that decides them itself.
func (l *Ledger) bytes() int {
	if l.Ahead {
		return (AheadMax + 1) * RunBytes
	}
	return 2 * RunBytes
}

// TickRange is a range of ticks of a job; both ends are included.
type TickRange struct{ From, Last instant.Millis }

// reader returns a function that reports whether a tick has its outcome. It must be called with ticks in ascending
// order.
func (l *Ledger) reader() (isOver func(tick instant.Millis) bool) {
	over := make(map[instant.Millis]struct{}, len(l.Over))
	for _, tick := range l.Over {
		over[tick] = struct{}{}
	}
	ranges := l.Ranges // newest first
	return func(tick instant.Millis) bool {
		for len(ranges) > 0 && ranges[len(ranges)-1].Last < tick {
			ranges = ranges[:len(ranges)-1]
		}
		_, some := over[tick]
		return some || len(ranges) > 0 && ranges[len(ranges)-1].From <= tick
	}
}

// dropped records that the update ends a launch, unless reason is 0: its tick then counts as finished.
func (l *Ledger) dropped(launch pad.Launch, reason job.Reason) job.Reason {
	if reason != 0 {
		l.Over = append(l.Over, launch.Run.At)
	}
	return reason
}

// planAhead lists the ticks that an update decides itself, because they lie before the new cursor.
func (c *Core) planAhead(p *Put, r *hotRow, next *plan) error {
	if c.keepsDue(p, r, next.anchor) {
		next.ticks = append(next.ticks, r.cursor)
	}
	known := &p.Prior.Ledger
	if r.last <= c.now || c.isSetBack(r, known) { // nothing was decided ahead, or the new schedule begins after the row's last tick
		return nil
	}
	lsn, some := c.overAhead.find(r.id)
	if known.Unread || some && lsn > known.AsOf || !c.overAhead.covers(known.AsOf) {
		return ErrStale
	}
	return c.listAhead(p, r, next)
}

// isSetBack reports whether the row's last tick is ahead because the clock was set back, and not because it was decided ahead.
// That is certain if no lead reaches so far. Otherwise the clock must have shown a later time, in this leadership or when a
// tick got its outcome, and the tick must be beyond what this leader decides by now.
func (c *Core) isSetBack(r *hotRow, known *Ledger) bool {
	wasLater := c.now < max(c.latest, known.Finished)
	return r.last > c.now.Add(LeadMax) || wasLater && r.last > c.now.Add(c.settings.Lead)
}

// listAhead lists the ticks up to the row's last one that have neither an outcome nor a run: in ticks those that the
// update decides itself, in ranges those beyond aheadMax.
func (c *Core) listAhead(p *Put, r *hotRow, next *plan) error {
	known := &p.Prior.Ledger
	isOver, goesOn := known.reader(), false
	most := min(AheadMax, c.commitMax/(8*RunBytes)) // all of them are written in one unit
	var x schedule.Search
	walk := p.Schedule.Walk(max(c.now, known.From), next.anchor)
	tick, ok := walk.Next(&x)
	for ; ok && tick <= r.last; tick, ok = walk.Next(&x) {
		_, live := c.live[job.RunID{Job: r.id, At: tick}]
		switch {
		case live || isOver(tick):
			goesOn = false
		case len(next.ticks) < most && len(next.rest) == 0:
			next.ticks = append(next.ticks, tick)
		case goesOn:
			next.rest[len(next.rest)-1].Last = tick
		default:
			next.rest = append(next.rest, TickRange{tick, tick})
			goesOn = true
		}
	}
	c.profiles.meter.spend(x.Steps())
	return x.Refusal()
}

// skipRest records the ranges that an update does not decide, before the update and each in its own unit. Until then
// their ticks belong to the old schedule. A job that completes before them has no such ranges.
func (c *Core) skipRest(p *Put, r *hotRow, next *plan) {
	runs, most := int(r.runs-min(r.runs, c.debts.of(r.id))), int(p.Profile.MaxRuns)
	if most > 0 && (runs >= most || !p.Paused && runs+c.tenantOf(r).runsOf(len(next.ticks)) > most) {
		return
	}
	for _, rest := range next.rest {
		c.unit(2 * RunBytes)
		c.skip(r, rest.From, rest.Last, job.ReasonSuperseded)
		p.Prior.Ledger.From = max(p.Prior.Ledger.From, rest.Last) // for a later put of the same name in this ticket
	}
}

// keepsDue reports whether an update keeps the tick at the cursor. It does if that tick has passed, because its jitter
// delays the launch or because it waits for its decision, and the new schedule has this tick too. Without this, an
// update that arrives between a tick and its delayed launch would lose the tick.
func (c *Core) keepsDue(p *Put, r *hotRow, anchor instant.Millis) bool {
	old := c.profiles.get(r.profile)
	if most := p.Profile.MaxRuns; most > 0 && r.runs-min(r.runs, c.debts.of(r.id)) >= most {
		return false
	}
	return r.isActive() && !p.Paused && old.fault() == nil && r.cursor <= c.now && !c.isLate(r) && hasTick(p.Schedule, r.cursor, anchor)
}

// decideAhead decides the ticks that planAhead listed. It returns the first one that becomes a run, or 0. A launch
// whose jitter has passed is due at once: it cannot be launched in the past.
func (c *Core) decideAhead(s seat, r *hotRow, next *plan) (first instant.Millis) {
	p := c.profiles.get(r.profile)
	for _, tick := range next.ticks {
		switch {
		case p.MaxRuns > 0 && r.runs >= p.MaxRuns:
			return first
		case r.flags.Is(job.FlagPaused):
			c.skip(r, tick, tick, job.ReasonPaused)
			continue
		case c.tenantOf(r).hasAllRuns():
			c.skip(r, tick, tick, job.ReasonQuota)
			continue
		case first == 0:
			first = tick
		}
		r.runs++
		c.asked[r.id] = struct{}{}
		following, _ := p.following(tick)
		due := tick + job.JitterOf(r.id, p.Jitter, tick, following)
		c.fire(s, r, tick, max(due, c.now), p.mode())
	}
	return first
}

// droppedReason returns why the update ends a launch that it withdrew from the pad, or 0 if it keeps the launch.
// Manual runs and runs that have begun are always kept. If the schedule stays the same, its decided ticks are kept
// too: a calendar may have changed since, but a decided tick stays decided.
func droppedReason(p *Put, l pad.Launch, stays bool, anchor instant.Millis) job.Reason {
	switch {
	case l.Run.IsManual() || l.Attempt > 1:
		return 0
	case p.Paused:
		return job.ReasonPaused
	case stays || hasTick(p.Schedule, l.Run.At, anchor):
		return 0
	}
	return job.ReasonSuperseded
}

// limitAnew applies the concurrency limit of the new definition to a launch that waits for its turn. If the new
// definition has no limit, all attempts of the run launch freely.
func (c *Core) limitAnew(r *hotRow, l *pad.Launch) {
	if l.Mode == pad.ModeFree {
		return
	}
	p, n := c.profiles.get(r.profile), l.Attempt
	if run := c.retries[l.Run]; run != nil {
		n -= run.Base
	}
	l.Ends = p.foresee(n)
	if l.Limit = p.limit(); l.Limit == 0 && l.Mode != pad.ModeHeld {
		l.Mode = pad.ModeFree
		if live, ok := c.live[l.Run]; ok {
			live.waits = false
			c.live[l.Run] = live
		}
	}
}

// hasTick reports whether a schedule ticks at an instant.
func hasTick(s *schedule.Schedule, at, anchor instant.Millis) bool {
	if s.Kind() == schedule.At {
		return s.At() == at
	}
	t, ok := s.Next(at-1, anchor)
	return ok && t == at
}

// endOf returns the cursor of a job that completes by an update, where all ticks up to decided are decided: one
// millisecond after the last grid point, as for every completed job. If the job is later continued, an @every keeps
// its grid.
func endOf(s *schedule.Schedule, anchor, decided instant.Millis) instant.Millis {
	if every := instant.Millis(s.Interval().Milliseconds()); every > 0 {
		decided -= ((decided-anchor)%every + every) % every
	}
	return decided + 1
}
