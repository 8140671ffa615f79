package scheduler

import "slices"

// The ends of runs: each needs a cause that the model knows.

// takeRunGone takes in that a run is not live any more. Its outcome is in the same commit.
func (m *model) takeRunGone(row *modelRow) {
	r := m.runs[row.key]
	if r == nil {
		m.fail("ledger", m.jobs[row.key.job], "run %s came to its end, and was not live", row.key)
		return
	}
	m.gone = append(m.gone, r)
}

// takeFinal takes in a row of the history.
func (m *model) takeFinal(row *modelRow) {
	r := m.runs[row.key]
	if row.dismissed {
		m.takeDismissed(row)
		return
	}
	m.changes = append(m.changes, *row)
	if r == nil {
		if row.status != "skipped" || row.attempt != 0 {
			m.fail("ledger", m.jobs[row.key.job], "run %s became %s, and was not live", row.key, row.status)
			return
		}
		m.takeSkipped(row)
		return
	}
	m.counts.finals++
	m.counts.by[row.status+" "+row.reason]++
	r.job.note(m.now, row.status, r.key.at, int64(row.attempt), row.reason+" "+row.err)
	if row.attempt != r.attempt || row.until != 0 || row.deadline != 0 {
		m.fail("ledger", r.job, "run %s ended at attempt %d, want %d", r.key, row.attempt, r.attempt)
	}
	if row.status == "skipped" {
		r.job.fired[r.key.at]--
	}
	m.checkEnd(r, row)
	m.checkOutdone(r)
	m.noteOutrun(r)
	r.status, r.reason, r.ended = row.status, row.reason, m.now
	if r.turn || r.vague {
		m.setTurn(r, false)
		r.job.yielded = m.effective
	}
	delete(m.runs, r.key)
	r.job.drop(r)
	r.job.freed = m.now
	m.over.count(r)
	if r.status == "dead" || r.status == "cancelled" {
		m.ended[r.key] = r
	}
	m.history.add(m, row)
}

// checkEnd is a flat switch over the ends of a run.
func (m *model) checkEnd(r *modelRun, row *modelRow) {
	j := r.job
	switch row.status {
	case "succeeded":
		m.checkSucceeded(r)
		j.streak, j.tired, j.lastDead = 0, 0, false
	case "dead":
		m.checkDead(r, row)
		j.lastDead = true
		m.grow(j)
	case "skipped":
		m.checkSkipped(r, row)
	case "cancelled":
		m.checkCancelled(r, row)
	default:
		m.fail("ledger", j, "run %s became %q", r.key, row.status)
	}
}

// grow counts a dead run.
func (m *model) grow(j *modelJob) {
	if j.def.pauseOnFailure == 0 || j.deleted {
		return
	}
	j.streak++
	if j.streak < j.def.pauseOnFailure {
		return
	}
	j.tiredLast = m.now
	if j.tired == 0 && !j.paused {
		j.tired = m.now
	}
}

// isTired reports whether enough runs of a job died in a row for a pause. An update may bring that about, too: the next
// start pauses the job then.
func (j *modelJob) isTired() bool {
	return j.def.pauseOnFailure > 0 && j.streak >= j.def.pauseOnFailure
}

func (m *model) checkSucceeded(r *modelRun) {
	j := r.job
	if r.phase == phaseFlying && r.answer != nil && r.answer.err == "" && (!j.def.reported || j.deleted) {
		return
	}
	if r.phase == phaseReporting {
		for _, a := range m.asked {
			if a.kind == "report" && a.run == r.key && !a.failed && a.fence == r.sent {
				a.done = m.lsn
				return
			}
		}
	}
	m.fail("ledger", j, "run %s succeeded, and nobody said so (it %s)", r.key, r.phase)
}

func (m *model) checkDead(r *modelRun, row *modelRow) {
	j := r.job
	cause := m.failureOf(r, row.err)
	if cause == nil {
		m.fail("retry", j, "run %s died of %q, of which the model does not know", r.key, row.err)
		return
	}
	n := int(r.attempt - r.base)
	_, high := j.def.retry.wait(n, cause.retryAfter)
	exhausted := n >= j.def.retry.attempts || cause.refused && !j.def.retry.refusals
	if !exhausted && !j.def.retry.tooOld(r, m.now+high) || j.deleted {
		m.fail("retry", j, "run %s died after %d attempts (refused %t)", r.key, n, cause.refused)
	}
}

