package core

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// put registers a job, or updates the one with its name.
func (c *Core) put(p *Put) (handled bool) {
	p.inherit()
	s, r := c.find(p.Hash)
	handled = true
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
		p.Err = ErrStale
	default:
		handled, p.Err = c.update(p, s, r)
	}
	if p.Err != nil {
		c.putBack(p)
	}
	return handled
}

func (c *Core) checkVersion(p *Put, r *hotRow) error {
	switch {
	case p.IfVersion == nil:
		return nil
	case *p.IfVersion == 0 && r != nil:
		return apierr.Errorf(apierr.AlreadyExists, "name", "job %q exists at version %d; leave if_version out to update it", p.Name, r.version)
	case *p.IfVersion == 0:
		return nil
	case r == nil:
		return apierr.Errorf(apierr.VersionConflict, "if_version", "job %q does not exist; use if_version 0 to create it", p.Name)
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
	if err := c.checkPut(p, 1, p.size()); err != nil {
		return err
	}
	id, err := c.newID(p)
	if err != nil {
		return err
	}
	c.beginIndex(p)
	s, r := c.rows.alloc(id)
	c.names.add(p.Hash, s)
	r.version, r.cursor = 1, first
	t := c.tenants.of(p.Tenant)
	c.tenants.addJob(r, t)
	c.charge(t, id, p.size())
	r.flags = pausedFlag(p.Paused)
	c.adopt(p, r)
	c.wasAway(r)
	c.arm(s, r)

	p.Created = true
	c.writeJob(p, r, job.Stamp{ID: id, Version: 1, CreatedAt: c.now, UpdatedAt: c.now, Anchor: anchor})
	c.out.Batch.PutName(p.Tenant, p.Name, id)
	c.indexLabels(id, p.Name, nil, p.Labels)
	c.audit(p.Actor, job.ActionCreate, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: id})
	return nil
}

