package scheduler

import "github.com/carillon-io/carillon/job"

// Ticks are decided ahead of their time, and an update must not decide one of them again: not one that it keeps,
// nor one that an earlier update, a pause or a cancel took back. It must not lose one either that only the
// new schedule has. No tick after the row's last was ever decided: there the cursor of a new schedule begins.
// What it has between now and then, the update decides itself: the core knows what is live, and the
// proposer reads what is over.

// aheadMax is how many ticks an update decides itself; of a schedule with more of them within the lead, the
// rest is skipped as superseded, in ranges between the ticks that have their outcome or their run. With a lead of ten
// seconds that is a schedule quicker than six a second.
const aheadMax = 64

// aheadReadMax bounds what a proposer reads of ticks that are over and yet to come.
const aheadReadMax = 4096

// priorLedger is what a proposer read of the ticks of its job.
type priorLedger struct {
	asOf    uint64       // LSN that all of it is at least at
	cursor  job.Millis   // of the timer
	decided bool         // the new schedule is a one-shot, and its tick is in the ledger
	from    job.Millis   // what is over after it is known:
	over    []job.Millis // ticks of runs, the newest first
	ranges  []tickRange  // in which all ticks were skipped
	some    bool         // ticks are decided ahead
}

// bytes is what the ticks add to a batch that the update decides itself.
func (l *priorLedger) bytes() int {
	if l.some {
		return (aheadMax + 1) * runBytes
	}
	return 2 * runBytes
}

// tickRange is the ticks of a job between two instants, both included.
type tickRange struct{ from, last job.Millis }

// reader returns a function that tells, for ticks in their order, whether they have their outcome.
func (l *priorLedger) reader() (isOver func(tick job.Millis) bool) {
	over := make(map[job.Millis]struct{}, len(l.over))
	for _, tick := range l.over {
		over[tick] = struct{}{}
	}
	ranges := l.ranges // the newest first
	return func(tick job.Millis) bool {
		for len(ranges) > 0 && ranges[len(ranges)-1].last < tick {
			ranges = ranges[:len(ranges)-1]
		}
		_, some := over[tick]
		return some || len(ranges) > 0 && ranges[len(ranges)-1].from <= tick
	}
}

// dropped notes a launch that the update ends for a reason, if it is not 0: its tick is over.
func (l *priorLedger) dropped(launch Launch, reason job.Reason) job.Reason {
	if reason != 0 {
		l.over = append(l.over, launch.Run.At)
	}
	return reason
}

// planAhead lists the ticks that an update decides itself, because the cursor begins behind them.
func (c *Core) planAhead(p *Put, r *hotRow, next *plan) error {
	if c.keepsDue(p, r, next.anchor) {
		next.ticks = append(next.ticks, r.cursor)
	}
	known := &p.Prior.Ledger
	if r.last <= c.now || r.last > c.now.Add(c.settings.Lead) { // nothing is ahead, or the clock was set back
		return nil
	}
	if lsn, some := c.overAhead.find(r.id); some && lsn > known.asOf || !c.overAhead.covers(known.asOf) {
		return errStale
	}
	c.listAhead(p, r, next)
	return nil
}

// listAhead lists the ticks up to the row's last that have neither an outcome nor a run: as many as the update decides,
// and the ranges of the rest.
func (c *Core) listAhead(p *Put, r *hotRow, next *plan) {
	known := &p.Prior.Ledger
	isOver, goesOn := known.reader(), false
	most := min(aheadMax, c.commitMax/(8*runBytes)) // they are one unit
	tick, ok := p.Schedule.Next(max(c.now, known.from), next.anchor)
	for ; ok && tick <= r.last; tick, ok = p.Schedule.Next(tick, next.anchor) {
		_, live := c.live[job.RunID{Job: r.id, At: tick}]
		switch {
		case live || isOver(tick):
			goesOn = false
		case len(next.ticks) < most && len(next.rest) == 0:
			next.ticks = append(next.ticks, tick)
		case goesOn:
			next.rest[len(next.rest)-1].last = tick
		default:
			next.rest = append(next.rest, tickRange{tick, tick})
			goesOn = true
		}
	}
}

// skipRest records the ranges that an update does not decide, each in a unit of its own, before the update: until that
// is done they say nothing of the old schedule. A job that is complete before them has none.
func (c *Core) skipRest(p *Put, r *hotRow, next *plan) {
	runs, most := int(r.runs-min(r.runs, c.debts.of(r.id))), int(p.Profile.MaxRuns)
	if most > 0 && (runs >= most || !p.Paused && runs+len(next.ticks) > most) {
		return
	}
	for _, rest := range next.rest {
		c.unit(2 * runBytes)
		c.skip(r, rest.from, rest.last, job.ReasonSuperseded)
		p.Prior.Ledger.from = max(p.Prior.Ledger.from, rest.last) // for a put of the same name behind this one
	}
}

// keepsDue tells whether an update keeps the tick that its job is due for: it has passed, its launch is put off by
// the jitter or it waits for its decision, and the new schedule has it too.
func (c *Core) keepsDue(p *Put, r *hotRow, anchor job.Millis) bool {
	old := c.profiles.get(r.profile)
	if most := p.Profile.MaxRuns; most > 0 && r.runs-min(r.runs, c.debts.of(r.id)) >= most {
		return false
	}
	return r.isActive() && !p.Paused && old.err == nil && r.cursor <= c.now && !c.isLate(r) && hasTick(p.Schedule, r.cursor, anchor)
}

// decideAhead decides what planAhead has listed, and returns the first tick that becomes a run, 0 if none does.
func (c *Core) decideAhead(s slot, r *hotRow, next *plan) (first job.Millis) {
	p := c.profiles.get(r.profile)
	for _, tick := range next.ticks {
		switch {
		case p.MaxRuns > 0 && r.runs >= p.MaxRuns:
			return first
		case r.flags.Is(job.FlagPaused):
			c.skip(r, tick, tick, job.ReasonPaused)
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

// droppedReason says why a launch ends that an update took off the pad; 0 if it is kept. Manual runs and runs
// that began are kept in any case, and so is what is decided of a schedule that stays: a calendar may have changed
// since, and what is decided stays decided.
func droppedReason(p *Put, l Launch, stays bool, anchor job.Millis) job.Reason {
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

// limitAnew lets a launch that waits for its turn wait under the limit of the job's new definition. Without one its
// run goes free, with all its attempts.
func (c *Core) limitAnew(r *hotRow, l *Launch) {
	if l.Mode == ModeFree {
		return
	}
	if l.Limit = c.profiles.get(r.profile).limit(); l.Limit == 0 && l.Mode != ModeHeld {
		l.Mode = ModeFree
		if live, ok := c.live[l.Run]; ok {
			live.waits = false
			c.live[l.Run] = live
		}
	}
}
