package scheduler

import (
	"math"
	"slices"
)

// What the changes of a job bring about.

func (m *model) create(r *modelRow, act *modelAct) {
	if m.names[act.name] != nil {
		m.fail("audit", m.names[act.name], "%s was created, and exists", act.name)
	}
	m.checkPut(act, nil)
	j := &modelJob{
		size: act.size,
		id:   r.key.job, name: act.name, def: act.def, paused: act.def.paused, touched: m.now, keys: make(map[string]modelUse), fired: make(map[int64]int),
	}
	m.checkID(j, act)
	j.ticks = m.ticksOf(act.def, m.now)
	if j.after = m.now; act.def.at > 0 {
		j.after, j.away = act.def.at-1, m.now
	}
	j.note(m.now, "created", 0, 0, act.def.expr)
	m.jobs[j.id], m.names[j.name] = j, j
	m.order = append(m.order, j)
}

// update gives a job a new definition. Its ticks go on where they are, unless it ticks otherwise now.
func (m *model) update(j *modelJob, act *modelAct) {
	wasPaused, d := j.paused, act.def
	m.checkPut(act, j)
	j.size = act.size
	j.note(m.now, "updated", 0, 0, d.expr)
	if d.paused && !wasPaused {
		j.resumed = false
	}
	switch {
	case d.sameTicks(j.def) && d.at > 0 && slices.Contains(j.owed, d.at): // it is owed, and stays so
	case !d.sameTicks(j.def) || j.done || j.passed != 0:
		m.replan(j, act)
	case len(act.ahead) > 0 || len(act.dropped) > 0:
		m.fail("ledger", j, "the schedule stays, and the update decides %d ticks and drops %d ranges", len(act.ahead), len(act.dropped))
	case wasPaused && !d.paused:
		j.resumes(m.now)
	default:
		j.comesNearer(m.now)
	}
	if wasPaused && !d.paused {
		j.streak = 0
	}
	for _, r := range j.live {
		if slices.ContainsFunc(act.ahead, func(a modelAhead) bool { return a.tick == r.key.at && r.key.seq == 0 }) {
			r.mode, r.limit, r.counted, r.made = d.overlap, pick(d.limit() == 0, math.MaxInt, d.limit()), d.limit() > 0, d
			continue // the update decided it
		}
		if r.phase == phaseWaiting && r.fence <= m.stepFrom {
			r.made = d
		} else {
			r.vague = true
		}
		r.loose = r.loose || d.limit() != j.def.limit()
		r.limit = pick(d.limit() == 0, math.MaxInt, d.limit())
		if d.limit() == 0 && r.phase == phaseWaiting && !r.turn {
			r.counted = false // it is put back without a limit, and stays so under the next definition
		}
	}
	if j.def, j.paused, j.tired = d, d.paused, 0; d.paused && len(j.owed) > 0 && !wasPaused {
		m.fail("ledger", j, "the job is paused, and still owes %s", modelList(j.owed))
	}
	j.finish(m.now, m.lsn)
}

func (j *modelJob) resumes(now int64) {
	next := j.next()
	j.resumed, j.anew, j.away = next != 0 && next <= now, j.mayPass(next), now
}

func (m *model) remove(j *modelJob, act *modelAct) {
	if act.by == "carillon" {
		if !m.mayReap(j) {
			m.fail("reap", j, "the job was deleted by the engine too early: done since %s", modelTime(j.doneAt))
		}
		if len(j.live) > 0 {
			m.fail("reap", j, "the job was deleted by the engine although run %s is not over", j.live[0].key)
		}
	}
	for _, r := range j.live {
		// One that the engine skipped may have its end in a later step, where commits are small.
		r.left = m.settings.cut && r.phase == phaseWaiting && m.overlaps(r)
		if r.phase != phaseFlying && !r.left {
			m.fail("ledger", j, "the job is gone, and run %s still %s", r.key, r.phase)
		}
	}
	j.deleted, m.deletions.at[j.id], m.deletions.lsn[j.id] = true, m.now, m.lsn
	j.owed = nil
	delete(m.names, j.name)
}

// mayReap reports whether the engine may delete a job by itself: it has been done for as long as it is to be kept, or the clock was
// set back since.
func (m *model) mayReap(j *modelJob) bool {
	at, lsn := j.doneAt, j.doneLSN
	if !j.done && j.passed != 0 {
		at, lsn = j.passed, 0
	} else if !j.done {
		return false
	}
	retention := m.settings.retention
	if j.lastDead {
		retention = max(retention, m.settings.historyDays*modelDay)
	}
	return len(j.owed) == 0 && (m.settings.retention > 0 && m.now >= at+retention || m.backLSN > 0 && m.backLSN >= lsn)
}

func (m *model) pause(j *modelJob, act *modelAct) {
	if j.paused {
		m.fail("audit", j, "the job was paused twice")
	}
	if act.by == "carillon" && !j.isTired() && m.now > j.tiredLast+m.settings.slack {
		m.fail("streak", j, "the job was paused after %d runs that died in a row", j.streak)
	}
	if len(j.owed) > 0 {
		m.fail("ledger", j, "the job is paused, and still owes %s", modelList(j.owed))
	}
	for _, r := range j.live {
		if r.key.seq == 0 && r.attempt == 1 && r.phase == phaseWaiting && r.due > m.now {
			m.fail("ledger", j, "the job is paused, and run %s still waits", r.key)
		}
	}
	j.paused, j.tired, j.resumed = true, 0, false
}

// noteOutrun takes in that a run which waits for its turn is withdrawn, as by a pause. If it ends others to take their
// turn, it has asked for their end when it came due; where commits are small, that end may follow in a later one.
func (m *model) noteOutrun(q *modelRun) {
	if q.phase != phaseWaiting || q.turn || q.attempt > 1 {
		return
	}
	for _, r := range q.job.live {
		if r.turn && m.ends(q, r) {
			r.outrun = m.effective
		}
	}
}

func (m *model) resume(j *modelJob) {
	if !j.paused {
		m.fail("audit", j, "the job was resumed twice")
	}
	j.paused, j.streak, j.tired = false, 0, 0
	j.resumes(m.now)
}

func (m *model) triggered(j *modelJob, act *modelAct) {
	if act.runs != 1 {
		m.fail("audit", j, "the job was triggered, and %d runs began", act.runs)
	}
	if act.key == "" {
		return
	}
	if use, used := j.keys[act.key]; used && m.now-use.at < modelDay && m.top == m.high {
		m.fail("once", j, "the key %q began run %s, and now %s", act.key, use.run, act.gotRun)
	}
	j.keys[act.key] = modelUse{run: act.gotRun, at: m.now}
	if j.used = append(j.used, act.key); len(j.used) > 4 {
		j.used = slices.Delete(j.used, 0, 1)
	}
}
