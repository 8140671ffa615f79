package scheduler

import "slices"

// What an update makes of ticks: those of the old schedule that have passed and have no outcome end, those that are
// decided stay so, and of the new schedule none is lost that is yet to come.

// replan lets a job tick by another schedule from now on.
func (m *model) replan(j *modelJob, act *modelAct) {
	d := act.def
	ticks := m.ticksOf(d, j.anchorFor(d, m.now))
	if len(j.owed) > 0 {
		m.fail("ledger", j, "the job has another schedule, and owes %s", modelList(j.owed))
	}
	kept := int64(0)
	if len(act.ahead) > 0 && act.ahead[0].tick <= m.now {
		kept = act.ahead[0].tick
	}
	m.checkDropped(j, act, kept)
	m.checkKept(j, act, &ticks, kept)
	m.checkAhead(j, act, &ticks, kept)
	for _, r := range j.live {
		if r.key.seq == 0 && r.attempt == 1 && r.phase == phaseWaiting && r.due > m.now && !d.sameTicks(j.def) && ticks.next(r.key.at-1) != r.key.at {
			m.fail("ledger", j, "the new schedule has no tick for run %s, and it still waits", r.key)
		}
	}
	for _, r := range act.dropped {
		j.settle(r[0], r[1])
	}
	j.takeBeyond()
	for _, a := range act.ahead {
		j.settle(a.tick, a.tick)
		if a.due > 0 {
			j.runs++
		}
	}
	j.ticks, j.resumed, j.done, j.behind, j.befores = ticks, false, false, 0, nil
	if j.after = max(m.now, j.high); d.at > 0 {
		if j.after, j.away = d.at-1, m.now; m.isOver(j, d.at) {
			j.after = d.at
		}
	}
}

// isOver reports whether a one-shot is decided, or may have been before what the history goes back to.
func (m *model) isOver(j *modelJob, at int64) bool {
	return m.isSeenDecided(j, at) || at <= j.high && at/modelDay < m.history.pruned
}

// isSeenDecided reports whether the history shows the outcome of an instant. A range is kept for as long as its first tick would be,
// so one that began before that is not seen, although the instant is in it.
func (m *model) isSeenDecided(j *modelJob, at int64) bool {
	if m.settings.historyDays == 0 {
		return j.decided(at)
	}
	oldest := max(m.now-(m.settings.historyDays+1)*modelDay, m.history.pruned*modelDay)
	return slices.ContainsFunc(j.spans, func(s [2]int64) bool { return (s[0] == s[1] || s[0] >= oldest) && s[0] <= at && at <= s[1] })
}

// checkDropped checks that the old ticks of the past got their outcomes, and a one-shot of the past not by that.
func (m *model) checkDropped(j *modelJob, act *modelAct, kept int64) {
	shot := int64(0)
	if act.def.at > 0 && !m.isOver(j, act.def.at) {
		shot = act.def.at
	}
	has := func(at int64) bool {
		return slices.ContainsFunc(act.dropped, func(r [2]int64) bool { return r[0] <= at && at <= r[1] })
	}
	if has(kept) || has(shot) {
		m.fail("ledger", j, "the update dropped %s or %s, and keeps it", modelTime(kept), modelTime(shot))
	}
	for _, r := range act.dropped {
		if j.done || r[0] <= j.after {
			m.fail("ledger", j, "the update dropped ticks from %s on, which have an outcome", modelTime(r[0]))
		}
	}
	if j.done {
		return
	}
	for _, tick := range j.ticks.between(j.after, m.now+1) {
		if !has(tick) && tick != kept && tick != shot && !j.mayPass(tick) && !m.following {
			m.fail("ledger", j, "tick %s of the old schedule has no outcome", modelTime(tick))
		}
	}
}

