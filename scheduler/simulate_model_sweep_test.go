package scheduler

import (
	"cmp"
	"slices"
)

// Sweeps: now and then the model walks over everything and looks for what should have happened and did
// not.

// sweep checks everything at an instant at which the engine has come to rest.
func (m *model) sweep(now int64) {
	m.now = now
	m.counts.sweeps++
	total := 0
	for _, j := range m.order {
		total += len(j.owed)
	}
	patience := int64(float64(total)/m.pace.rate*1000) + 2000 + m.settings.slack
	for _, j := range m.order {
		if !j.deleted {
			m.sweepJob(j, patience)
		}
	}
	for _, j := range m.order {
		for _, r := range j.live {
			m.sweepRun(r)
		}
	}
	if m.history.late(m) {
		m.fail("history", nil, "the history is to be pruned up to day %d, and was up to %d", m.history.due(m), m.history.pruned)
	}
	m.forget()
}

func (m *model) sweepJob(j *modelJob, patience int64) {
	next := j.nextBound()
	buffered := 0
	for _, r := range j.waiting(m.now, nil) {
		if r.mode == "buffer_one" {
			buffered++
		}
	}
	switch {
	case next != 0 && !j.paused && next+j.def.jitter < m.now && !m.isFull(j, true) && !m.isHeld(j):
		m.fail("ledger", j, "tick %s has no outcome", modelTime(next))
	case len(j.owed) > 0 && m.settings.liveMax == 0 && !m.quotas.live && m.now-max(j.owes, m.pace.spent, m.life, m.stepped) > patience:
		m.fail("missed", j, "the job owes %s since %s", modelList(j.owed), modelTime(j.owes))
	case j.tired != 0 && !j.done && m.now > j.tired+m.settings.slack:
		m.fail("streak", j, "%d runs in a row died, the last at %s, and the job is not paused", j.streak, modelTime(j.tired))
	case buffered > 1:
		m.fail("overlap", j, "%d runs are buffered", buffered)
	}
}

func (m *model) sweepRun(r *modelRun) {
	j := r.job
	m.checkOutdone(r)
	again := slices.ContainsFunc(j.live, func(q *modelRun) bool { return q.mode == "again" && q != r })
	mayGo := !r.counted || r.turn || j.going() < max(1, r.limit) || r.mode == "cancel_other" && !again || r.mode == "skip"
	overdue := max(r.due, m.stepped)+m.settings.slack < m.now
	switch {
	case r.phase == phaseWaiting && overdue && mayGo && !r.loose:
		m.fail("stuck", j, "run %s (%s) is due since %s, could leave and did not", r.key, r.mode, modelTime(r.due))
	case r.left:
		m.fail("ledger", j, "the job is gone, and run %s was not skipped", r.key)
	case r.phase == phaseFlying && r.answer != nil:
		m.fail("stuck", j, "the answer to attempt %d of run %s was forgotten", r.attempt, r.key)
	case r.phase == phaseReporting && max(r.deadline, m.stepped)+m.settings.slack < m.now:
		m.fail("report", j, "the deadline %s of run %s passed, and nothing came of it", modelTime(r.deadline), r.key)
	}
}

// forget drops records that no later check needs.
func (m *model) forget() {
	kept := m.order[:0]
	for _, j := range m.order {
		if j.deleted && len(j.live) == 0 {
			delete(m.jobs, j.id)
			continue
		}
		kept = append(kept, j)
	}
	m.order = kept
	for key, r := range m.ended {
		// What ends today in a bucket that is gone already is there until the next pruning.
		pruned := key.at/modelDay < m.history.pruned && r.ended/modelDay < m.top/modelDay
		if m.jobs[key.job] == nil || pruned {
			delete(m.ended, key)
		}
	}
}

// checkNotices checks that every change of a run's state has its notice in the same commit, and that there are no
// others.
func (m *model) checkNotices() {
	n := 0
	for i := range m.changes {
		c := &m.changes[i]
		dead := m.settings.dead && c.status == "dead"
		if !dead && !m.settings.events {
			continue
		}
		if n == len(m.notices) {
			m.fail("notices", m.jobs[c.key.job], "nobody is told that run %s became %s; %d notices wait", c.key, c.status, len(m.outbox))
			return
		}
		o := &m.notices[n]
		if n++; o.key != c.key || o.status != c.status || o.reason != c.reason || o.until != c.until || o.attempt != c.attempt ||
			o.fence != c.fence || o.err != c.err || o.dead != dead || o.event != m.settings.events {
			m.fail("notices", m.jobs[c.key.job], "run %s became %s, attempt %d; the notice says %s of %s, attempt %d", c.key, c.status, c.attempt, o.status, o.key, o.attempt)
		}
	}
	if n < len(m.notices) {
		m.fail("notices", nil, "run %s is told of, and did not change", m.notices[n].key)
	}
}