// checkSkipped checks why a run that was decided never left.
func (m *model) checkSkipped(r *modelRun, row *modelRow) {
	j := r.job
	if r.sentLife || r.attempt > 1 {
		m.fail("ledger", j, "run %s was skipped after it was launched", r.key)
	}
	ok := false
	switch row.reason {
	case "overlap":
		ok = r.left || m.overlaps(r)
	case "quota":
		ok = r.counted && r.due <= m.latest() && len(j.waiting(m.latest(), r)) >= 1000
	case "paused":
		ok = r.key.seq == 0 && m.comes(j, func(a *modelAct) bool { return a.kind == "pause" || a.kind == "put" && a.def.paused })
	case "superseded":
		ok = r.key.seq == 0 && m.comes(j, func(a *modelAct) bool { return a.kind == "put" && (!a.def.sameTicks(j.def) || j.done) })
	case "deleted":
		ok = m.comes(j, isDelete)
	}
	if !ok {
		m.fail("overlap", j, "run %s was skipped (%s) without cause; its mode is %s, %d are going", r.key, row.reason, r.mode, j.goingBefore(m.steps))
	}
}

func isDelete(a *modelAct) bool { return a.kind == "delete" }

// overlaps reports whether a run had to be skipped because of others.
func (m *model) overlaps(r *modelRun) bool {
	j := r.job
	if !r.counted || r.due > m.latest() || r.mode == "again" {
		return false
	}
	if m.settings.cut && m.now <= max(j.freed, j.touched)+m.settings.slack {
		return true // what was in its way has ended, for which an earlier step had room
	}
	waiting := j.waiting(m.latest(), r)
	buffered := len(waiting)
	if j.goingBefore(m.steps) == 0 && j.yielded < r.due {
		if buffered--; buffered < 0 {
			return false
		} // else one of them has its turn, and its row is being read
	}
	for _, q := range waiting {
		if q.mode == "cancel_other" {
			return true
		}
	}
	if j.tookOver >= r.due {
		return true // one of them has its turn by now
	}
	return r.mode == "skip" || r.mode == "buffer_one" && (buffered > 0 || j.freed == m.now || j.took >= r.due)
}

func (m *model) checkCancelled(r *modelRun, row *modelRow) {
	j := r.job
	ok := false
	switch row.reason {
	case "requested":
		act := m.upcoming(j, "cancel")
		ok = act != nil && act.run == r.key
	case "deleted":
		ok = j.deleted || m.comes(j, isDelete)
	case "overlap":
		ok = r.counted && slices.ContainsFunc(j.live, func(q *modelRun) bool { return m.ends(q, r) })
		ok = ok || r.outdone || m.settings.cut && r.outrun != 0 && m.now <= r.outrun+m.settings.slack
	case "quota":
		ok = r.attempt > 1 && len(j.waiting(m.now, r)) >= 1000
	}
	if !ok {
		m.fail("overlap", j, "run %s was cancelled (%s) without cause", r.key, row.reason)
	}
	m.checkCancelledLaunch(r, row)
}

// checkCancelledLaunch checks that a cancelled run shows the launch of the attempt that had left, and no other.
func (m *model) checkCancelledLaunch(r *modelRun, row *modelRow) {
	switch {
	case r.phase == phaseFlying && row.launched != r.launched && row.reason != "deleted":
		m.fail("ledger", r.job, "run %s was cancelled, and shows the launch %s; it had left at %s", r.key, modelTime(row.launched), modelTime(r.launched))
	case r.phase == phaseReporting && row.launched == 0, r.sent == 0 && row.launched != 0:
		m.fail("ledger", r.job, "run %s was cancelled while it %s, and shows the launch %s", r.key, r.phase, modelTime(row.launched))
	}
}

// ends reports whether a run ends others to take their turn. It may have begun while a commit had no room for their ends,
// or because the other has ended by itself meanwhile. If it begins during the commit that ends others, because the one in
// progress has given its turn up, then those others had waited, and it ended them when it came due.
func (m *model) ends(q, other *modelRun) bool {
	waits := q.phase == phaseWaiting && !q.turn
	began := q.phase == phaseFlying && q.launched >= m.now && other.phase == phaseWaiting && !other.turn
	return q != other && q.counted && q.mode == "cancel_other" && q.due <= m.latest() && (waits || m.settings.cut || other.yielded || other.regained || began)
}

