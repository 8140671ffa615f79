package scheduler

import "github.com/carillon-io/carillon/job"

// put registers a job, or updates the one that has the name.
func (c *Core) put(p *Put) (settled bool) {
	p.inherit()
	s, r := c.find(p.Hash)
	settled = true
	if p.Err == nil {
		p.Err = c.checkVersion(p, r)
	}
	if p.Err == nil {
		p.Err = c.followCalendars(p)
	}
	switch {
	case p.Err != nil:
	case r == nil && p.IfNew != nil:
		p.Err = p.IfNew
	case r == nil:
		p.Err = c.create(p)
	case p.Prior == nil || p.Prior.ID != r.id || p.Prior.Version != r.version:
		p.Err = errStale
	default:
		settled, p.Err = c.update(p, s, r)
	}
	if p.Err != nil {
		c.putBack(p)
	}
	return settled
}

func (c *Core) checkVersion(p *Put, r *hotRow) error {
	switch {
	case p.IfVersion == nil:
		return nil
	case *p.IfVersion == 0 && r != nil:
		return job.Errorf(job.CodeAlreadyExists, "name", "job %q exists at version %d; leave if_version out to update it", p.Name, r.version)
	case *p.IfVersion == 0:
		return nil
	case r == nil:
		return job.Errorf(job.CodeVersionConflict, "if_version", "job %q does not exist; use if_version 0 to create it", p.Name)
	case *p.IfVersion != r.version:
		return errOtherVersion(r, p.Name, *p.IfVersion)
	}
	return nil
}

func (c *Core) create(p *Put) error {
	anchor := c.now
	first, err := c.firstTick(p, anchor, c.now)
	if err != nil {
		return err
	}
	id := c.nextID
	c.nextID++
	s, r := c.rows.alloc(id)
	c.names.add(p.Hash, s)
	r.version, r.cursor, r.tenant = 1, first, p.Hash.tenant
	r.flags = pausedFlag(p.Paused)
	c.adopt(p, r)
	c.wasAway(r)
	c.arm(s, r)

	p.Created = true
	c.writeJob(p, r, job.Stamp{ID: id, Version: 1, CreatedAt: c.now, UpdatedAt: c.now, Anchor: anchor})
	c.out.Batch.PutName(p.Tenant, p.Name, id)
	c.audit(p.Actor, job.ActionCreate, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: id})
	return nil
}

// update gives a job a new definition. Ticks that are decided stay decided: runs that still wait on
// the pad are kept if the new schedule has their tick too, and end as superseded if not. Those end first, each
// in a unit of its own; of many, the rest ends in the next steps, and the update follows when all have ended.
func (c *Core) update(p *Put, s slot, r *hotRow) (settled bool, err error) {
	if c.profiles.get(r.profile).moved {
		c.replanJob(s, r) // its mark goes with the profile that it may lose
	}
	next, err := c.nextPlan(p, r)
	if err != nil {
		return true, err
	}
	stays := p.Schedule.Kind() != job.ScheduleAt && c.profiles.get(r.profile).Spec == p.Profile.Spec // all one-shots have one
	c.recall(p, r.id)
	ended := c.endWithdrawn(&p.Withdrawn, func(l Launch) job.Reason {
		return p.Prior.Ledger.dropped(l, droppedReason(p, l, stays, next.anchor))
	})
	p.Prior.Ledger.asOf = c.lsn // what ended since it was read is noted
	if !ended {
		return false, nil
	}
	c.skipRest(p, r, &next)
	c.unit(p.bytes() + c.debtBytes(r.id))
	if r.flags.Is(job.FlagPaused) && !p.Paused {
		c.endStreak(r.id)
	}
	c.leaveBehind(p, r, next)
	planned, before := next.cursor, r.cursor
	r.flags = pausedFlag(p.Paused) | r.flags&(job.FlagLastManual|job.FlagDead)
	r.version++
	c.dropProfile(r)
	c.adopt(p, r)
	first := c.decideAhead(s, r, &next)
	if p.Profile.MaxRuns > 0 && r.runs >= p.Profile.MaxRuns && !next.done {
		next.done, next.cursor = true, max(c.now, r.last)+1 // nothing from there on is decided
	}
	if r.cursor = next.cursor; next.done {
		r.flags |= job.FlagCompleted
	}
	if planned != before {
		c.wasAway(r)
	}
	c.arm(s, r)
	c.writeJob(p, r, job.Stamp{ID: r.id, Version: r.version, CreatedAt: p.Prior.CreatedAt, UpdatedAt: c.now, Anchor: next.anchor})
	p.comes(first)
	c.out.Batch.DeleteJobRow(job.KindNote, r.id)
	for i := range p.Withdrawn {
		if l := &p.Withdrawn[i]; !l.Run.IsManual() && l.Attempt == 1 && l.Due > c.now {
			p.comes(l.Run.At)
		}
		c.limitAnew(r, &p.Withdrawn[i])
	}
	c.putBack(p)
	c.audit(p.Actor, job.ActionUpdate, job.AuditEntry{
		Tenant: p.Tenant, Name: p.Name, Job: r.id, Before: p.Prior.Before, After: p.After,
	})
	return true, nil
}