// takeNotice records that a notice was written or deleted.
func (m *model) takeNotice(r *modelRow) {
	id := [2]uint64{r.lsn, uint64(r.seq)}
	if r.kind == rowNotice {
		m.notices = append(m.notices, *r)
		m.outbox[id] = &modelNotice{job: r.key.job}
		if j := m.jobs[r.key.job]; j != nil {
			m.outbox[id].name = j.name
		}
		return
	}
	n := m.outbox[id]
	if n == nil || !n.published && !m.mayLose(n.job) {
		m.fail("notices", nil, "notice %d-%d was dropped; it was not published, or is unknown", r.lsn, r.seq)
	}
	delete(m.outbox, id)
}

// modelNotice is a notice that waits.
type modelNotice struct {
	job       uint64
	name      string
	published bool
}

// published records that a notice was published, as one of the job with a name.
func (m *model) published(lsn uint64, seq uint32, name string) {
	n := m.outbox[[2]uint64{lsn, uint64(seq)}]
	if n != nil && n.name != name {
		m.fail("notices", m.jobs[n.job], "notice %d-%d was published as one of %s", lsn, seq, name)
	}
	if n == nil {
		m.fail("notices", nil, "notice %d-%d was published, and is unknown", lsn, seq)
		return
	}
	n.published = true
}

// modelHistory is what the history of a few jobs must have.
type modelHistory struct {
	rows   map[uint64]map[runKey]modelRow // by job
	pruned int64                          // days before it are gone
}

// modelWitnesses is of how many jobs one has its history kept.
const modelWitnesses = 13

func (h *modelHistory) add(m *model, r *modelRow) {
	if h.rows == nil {
		h.rows = make(map[uint64]map[runKey]modelRow)
	}
	if r.key.job%modelWitnesses != 0 {
		return
	}
	rows := h.rows[r.key.job]
	if rows == nil {
		rows = make(map[runKey]modelRow)
		h.rows[r.key.job] = rows
	}
	if _, twice := rows[r.key]; twice {
		m.fail("history", m.jobs[r.key.job], "run %s has two outcomes", r.key)
	}
	rows[r.key] = *r
}

func (h *modelHistory) remove(key runKey) { delete(h.rows[key.job], key) }

// has reports whether the bucket of a run is kept for some time to come.
func (h *modelHistory) has(key runKey) bool { return key.at/modelDay > h.pruned+1 }

// due returns the day from which on the history must be kept.
func (h *modelHistory) due(m *model) int64 {
	if m.settings.historyDays == 0 {
		return 0
	}
	return max(0, (m.now-m.settings.historyDays*modelDay)/modelDay)
}

// hasDay reports whether the history still has the runs of an instant's day. A backfill knows of no others.
func (h *modelHistory) hasDay(at int64) bool { return at/modelDay >= h.pruned }

func (h *modelHistory) late(m *model) bool {
	return m.settings.historyDays > 0 && h.pruned < (m.high-m.settings.historyDays*modelDay)/modelDay
}

// takePruned takes in that old days are gone.
func (m *model) takePruned(r *modelRow) {
	h := &m.history
	if r.name == "once" {
		if r.day > m.now/modelDay-1 {
			m.fail("once", nil, "keys are forgotten up to day %d", r.day)
		}
		return
	}
	if r.day > h.due(m) {
		m.fail("history", nil, "the %s is pruned up to day %d; from day %d on it is to be kept", r.name, r.day, h.due(m))
	}
	if h.pruned = max(h.pruned, r.day); r.name == "list of dead runs" {
		m.dead.prune(r.day)
	}
	for _, rows := range h.rows {
		for key := range rows {
			if key.at/modelDay < h.pruned {
				delete(rows, key)
			}
		}
	}
}

// of returns what the history must have of a job, oldest first.
func (h *modelHistory) of(j *modelJob) (list []modelRow) {
	for _, r := range h.rows[j.id] {
		if h.hasDay(r.key.at) { // missed ticks may come into days that are gone
			list = append(list, r)
		}
	}
	return sortedRows(list)
}

func compareKeys(a, b runKey) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) }

func sortedRows(list []modelRow) []modelRow {
	slices.SortFunc(list, func(a, b modelRow) int { return compareKeys(a.key, b.key) })
	return list
}
