package scheduler

import (
	"slices"
)

// The ledger: every tick of a job has exactly one outcome. Since a job's ticks are decided in their
// order, that comes down to this: whatever is decided next is the next tick that has no outcome.

// fire takes in that a tick became a run.
func (m *model) fire(j *modelJob, r *modelRow) {
	tick := r.key.at
	m.checkLiveQuota(j, tick)
	if i := slices.Index(j.owed, tick); i >= 0 {
		m.firedOwed(j, i, r)
		return
	}
	if act := m.upcoming(j, "put"); act != nil {
		act.ahead = append(act.ahead, modelAhead{tick: tick, due: r.due})
		return
	}
	m.closePlan(j) // what it missed may be decided in the same commit
	next := j.next()
	switch {
	case j.paused:
		m.fail("ledger", j, "tick %s was fired although the job is paused", modelTime(tick))
	case next == 0:
		m.fail("window", j, "tick %s was fired, but the job has no further tick", modelTime(tick))
	case next != tick && !m.passes(j, tick):
		m.fail("ledger", j, "tick %s was fired; the next without an outcome is %s", modelTime(tick), modelTime(next))
	case tick > m.now+m.settings.lead:
		m.fail("ledger", j, "tick %s was decided long before its time", modelTime(tick))
	case m.isMissed(j, tick, r.due):
		m.fail("missed", j, "tick %s was fired as if it were on time", modelTime(tick))
	case !j.jitters(tick, r.due):
		m.fail("jitter", j, "tick %s is put off by %d ms; the share is known to be in [%g, %g]", modelTime(tick), r.due-tick, j.lowShare, j.highShare)
	case j.decided(tick):
		m.fail("ledger", j, "tick %s was decided before", modelTime(tick))
	}
	m.checkShare(j, tick)
	m.checkDecidedInTime(j, r)
	m.settleTick(j, tick, tick)
	j.count(1, m.now, m.lsn)
}

// checkDecidedInTime checks that a tick was decided when it came within the lead, or as soon as the process could.
func (m *model) checkDecidedInTime(j *modelJob, r *modelRow) {
	if m.settings.liveMax > 0 || m.quotas.live && j.def.at > 0 {
		return // it may have waited for its tenant's share, or for a place
	}
	soonest := max(r.due, m.life, m.stepped, j.touched)
	if j.def.jitter > 0 { // it puts a launch off up to the next tick, which a calendar may have brought nearer after the due time that follows
		soonest = max(soonest, j.reticked)
	}
	slack := m.settings.slack
	if m.settings.cut {
		slack *= 4 // what a stopped process missed, or one-shots that waited for a place, fill the small commits
	}
	if m.now > soonest+slack {
		m.fail("late", j, "tick %s was decided only at %s", modelTime(r.key.at), modelTime(m.now))
	}
}

// passes reports whether a tick may be decided although earlier ones are not: calendars gave those back too late.
func (m *model) passes(j *modelJob, tick int64) bool {
	for next := j.next(); next != 0 && (j.mayPass(next) || m.following); next = j.ticks.next(next) {
		if j.ticks.next(next) == tick {
			return true
		}
	}
	return false
}

// settleTick takes in that all ticks up to one have their outcomes.
func (m *model) settleTick(j *modelJob, first, last int64) {
	j.settle(first, last)
	m.goOn(j, last)
}

// goOn lets a job go on behind a tick: all up to it have their outcomes.
func (m *model) goOn(j *modelJob, last int64) {
	j.after = last
	j.resumed, j.anew = false, false
	j.finish(m.now, m.lsn)
}

// settle takes in that what lies between two instants has its outcome.
func (j *modelJob) settle(first, last int64) {
	j.spans = append(j.spans, [2]int64{first, last})
	j.high = max(j.high, last)
}

// firedOwed takes in that a tick was fired that the job owed.
func (m *model) firedOwed(j *modelJob, i int, r *modelRow) {
	switch {
	case i > 0:
		m.fail("missed", j, "the missed tick %s was fired before an earlier one, %s", modelTime(j.owed[i]), modelTime(j.owed[0]))
	case j.paused:
		m.fail("missed", j, "the missed tick %s was fired although the job is paused", modelTime(j.owed[i]))
	case r.due != r.key.at:
		m.fail("missed", j, "the missed tick %s is put off", modelTime(j.owed[i]))
	case !m.pace.spend(m.now):
		m.fail("pace", j, "the missed tick %s was fired too soon after others", modelTime(j.owed[i]))
	}
	m.checkShare(j, r.key.at)
	j.owed = slices.Delete(j.owed, i, i+1)
	j.owes = m.now
}