// checkKept checks that a tick whose launch is still to come is kept if the new schedule has it.
func (m *model) checkKept(j *modelJob, act *modelAct, ticks *modelTicks, kept int64) {
	d, tick := act.def, j.next()
	full := d.maxRuns > 0 && j.runs >= d.maxRuns
	may := tick != 0 && tick <= m.now && !j.paused && !d.paused && d.at == 0 && !full && ticks.next(tick-1) == tick
	if kept != 0 && (!may || kept != tick) && !j.mayPass(tick) && !m.following {
		m.fail("ledger", j, "the update fires %s, which it must not", modelTime(kept))
	}
	if kept == 0 && may && tick+j.putOff(tick) >= m.now-m.settings.grace && len(j.befores) == 0 && !j.mayPass(tick) {
		m.fail("ledger", j, "tick %s is lost, and both schedules have it", modelTime(tick))
	}
}

// putOff returns by how much the jitter puts off a tick at least.
func (j *modelJob) putOff(tick int64) int64 {
	span := j.def.jitter
	if next := j.ticks.next(tick); next > tick {
		span = min(span, next-tick)
	}
	return int64(j.lowShare * float64(span))
}

// checkAhead checks that the update decides those ticks of the new schedule that come before where it begins.
func (m *model) checkAhead(j *modelJob, act *modelAct, ticks *modelTicks, kept int64) {
	d := act.def
	var want []int64
	if d.at == 0 && m.decidesAhead(j, act, kept) {
		for _, tick := range ticks.between(m.now, j.high+1) {
			if !j.decided(tick) {
				want = append(want, tick)
			}
		}
	}
	most := m.settings.aheadMax
	if kept != 0 {
		want = append([]int64{kept}, want...)
	}
	left := max(0, d.maxRuns-j.runs) + act.overQuota()
	full := d.maxRuns > 0 && min(len(want), most) > left && (!d.paused || left == 0) // the job is complete before
	if len(want) > most && !full {
		if rest := restOf(ticks, want[most:]); !slices.Equal(j.beyond, rest) {
			m.fail("ledger", j, "the update skips %v, want %v", j.beyond, rest)
		}
		want = want[:most]
	} else if len(j.beyond) > 0 {
		m.fail("ledger", j, "the update skips %v, which it must not", j.beyond)
	}
	if full {
		want = want[:left]
	}
	got := make([]int64, len(act.ahead))
	for i, a := range act.ahead {
		if got[i] = a.tick; (a.due == 0) != (d.paused || a.quota) || a.due != 0 && a.due < m.now {
			m.fail("ledger", j, "the update decides %s for %s; paused: %t", modelTime(a.tick), modelTime(a.due), d.paused)
		}
	}
	if !slices.Equal(got, want) {
		m.fail("ledger", j, "the update decides %s, want %s", modelList(got), modelList(want))
	}
}

// modelLeadMax is the largest lead that a process can have.
const modelLeadMax = 60_000

// decidesAhead reports whether the new schedule begins now, and not after what is decided. It does unless the clock was set back,
// whatever the lead was by which that was decided. If the clock was set back while no process was there, the engine may see it
// by what has finished at a later time, or not.
func (m *model) decidesAhead(j *modelJob, act *modelAct, kept int64) bool {
	switch ahead := j.high - m.now; {
	case ahead > modelLeadMax:
		return false
	case ahead <= m.settings.lead || m.now >= m.top:
		return true
	case m.now < m.presence.top:
		return false
	}
	some := slices.ContainsFunc(act.ahead, func(a modelAhead) bool { return a.tick != kept })
	return some || len(j.beyond) > 0
}

// takeBeyond takes in that the ranges have their outcome that an update skips before it is done.
func (j *modelJob) takeBeyond() {
	for _, r := range j.beyond {
		j.settle(r[0], r[1])
	}
	j.beyond = nil
}

// restOf returns the ranges of some ticks that an update does not decide: between two ticks of a range is no other.
func restOf(ticks *modelTicks, list []int64) (rest [][2]int64) {
	for i, tick := range list {
		if i > 0 && ticks.next(list[i-1]) == tick {
			rest[len(rest)-1][1] = tick
			continue
		}
		rest = append(rest, [2]int64{tick, tick})
	}
	return rest
}