// leaveBehind settles what an update leaves of the past: ticks of the old schedule that were due and not
// decided, and what is owed. It also tells apart a pause that ends by the update.
func (c *Core) leaveBehind(p *Put, r *hotRow, next plan) {
	old := c.profiles.get(r.profile)
	wasPaused := r.flags.Is(job.FlagPaused)
	if old.Spec == p.Profile.Spec && next.cursor == r.cursor {
		if wasPaused && !p.Paused {
			r.resume(c.now)
			c.wasAway(r)
		}
		if p.Paused && !wasPaused {
			c.skipDebt(r, job.ReasonPaused, 0)
		}
		return
	}
	spare := next.cursor
	if next.done {
		spare = 0
	}
	c.skipDebt(r, job.ReasonSuperseded, spare)
	if r.flags.Is(job.FlagCompleted) || old.err != nil {
		return
	}
	reason := job.ReasonSuperseded
	if wasPaused {
		reason = job.ReasonPaused
	}
	kept := next.cursor // a one-shot may lie in the past
	if len(next.ticks) > 0 && next.ticks[0] == r.cursor {
		kept = r.cursor
	}
	c.skipRange(r, old, r.cursor, min(c.now, kept-1), reason)
	c.skipRange(r, old, kept+1, c.now, reason)
}

// plan is where an update puts the cursor of a job.
type plan struct {
	cursor, anchor job.Millis
	done           bool         // no tick will come
	ticks          []job.Millis // before the cursor that the update decides itself
	rest           []tickRange  // more of them, which do not run
}

func (c *Core) nextPlan(p *Put, r *hotRow) (plan, error) {
	if p.Schedule.Kind() == job.ScheduleAt {
		return c.nextOneShot(p, r)
	}
	next := plan{anchor: c.now}
	if c.profiles.get(r.profile).Spec == p.Profile.Spec {
		if next.anchor = p.Prior.Anchor; !r.flags.Is(job.FlagCompleted | job.FlagFailed) {
			next.cursor = r.cursor
			return next, nil
		}
	}
	if err := c.planAhead(p, r, &next); err != nil {
		return next, err
	}
	after := max(c.now, r.last)
	first, err := c.firstTick(p, next.anchor, after)
	if next.cursor = first; err != nil && len(next.ticks) > 0 {
		next.done, next.cursor, err = true, after+1, nil
	}
	return next, err
}

