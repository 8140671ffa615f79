package scheduler

import "slices"

// What becomes of ticks when a calendar or the rules of a zone change under a job.

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
		j.note(m.now, "calendar", j.ticks.next(j.after), 0, act.name)
	}
}

// reticks gives a job the ticks that its schedule has now.
func (m *model) reticks(j *modelJob) {
	free := max(m.now, m.high) + m.settings.lead
	j.befores = slices.DeleteFunc(j.befores, func(b modelBefore) bool { return b.free <= j.after })
	j.befores = append(j.befores, modelBefore{j.ticks, free, true})
	wasBarred := j.ticks.next(j.after) == 0
	j.ticks, j.reticked = m.ticksOf(j.def, j.ticks.anchor), m.now
	if at := j.def.at; at > 0 && !j.done && j.passed == 0 && wasBarred && !m.isBarred(j.def) && at <= max(free, j.high) {
		j.passed = m.now
	}
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

// isBarred reports whether a calendar leaves out the date of a one-shot: the job has failed until another one restores it.
func (m *model) isBarred(d *modelDef) bool { return d.at > 0 && m.leavesOutDate(d, m.rules) }

// leavesAll reports whether a calendar leaves ticks to all the jobs that follow it.
func (m *model) leavesAll(a *modelAct) bool {
	old, some := m.calendars[a.name]
	m.calendars[a.name] = a.lines
	all := true
	for _, j := range m.order {
		all = all && (j.def.calendar != a.name || j.def.at > 0 || m.hasTicks(j.def))
	}
	if m.calendars[a.name] = old; !some {
		delete(m.calendars, a.name)
	}
	return all
}