// takeReplan takes in that jobs are to follow a calendar or the rules of their zone, or have followed. After a start
// the engine does not know any more which zone it was, and looks at them all.
func (m *model) takeReplan(begins bool) {
	m.following = begins
	for _, j := range m.order {
		inZone := j.def.zone != "" && j.def.every == 0 || slices.ContainsFunc(j.def.parts, func(p modelPart) bool { return p.zone != "" })
		if j.def.calendar != "" || inZone || len(j.befores) > 0 {
			for i := range j.befores {
				if b := &j.befores[i]; b.open && !begins {
					j.reticked = m.now
					b.free, b.open = max(b.free, max(m.now, m.high)+m.settings.lead), false
				}
			}
			m.goBack(j)
		}
	}
}

// changeCalendar lets the jobs of a calendar tick by its new lines. What it gives back within the lead may come or not.
func (m *model) changeCalendar(act *modelAct) {
	m.calendars[act.name] = act.lines
	for _, j := range m.order {
		if j.def.calendar != act.name || j.deleted {
			continue
		}
		m.reticks(j)
		j.note(m.now, "calendar", 0, 0, act.name)
	}
}

// reticks gives a job the ticks that its schedule has now.
func (m *model) reticks(j *modelJob) {
	free := max(m.now, m.high) + m.settings.lead
	j.befores = slices.DeleteFunc(j.befores, func(b modelBefore) bool { return b.free <= j.after })
	j.befores = append(j.befores, modelBefore{j.ticks, free, true})
	j.ticks, j.reticked = m.ticksOf(j.def, j.ticks.anchor), m.now
}

// changeRules lets the jobs of the zone that changes tick by its other rules. What was due before stays, unless a
// calendar may have changed it.
func (m *model) changeRules(rules int) {
	if rules == m.rules {
		return
	}
	m.rules = rules
	for _, j := range m.order {
		if !j.def.isIn(simMovedZone) || j.deleted {
			continue
		}
		due := j.overdue(m.now)
		m.reticks(j)
		if len(due) > 0 && j.def.calendar == "" {
			j.ticks.kept, j.ticks.keptFrom, j.ticks.others = due[0], j.after, due[1:]
		}
		if len(due) > 1 { // which one the job stood at is not known, and what is before it does not come
			j.behind = max(j.behind, due[len(due)-1])
		}
		j.note(m.now, "rules", int64(rules), int64(len(due)), "")
	}
}

// overdue returns the ticks up to now that a job may stand at: the first one that must get an outcome, and those before
// it that may be left without one, as where the clock was set back, or in the lead of a start under other rules.
func (j *modelJob) overdue(now int64) (list []int64) {
	for tick := j.next(); tick != 0 && tick <= now; tick = j.ticks.next(tick) {
		if list = append(list, tick); !j.mayPass(tick) {
			break
		}
	}
	return list
}

// goBack lets a job that a calendar has moved tick where it did already, because the clock was set back: nothing that
// has an outcome gets another, and the rest may come or not, up to what the job has of later.
func (m *model) goBack(j *modelJob) {
	if m.now < j.high && len(j.befores) > 0 {
		j.behind = max(j.behind, j.high)
	}
	if from := max(m.now, j.high); m.now < m.top && from < j.after {
		j.behind = max(j.behind, j.after)
		j.after = from
	}
	for _, at := range append(j.ticks.others[:len(j.ticks.others):len(j.ticks.others)], j.ticks.kept) {
		if m.now < at { // it is yet to come once more, and a leader that looks at all jobs plans it by the rules of now
			j.behind = max(j.behind, at)
		}
	}
}

// hasTicks reports whether a definition has ticks to come, whatever time it is.
func (m *model) hasTicks(d *modelDef) bool {
	ticks := m.ticksOf(d, m.now)
	return ticks.next(m.top+modelDay) != 0
}

// isBarren reports whether the rules of its zone have left a definition no tick beside its exclusions.
func (m *model) isBarren(d *modelDef) bool {
	return d.isIn(simMovedZone) && (d.calendar != "" || d.exclude != nil) && !m.hasTicks(d)
}

// leavesAll reports whether a calendar leaves ticks to all the jobs that follow it.
func (m *model) leavesAll(a *modelAct) bool {
	old, some := m.calendars[a.name]
	m.calendars[a.name] = a.lines
	all := true
	for _, j := range m.order {
		all = all && (j.def.calendar != a.name || m.hasTicks(j.def))
	}
	if m.calendars[a.name] = old; !some {
		delete(m.calendars, a.name)
	}
	return all
}
