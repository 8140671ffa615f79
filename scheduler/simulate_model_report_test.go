package scheduler

import "slices"

// Runs that workers are to report on.

// reporting takes in that a worker has a run, or has it for longer.
func (m *model) reporting(r *modelRun, row *modelRow) {
	j := r.job
	early := m.early(r)
	want := m.now + j.def.timeout
	if r.answer == nil || r.answer.err != "" {
		want = r.launched + j.def.timeout
		if early == nil {
			m.fail("report", j, "run %s waits for a report, and was not delivered", r.key)
		}
	}
	if early != nil && early.kind == "extend" {
		want = max(want, m.now+early.length)
	}
	since := []int64{r.launched + j.def.timeout, m.now + j.def.timeout}
	if !j.def.reported || row.deadline != want && (early == nil || !slices.Contains(since, row.deadline)) {
		m.fail("report", j, "run %s is to be reported until %s, want %s", r.key, modelTime(row.deadline), modelTime(want))
	}
	r.phase, r.deadline, r.answer = phaseReporting, row.deadline, nil
	m.goesOn(r)
}

// early returns what a worker said of a run, with the right fence, that is not known to be delivered.
func (m *model) early(r *modelRun) *modelAct {
	for _, a := range m.asked {
		if (a.kind == "report" || a.kind == "extend") && a.run == r.key && a.fence == r.sent && a.begun {
			return a
		}
	}
	return nil
}

// extended takes in that a deadline moved.
func (m *model) extended(r *modelRun, row *modelRow) {
	for _, a := range m.asked {
		if a.kind == "extend" && a.run == r.key && a.fence == r.sent && row.deadline == max(r.deadline, m.now+a.length) {
			r.deadline, a.done, a.until = row.deadline, m.lsn, row.deadline
			return
		}
	}
	m.fail("report", r.job, "the deadline of run %s moved from %s to %s", r.key, modelTime(r.deadline), modelTime(row.deadline))
}

// refused takes in that a report came with a wrong fence.
func (m *model) refused(r *modelRun, row *modelRow) {
	r.stale = row.stale
	if row.attempt != r.attempt || row.deadline != r.deadline || row.due != r.due {
		m.fail("report", r.job, "a stale report changed run %s", r.key)
	}
	for _, a := range m.asked {
		if (a.kind == "report" || a.kind == "extend") && a.run == r.key && (a.fence != r.sent || r.phase == phaseWaiting) {
			return
		}
	}
	m.fail("report", r.job, "a report on run %s was refused, and nobody made a wrong one", r.key)
}