// takeSkipped takes in that ticks of a job do not run, and never did.
func (m *model) takeSkipped(r *modelRow) {
	j := m.jobs[r.key.job]
	if j == nil || j.deleted || r.key.seq != 0 {
		m.fail("ledger", j, "run %s was skipped, but there is no such job or run", r.key)
		return
	}
	last := max(r.key.at, r.until)
	m.counts.skipped++
	j.note(m.now, "skipped", r.key.at, last, r.reason)
	m.history.add(m, r)
	switch {
	case r.reason == "quota":
		m.takeOverQuota(j, r)
	case len(j.owed) > 0 && r.key.at <= j.owed[len(j.owed)-1] && m.upcoming(j, "put", "pause") != nil:
		m.dropOwed(j, r.key.at, last, r.reason)
	case r.reason == "superseded" || r.reason == "paused" && m.upcoming(j, "put") != nil:
		m.dropByUpdate(j, r.key.at, last, r.reason)
	default:
		m.planned(j, *r)
	}
}

// dropOwed takes in that an act made what a job owes void.
func (m *model) dropOwed(j *modelJob, first, last int64, reason string) {
	act := m.upcoming(j, "put", "pause")
	want := "superseded"
	if act.kind == "pause" || act.def.paused && act.def.sameTicks(j.def) && (!j.done || j.def.at > 0) {
		want = "paused"
	}
	n := 0
	for n < len(j.owed) && j.owed[n] <= last {
		n++
	}
	if reason != want || n == 0 || j.owed[0] != first || j.owed[n-1] != last {
		m.fail("ledger", j, "owed ticks from %s to %s were dropped as %s, want %s; owed are %d", modelTime(first), modelTime(last), reason, want, len(j.owed))
		return
	}
	j.runs -= n
	j.owed = slices.Delete(j.owed, 0, n)
	j.settle(first, last)
	if act.kind == "pause" && j.def.maxRuns > 0 && j.runs < j.def.maxRuns && j.ticks.next(j.after) != 0 {
		j.done = false // it has not had all its runs
	}
}

// dropByUpdate takes in that an update skips ticks: old ones of the past, or new ones that are yet to come.
func (m *model) dropByUpdate(j *modelJob, first, last int64, reason string) {
	act := m.upcoming(j, "put")
	want := pick(j.paused, "paused", "superseded")
	isBeyond := first > m.now && reason == "superseded"
	switch {
	case isBeyond && m.comes(j, func(a *modelAct) bool { return a.kind == "put" && (!a.def.sameTicks(j.def) || j.done) }):
		j.beyond = append(j.beyond, [2]int64{first, last})
	case isBeyond || act == nil || act.def.sameTicks(j.def) && !j.done:
		m.fail("ledger", j, "ticks from %s to %s were skipped as %s without cause", modelTime(first), modelTime(last), reason)
	case first > m.now && first == last:
		act.ahead = append(act.ahead, modelAhead{tick: first})
	case reason != want || !j.hasTick(first) || !j.hasTick(last) || last > m.now:
		m.fail("ledger", j, "ticks from %s to %s were skipped as %s, want %s", modelTime(first), modelTime(last), reason, want)
	default:
		act.dropped = append(act.dropped, [2]int64{first, last})
	}
}

// anchorFor returns the anchor of a schedule that a job gets: an @every that it has already stays where it is.
func (j *modelJob) anchorFor(d *modelDef, now int64) int64 {
	if d.every > 0 && d.sameTicks(j.def) {
		return j.ticks.anchor
	}
	return now
}

func (j *modelJob) hasTick(at int64) bool { return j.ticks.next(at-1) == at }

// mayBeFilled reports whether a backfill may fill a tick: it goes by the present rules of the zone, whatever was due before they
// changed.
func (j *modelJob) mayBeFilled(at int64) bool {
	present := j.ticks
	present.kept, present.others = 0, nil
	return j.hasTick(at) || present.next(at-1) == at
}
