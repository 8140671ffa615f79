package scheduler

import (
	"slices"
)

// modelPhase is where a live run is.
type modelPhase string

// The phases of a live run.
const (
	phaseWaiting   modelPhase = "waits"   // for its time or its turn
	phaseFlying    modelPhase = "flies"   // its target has it and did not answer
	phaseReporting modelPhase = "reports" // a worker is to report
)

// modelRun is a run as the model knows it.
type modelRun struct {
	key           runKey
	job           *modelJob
	phase         modelPhase
	due, decided  int64
	attempt, base uint32
	fence         uint64 // that the newest attempt began with
	sent          uint64 // highest that a target got
	sentAttempt   uint32
	sentLife      bool // in this life of the process
	launched      int64
	deadline      int64
	stale         uint32
	answer        *modelAnswer // that is not in the log yet

	counted  bool      // only so many go at a time
	turn     bool      // it is one of those
	yielded  bool      // its target's answer ends it, so it gave its turn up before that is in the log
	regained bool      // and took it back, because a worker spoke up before the answer was in the log
	vague    bool      // an update came while it was with its target: it may keep its turn until its end is in the log
	made     *modelDef // as of its newest launch
	outrun   int64     // when one that may have asked for its end, to take its turn, was withdrawn
	limit    int
	loose    bool   // the limit changed while it waited: its place among others is not checked
	mode     string // what it does if it has to wait
	outdone  bool   // it was going at the start, and a later one was due
	left     bool   // its job was deleted, and it is skipped in this life
	payload  bool   // of its own

	status string // final, "" if it is live
	reason string
	ended  int64

	dismissed bool // dead, and dealt with
}

// restart takes in that the process was started anew.
func (r *modelRun) restart(now int64) {
	r.sentLife, r.answer, r.yielded, r.vague, r.regained, r.made, r.outrun, r.left = false, nil, false, false, false, r.job.def, 0, false
	if r.phase == phaseFlying {
		r.phase = phaseWaiting
	}
	if limit := r.job.def.limit(); !r.job.deleted {
		r.counted, r.limit = limit > 0, limit
	}
	r.turn = r.counted && (r.phase == phaseReporting || r.attempt > r.base+1)
	switch {
	case r.key.seq > 0 || r.base > 0:
		r.mode = "wait"
	case r.due > now:
		r.mode = r.job.def.overlap
	default:
		r.mode = "again"
	}
}

// outdo marks the runs that are to end because the process finds later ones that are due. These go one after the other.
func (j *modelJob) outdo() {
	isDue := func(r *modelRun) bool {
		return r.mode == "again" && r.counted && r.phase == phaseWaiting && r.attempt == 1
	}
	outdone := !j.deleted && j.def.overlap == "cancel_other" && slices.ContainsFunc(j.live, isDue)
	for _, r := range j.live {
		r.outdone = outdone && r.turn
	}
}

// checkOutdone checks that a run which the start had to end does nothing any more.
func (m *model) checkOutdone(r *modelRun) {
	if r.outdone && max(m.life, m.stepped)+m.settings.slack < m.now {
		m.fail("overlap", r.job, "run %s goes on, and a later one was due at the start", r.key)
	}
}

// setTurn gives a run its turn, or takes it.
func (m *model) setTurn(r *modelRun, turn bool) {
	j := r.job
	if j.went != m.steps {
		j.went, j.wentCount = m.steps, j.going()
	}
	switch {
	case r.turn && !turn:
		j.freed, j.yielded = m.now, m.now
	case turn && !r.turn:
		if j.took = m.now; r.mode == "cancel_other" {
			j.tookOver = m.now
		}
	}
	r.turn = turn
}

// yield takes the turn of a run whose target has given an answer that ends it.
func (m *model) yield(r *modelRun, a *modelAnswer) {
	n := int(r.attempt - r.base)
	if r.turn && (r.made.endsWith(a, n) || r.vague && r.job.def.endsWith(a, n)) {
		m.setTurn(r, false)
		r.yielded = true
	}
}

// goesOn gives a run its turn back whose end did not come, because of an update.
func (m *model) goesOn(r *modelRun) {
	if r.yielded {
		m.setTurn(r, true)
		r.regained = true
	}
	r.yielded, r.vague, r.made = false, false, r.job.def
}

// endsWith reports whether an answer to the n-th attempt ends a run for sure.
func (d *modelDef) endsWith(a *modelAnswer, n int) bool {
	if a.err == "" {
		return !d.reported
	}
	return n >= d.retry.attempts || a.refused && !d.retry.refusals
}