// launch takes in that a target gets an attempt.
func (m *model) launch(l modelLaunch) {
	m.now = l.at
	m.counts.launches++
	r := m.runs[l.key]
	if r == nil {
		m.fail("launch", m.jobs[l.key.job], "run %s was launched, and is not live", l.key)
		return
	}
	j := r.job
	j.note(l.at, "launch", l.key.at, int64(l.attempt), "")
	switch {
	case j.deleted:
		m.fail("launch", j, "run %s was launched after the job was deleted", l.key)
	case l.at < l.key.at || l.at < r.due:
		m.fail("launch", j, "run %s was launched early: it is due at %s", l.key, modelTime(r.due))
	case r.phase != phaseWaiting:
		m.fail("launch", j, "run %s was launched while it %s", l.key, r.phase)
	case l.attempt != r.attempt:
		m.fail("launch", j, "run %s was launched with attempt %d, want %d", l.key, l.attempt, r.attempt)
	case l.fence <= r.sent || l.fence < r.fence || l.fence > m.lsn:
		m.fail("fence", j, "run %s was launched with fence %d after %d; its attempt began with %d", l.key, l.fence, r.sent, r.fence)
	case j.paused && r.attempt == 1 && r.key.seq == 0 && r.sent == 0:
		m.fail("launch", j, "run %s was launched although the job is paused", l.key)
	}
	m.checkOutdone(r)
	m.checkTurn(r)
	m.checkInTime(r)
	r.phase, r.sent, r.sentAttempt, r.sentLife, r.launched = phaseFlying, l.fence, l.attempt, true, l.at
}

// checkTurn checks that a launch has its turn, and that no other launch was before it.
func (m *model) checkTurn(r *modelRun) {
	j := r.job
	if !r.counted || r.turn {
		return
	}
	if j.going() >= max(1, r.limit) {
		m.fail("overlap", j, "run %s was launched although %d are going; %d may", r.key, j.going(), r.limit)
	}
	overtakes := r.mode == "cancel_other" && (m.settings.cut || j.yielded >= r.due) // the log has still to say what it ended
	for _, q := range j.waiting(m.now, r) {
		isOver := q.mode == "skip" || q.mode == "buffer_one" || j.tookOver >= q.due                    // one that ends others has had its turn since then
		isOver = isOver || slices.ContainsFunc(j.live, func(o *modelRun) bool { return m.ends(o, q) }) // or waits for a retried one, which it does not end
		skipped := overtakes || isOver && (m.settings.cut || j.yielded >= q.due)                       // and the log has still to say so
		if (!skipped || q.mode == "again") && q.isBefore(r) && m.stepLSN < q.fence {
			m.fail("order", j, "run %s was launched before %s, which waits for longer", r.key, q.key)
		}
	}
	m.setTurn(r, true)
}

// isBefore reports whether a run of the same job has its turn first: it was decided before the other, and is due before it.
func (r *modelRun) isBefore(o *modelRun) bool {
	if r.due > o.due || r.fence > o.fence || r.loose || o.loose {
		return false
	}
	sameBackfill := r.fence == o.fence && r.key.seq > 0 && o.key.seq > r.key.seq
	return r.due < o.due || sameBackfill
}

// checkInTime checks that a launch left as soon as it could.
func (m *model) checkInTime(r *modelRun) {
	soonest := max(r.due, m.life, r.decided, m.stepped, r.job.touched)
	if r.counted {
		soonest = max(soonest, r.job.freed)
	}
	if m.now > soonest+m.settings.slack {
		m.fail("late", r.job, "run %s was launched at %s, and could have left at %s", r.key, modelTime(m.now), modelTime(soonest))
	}
}

// tell records what a target answers to an attempt.
func (m *model) tell(key runKey, a *modelAnswer, at int64) {
	r, now := m.runs[key], m.now
	if r != nil && r.phase == phaseFlying && r.attempt == a.attempt {
		r.job.note(m.now, "answer", key.at, int64(a.attempt), a.err)
		r.answer = a
		m.now = at
		m.yield(r, a)
		m.now = now
	}
}
