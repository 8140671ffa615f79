package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// The list of dead runs: a run is on it from its death until a caller retries or dismisses it, or its day is pruned.
// Nothing else takes it off, and nothing but another death puts it back.

// modelDeadList is the list of dead runs as the log has it.
type modelDeadList struct {
	runs    map[runKey]bool
	touched []runKey // by the commit going on
	marks   bool     // the store has dismissed runs, so that every node has to read them
}

// isListed reports whether a run must be on the list.
func (m *model) isListed(key runKey) bool {
	r := m.ended[key]
	return r != nil && r.status == "dead" && !r.dismissed && m.runs[key] == nil
}

// expectDismiss expects what a dismissal must be answered. As long as there is no dismissed run, a node that cannot read
// one is a reason to refuse it.
func (m *model) expectDismiss(a *modelAct) string {
	if r := m.runs[a.run]; r != nil && r.answer == nil && !r.job.deleted {
		return "version_conflict"
	}
	r := m.ended[a.run]
	switch {
	case r == nil || r.job.deleted || !m.history.has(a.run):
		return "?"
	case r.status != "dead":
		return "run_over"
	case r.dismissed:
		a.idle = true
		return ""
	case !m.dead.marks:
		return "?"
	}
	return ""
}

// takeDismissed takes in that a run of the history gets the mark of a dismissal.
func (m *model) takeDismissed(row *modelRow) {
	r, j := m.ended[row.key], m.jobs[row.key.job]
	m.dead.touched, m.dead.marks = append(m.dead.touched, row.key), true
	switch act := m.upcoming(j, "dismiss"); {
	case r == nil || r.status != "dead" || r.dismissed:
		m.fail("history", j, "run %s was dismissed, and was not listed as dead", row.key)
		return
	case act == nil || act.run != row.key:
		m.fail("history", j, "run %s was dismissed, and nobody asked for it", row.key)
	case row.status != "dead" || row.attempt != r.attempt:
		m.fail("history", j, "run %s became %s at attempt %d when it was dismissed", row.key, row.status, row.attempt)
	}
	r.dismissed = true
	m.history.remove(row.key)
	m.history.add(m, row)
}

// takeRevival takes in that a run is taken out of the history: it is to live again.
func (m *model) takeRevival(row *modelRow) {
	if r := m.ended[row.key]; r == nil || m.upcoming(r.job, "retry") == nil {
		m.fail("history", m.jobs[row.key.job], "run %s was taken out of the history", row.key)
	}
	m.dead.touched = append(m.dead.touched, row.key)
	m.history.remove(row.key)
}

// takeDead takes in that a run is put on the list, or taken off.
func (m *model) takeDead(row *modelRow) {
	if m.dead.runs == nil {
		m.dead.runs = make(map[runKey]bool)
	}
	m.dead.touched = append(m.dead.touched, row.key)
	if delete(m.dead.runs, row.key); row.kind == rowDead {
		m.dead.runs[row.key] = true
	}
}

// checkDeadList checks that of the runs of a commit those are on the list that must be, and no others.
func (m *model) checkDeadList() {
	for i := range m.changes {
		m.dead.touched = append(m.dead.touched, m.changes[i].key)
	}
	for _, key := range m.dead.touched {
		if want := m.isListed(key); m.dead.runs[key] != want {
			m.fail("history", m.jobs[key.job], "run %s is on the list of dead runs: %t, want %t", key, !want, want)
		}
	}
	m.dead.touched = m.dead.touched[:0]
}

// prune takes in that the days of the list before one are gone.
func (d *modelDeadList) prune(day int64) {
	for key := range d.runs {
		if key.at/modelDay < day {
			delete(d.runs, key)
		}
	}
}

// readDead compares the dead runs that the engine lists of each tenant with those that the model knows.
func (w *world) readDead() {
	m := w.model
	listed := make(map[runKey]bool)
	for tenant := range simTenants {
		q := RunQuery{Tenant: simTenant(string(rune('0' + tenant))), Status: job.StatusDead, Limit: 1 + w.rng.IntN(300)}
		for {
			page, err := w.engine.Runs(context.Background(), q)
			if err != nil {
				m.fail("history", nil, "%v", err)
				return
			}
			for _, r := range page.Runs {
				key := keyOf(r.ID)
				if listed[key] = true; m.ended[key] != nil && !m.isListed(key) {
					m.fail("history", m.jobs[key.job], "run %s is listed as dead, and was dealt with", key)
				}
			}
			if q.After = page.Next; page.Next.Job == 0 {
				break
			}
		}
	}
	for key, r := range m.ended {
		if m.isListed(key) && !r.job.deleted && m.history.has(key) && m.settings.historyDays > 0 && !listed[key] {
			m.fail("history", r.job, "run %s is dead and not listed", key)
		}
	}
}