// update gives a job a new definition. Decided ticks stay decided: runs that still wait on the pad are kept if the
// new schedule has their tick too, and end as superseded otherwise. Those end first, each in its own unit. If there
// are many, the rest ends in the next steps; the update follows when all have ended.
func (c *Core) update(p *Put, s seat, r *hotRow) (handled bool, err error) {
	if c.profiles.get(r.profile).moved {
		c.replanJob(s, r) // the mark belongs to the profile, which the job may lose
	}
	next, err := c.nextPlan(p, r)
	if err != nil {
		return true, err
	}
	if !p.admitted {
		if err := c.checkPut(p, 0, p.size()-int64(p.Prior.Size)); err != nil {
			return true, err
		}
		p.admitted = true
	}
	stays := p.Schedule.Kind() != schedule.At && c.profiles.get(r.profile).Spec == p.Profile.Spec // all one-shots share one spec
	c.recall(p, r.id)
	ended := c.endWithdrawn(&p.Withdrawn, func(l pad.Launch) job.Reason {
		return p.Prior.Ledger.dropped(l, droppedReason(p, l, stays, next.anchor))
	})
	p.Prior.Ledger.AsOf = c.lsn // whatever ended since it was read is recorded in it
	if !ended {
		return false, nil
	}
	c.skipRest(p, r, &next)
	c.unit(p.Bytes() + c.debtBytes(r.id))
	if r.flags.Is(job.FlagPaused) && !p.Paused {
		c.endStreak(r.id)
	}
	c.leaveBehind(p, r, next)
	planned, before, hadEnded := next.cursor, r.cursor, r.flags.Is(job.FlagCompleted|job.FlagFailed)
	staysPaused := r.flags.Is(job.FlagPaused) && p.Paused && !hadEnded
	// leaveBehind has recorded the pause that ends if the schedule stays.
	resumesAnew := r.flags.Is(job.FlagPaused) && !p.Paused && c.profiles.get(r.profile).Spec != p.Profile.Spec
	r.flags = pausedFlag(p.Paused) | r.flags&(job.FlagLastManual|job.FlagDead)
	r.version++
	c.dropProfile(r)
	c.adopt(p, r)
	first := c.decideAhead(s, r, &next)
	if p.Profile.MaxRuns > 0 && r.runs >= p.Profile.MaxRuns && !next.done {
		next.done, next.cursor = true, endOf(p.Schedule, next.anchor, min(max(c.now, r.last), planned-1))
	}
	if r.cursor = next.cursor; next.done {
		r.flags |= job.FlagCompleted
	}
	if planned != before || hadEnded || resumesAnew {
		r.marks &^= markResumed // the ticks of a pause are behind the cursor
		c.wasAway(r)
	}
	c.arm(s, r)
	c.writeJob(p, r, job.Stamp{ID: r.id, Version: r.version, CreatedAt: p.Prior.CreatedAt, UpdatedAt: c.now, Anchor: next.anchor})
	p.comes(first)
	c.charge(c.tenantOf(r), r.id, p.size()-int64(p.Prior.Size))
	c.indexLabels(r.id, p.Name, p.Prior.Labels, p.Labels)
	if !staysPaused { // otherwise the note says who has paused the job, and why
		c.out.Batch.DeleteJobRow(job.KindNote, r.id)
	}
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

// leaveBehind handles what an update leaves of the past: ticks of the old schedule that were due and not decided, and
// the debt. It also separates the ticks of a pause that ends by the update.
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
	if r.flags.Is(job.FlagCompleted) || old.fault() != nil || !c.findCursor(r, old) {
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
	cursor, anchor instant.Millis
	done           bool             // no tick will come
	ticks          []instant.Millis // ticks before the cursor that the update decides itself
	rest           []TickRange      // more such ticks, which are skipped
}

// nextPlan keeps the cursor and the anchor of a job whose schedule stays as it is. So a job that is registered again
// at each deployment does not lose or move a tick.
func (c *Core) nextPlan(p *Put, r *hotRow) (plan, error) {
	if p.Schedule.Kind() == schedule.At {
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
		next.done, next.cursor, err = true, endOf(p.Schedule, next.anchor, after), nil
	}
	return next, err
}

// nextOneShot arms a one-shot, unless its own tick is already decided. Then the job stays complete, and registering
// it again changes nothing.
func (c *Core) nextOneShot(p *Put, r *hotRow) (plan, error) {
	at, known := p.Schedule.At(), &p.Prior.Ledger
	if at >= known.Cursor && at < r.cursor { // it may have been decided since
		return plan{}, ErrStale
	}
	_, live := c.live[job.RunID{Job: r.id, At: at}]
	pruned := at <= r.last && job.Day(at) < c.prunedDay
	if live || known.Decided || pruned || c.debts.owes(r.id, at) {
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

// firstTick returns where the cursor of a new schedule begins: at its first tick after an instant, or for a one-shot
// at its tick, even if that is past.
func (c *Core) firstTick(p *Put, anchor, after instant.Millis) (instant.Millis, error) {
	if p.Schedule.Kind() == schedule.At {
		return p.Schedule.At(), c.checkPast(p, p.Schedule.At())
	}
	if first, ok := p.Found.firstOf(p.Schedule, after); ok {
		return first, nil
	}
	var x schedule.Search
	first, ok := p.Schedule.NextIn(&x, after, anchor)
	c.profiles.meter.spend(x.Steps())
	switch {
	case x.Err() != nil:
		return 0, x.Refusal()
	case !ok:
		return 0, apierr.Errorf(apierr.InvalidSchedule, "schedule", "has no tick after %s; check ends_at and the expression", after)
	}
	return first, nil
}

// checkPast refuses a one-shot so far in the past that it could only be skipped.
func (c *Core) checkPast(p *Put, at instant.Millis) error {
	window := p.Profile.CatchupWindow
	if p.Profile.Missed == job.MissedSkip {
		window = 0
	}
	window = max(window, instant.Millis(c.settings.Grace.Milliseconds()))
	if at >= c.now-window {
		return nil
	}
	if p.Profile.Missed == job.MissedSkip {
		return apierr.Errorf(apierr.InvalidSchedule, "schedule",
			"%s has passed (now %s), and by missed_run_policy skip it would not run; want a time to come, or missed_run_policy fire_once", at, c.now)
	}
	return apierr.Errorf(apierr.InvalidSchedule, "schedule",
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