// nextOneShot arms a one-shot unless its very tick is decided: then it is done, and registering it again
// changes nothing.
func (c *Core) nextOneShot(p *Put, r *hotRow) (plan, error) {
	at, known := p.Schedule.At(), &p.Prior.Ledger
	if at >= known.cursor && at < r.cursor { // it may have been decided since
		return plan{}, errStale
	}
	_, live := c.live[job.RunID{Job: r.id, At: at}]
	pruned := at <= r.last && job.Day(at) < c.prunedDay
	if live || known.decided || pruned || c.debts.owes(r.id, at) {
		return plan{cursor: at + 1, anchor: p.Prior.Anchor, done: true}, nil
	}
	return plan{cursor: at, anchor: p.Prior.Anchor}, c.checkPast(p, at)
}

func pausedFlag(paused bool) job.TimerFlags {
	if paused {
		return job.FlagPaused
	}
	return 0
}

// firstTick returns where the cursor of a new schedule begins: its first tick after an instant, or
// for a one-shot its tick, be it past.
func (c *Core) firstTick(p *Put, anchor, after job.Millis) (job.Millis, error) {
	if p.Schedule.Kind() == job.ScheduleAt {
		return p.Schedule.At(), c.checkPast(p, p.Schedule.At())
	}
	first, ok := p.Schedule.Next(after, anchor)
	if !ok {
		return 0, job.Errorf(job.CodeInvalidSchedule, "schedule", "has no tick after %s; check ends_at and the expression", after)
	}
	return first, nil
}

// checkPast refuses a one-shot that lies so far back that it could only be skipped.
func (c *Core) checkPast(p *Put, at job.Millis) error {
	window := p.Profile.CatchupWindow
	if p.Profile.Missed == job.MissedSkip {
		window = 0
	}
	window = max(window, job.Millis(c.settings.Grace.Milliseconds()))
	if at >= c.now-window {
		return nil
	}
	if p.Profile.Missed == job.MissedSkip {
		return job.Errorf(job.CodeInvalidSchedule, "schedule",
			"%s has passed (now %s), and by missed_run_policy skip it would not run; want a time to come, or missed_run_policy fire_once", at, c.now)
	}
	return job.Errorf(job.CodeInvalidSchedule, "schedule",
		"%s has passed, and lies before the catch-up window (now %s); want a time to come, or a longer catchup_window", at, c.now)
}

// adopt interns the profile of a proposal for a row.
func (c *Core) adopt(p *Put, r *hotRow) {
	n, isNew := c.profiles.intern(p.Profile, p.Schedule)
	if isNew {
		c.out.Batch.PutProfile(n, p.Profile)
		c.keepZones(p.Profile.Spec)
	}
	r.profile = n
}

func (c *Core) dropProfile(r *hotRow) {
	if n := r.profile; c.profiles.release(n) {
		c.out.Batch.DeleteProfile(n)
	}
}

func (c *Core) writeJob(p *Put, r *hotRow, s job.Stamp) {
	s.Origin = p.Origin
	c.out.Batch.PutRecord(s, p.Definition)
	c.writeTimer(r)
	p.Stamp, p.Timer, p.NextRun = s, r.timerRow(), nextRun(r)
}

func (c *Core) writeTimer(r *hotRow) {
	c.rows.note(r)
	c.out.Batch.PutTimer(r.id, r.timerRow())
}

// nextRun returns when the next run of a job comes by itself, 0 if none does.
func nextRun(r *hotRow) job.Millis {
	if !r.isActive() {
		return 0
	}
	return r.cursor
}

// comes takes in that a tick that is decided becomes a run.
func (p *Put) comes(tick job.Millis) {
	if tick != 0 && (p.NextRun == 0 || tick < p.NextRun) {
		p.NextRun = tick
	}
}

// hasTick tells whether a schedule has a tick at an instant.
func hasTick(s *job.Schedule, at, anchor job.Millis) bool {
	if s.Kind() == job.ScheduleAt {
		return s.At() == at
	}
	t, ok := s.Next(at-1, anchor)
	return ok && t == at
}