// takeRun takes in a row of a live run.
func (m *model) takeRun(row *modelRow) {
	r := m.runs[row.key]
	if r == nil {
		m.begin(row)
		return
	}
	r.job.note(m.now, row.status, r.key.at, int64(row.attempt), row.err)
	m.checkOutdone(r)
	switch {
	case row.stale == r.stale+1:
		m.refused(r, row)
		return
	case row.base != r.base:
		m.fail("retry", r.job, "run %s counts from attempt %d now, not %d", r.key, row.base, r.base)
	case row.status == "retrying" && row.attempt == r.attempt+1:
		m.again(r, row)
	case row.status == "running" && row.attempt == r.attempt && r.phase == phaseReporting:
		m.extended(r, row)
		return
	case row.status == "running" && row.attempt == r.attempt:
		m.reporting(r, row)
	default:
		m.fail("ledger", r.job, "run %s became %s at attempt %d; it is at %d", r.key, row.status, row.attempt, r.attempt)
	}
	m.changes = append(m.changes, *row)
}

// begin takes in a run that is new.
func (m *model) begin(row *modelRow) {
	j := m.jobs[row.key.job]
	switch {
	case j == nil || j.deleted:
		m.fail("ledger", j, "run %s has no job", row.key)
		return
	case m.ended[row.key] != nil:
		m.revive(row)
		return
	case row.status != "pending" || row.attempt != 1 || row.base != 0 || row.fence != m.lsn:
		m.fail("ledger", j, "run %s begins as %s with attempt %d and fence %d", row.key, row.status, row.attempt, row.fence)
	}
	r := &modelRun{key: row.key, job: j, phase: phaseWaiting, due: row.due, decided: m.now, attempt: 1, fence: row.fence, mode: j.def.overlap}
	r.limit, r.made = j.def.limit(), j.def
	r.counted = r.limit > 0
	j.note(m.now, "run", r.key.at, r.due, "")
	m.counts.fired++
	j.fired[r.key.at]++
	if r.key.seq == 0 {
		if slices.Contains(j.owed, r.key.at) {
			r.mode = "wait"
		}
		m.fire(j, row)
	} else {
		r.mode = "wait"
		r.payload = m.beginManual(j, row)
	}
	m.runs[r.key] = r
	j.live = append(j.live, r)
	m.changes = append(m.changes, *row)
	if r.key.seq > 0 {
		m.checkByHand(j)
		m.checkStarted(j)
	}
}

// beginManual records a run that a caller asked for, and reports whether it has a payload of its own.
func (m *model) beginManual(j *modelJob, row *modelRow) (payload bool) {
	act := m.upcoming(j, "trigger", "backfill")
	j.manual++
	switch {
	case act == nil:
		m.fail("ledger", j, "run %s was asked for by nobody", row.key)
		return false
	case row.key.seq != j.manual || row.due != m.now:
		m.fail("ledger", j, "the manual run %s is number %d and due at %s", row.key, j.manual, modelTime(row.due))
	case act.kind == "trigger" && row.key.at != m.now:
		m.fail("ledger", j, "the run %s was triggered at %s", row.key, modelTime(m.now))
	case act.kind == "backfill" && (row.key.at < act.from || row.key.at >= act.to || !j.mayBeFilled(row.key.at)):
		m.fail("ledger", j, "run %s is outside of what was to be filled", row.key)
	case act.kind == "backfill" && !act.repeat && (j.fired[row.key.at] > 1 && m.history.hasDay(row.key.at) || slices.Contains(j.owed, row.key.at)):
		m.fail("ledger", j, "run %s fills in a tick that a run has fired, or is about to", row.key)
	}
	j.high = max(j.high, row.key.at)
	act.gotRun = row.key
	act.runs++
	return act.kind == "trigger" && act.length > 0
}

// revive takes in that a run that was over begins another attempt by hand.
func (m *model) revive(row *modelRow) {
	r := m.ended[row.key]
	j := r.job
	delete(m.ended, row.key)
	j.note(m.now, "revived", row.key.at, int64(row.attempt), "")
	act := m.upcoming(j, "retry")
	if act == nil || act.run != row.key {
		m.fail("ledger", j, "run %s lives again, and nobody asked for it", row.key)
	}
	if row.status != "retrying" || row.attempt != r.attempt+1 || row.base != r.attempt || row.fence != m.lsn || row.due != max(m.now, row.key.at) {
		m.fail("retry", j, "run %s is retried by hand with attempt %d after %d and %d, fence %d", row.key, row.attempt, row.base, r.attempt, row.fence)
	}
	*r = modelRun{
		key: r.key, job: j, phase: phaseWaiting, due: row.due, decided: m.now, attempt: row.attempt, base: row.base, fence: row.fence,
		payload: r.payload, sent: r.sent, sentAttempt: r.sentAttempt, stale: row.stale, mode: "wait", limit: j.def.limit(), made: j.def,
	}
	r.counted = r.limit > 0
	m.runs[r.key] = r
	j.live = append(j.live, r)
	m.changes = append(m.changes, *row)
	m.checkByHand(j)
	m.checkStarted(j)
}
