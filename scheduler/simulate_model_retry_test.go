package scheduler

import (
	"math"
	"strings"
)

// again takes in that a failed attempt is followed by another.
func (m *model) again(r *modelRun, row *modelRow) {
	j := r.job
	cause := m.failureOf(r, row.err)
	if cause == nil {
		m.fail("retry", j, "attempt %d of run %s ended with %q, of which the model does not know", r.attempt, r.key, row.err)
		return
	}
	n := int(r.attempt - r.base)
	low, high := j.def.retry.wait(n, cause.retryAfter)
	switch {
	case j.deleted:
		m.fail("retry", j, "run %s is retried although its job is gone", r.key)
	case n >= j.def.retry.attempts:
		m.fail("retry", j, "run %s is retried after %d attempts", r.key, n)
	case cause.refused && !j.def.retry.refusals:
		m.fail("retry", j, "run %s is retried although it was refused", r.key)
	case row.due < m.now+low || row.due > max(m.now+high, r.key.at):
		m.fail("retry", j, "attempt %d of run %s is due after %d ms, want %d to %d", row.attempt, r.key, row.due-m.now, low, high)
	case j.def.retry.tooOld(r, row.due):
		m.fail("retry", j, "attempt %d of run %s is due after its max_age", row.attempt, r.key)
	case row.fence != m.lsn:
		m.fail("fence", j, "attempt %d of run %s has fence %d", row.attempt, r.key, row.fence)
	}
	r.attempt, r.fence, r.due, r.phase, r.deadline, r.answer = row.attempt, row.fence, row.due, phaseWaiting, 0, nil
	r.decided = m.now
	m.goesOn(r)
}

// wait returns the least and the most time between the failure of the n-th attempt and the next.
func (p *modelRetry) wait(n int, retryAfter int64) (low, high int64) {
	wait := float64(p.first)
	for range n - 1 {
		wait = min(wait*p.multiplier, float64(p.most))
	}
	retryAfter = min(retryAfter, 24*3600*1000)
	low = max(int64(wait), retryAfter)
	high = max(int64(math.Ceil(wait*(1+p.jitter)))+1, retryAfter)
	return low, high
}

func (p *modelRetry) tooOld(r *modelRun, due int64) bool {
	return p.maxAge > 0 && r.base == 0 && due-r.key.at > p.maxAge
}

// failureOf returns why the current attempt of a run failed: what its target said, what its worker
// reported, or that no report came in time.
func (m *model) failureOf(r *modelRun, text string) *modelAnswer {
	if r.answer != nil && r.answer.err == text && r.phase == phaseFlying {
		return r.answer
	}
	if lost := r.key.at/modelDay < m.history.pruned; r.payload && lost && strings.HasPrefix(text, "read the job") {
		return &modelAnswer{err: text} // its payload went with the history
	}
	if r.phase != phaseReporting {
		return nil
	}
	if strings.HasPrefix(text, "no report came until") {
		if m.now < r.deadline {
			m.fail("report", r.job, "run %s ended for want of a report before its deadline %s", r.key, modelTime(r.deadline))
		}
		if soonest := max(r.deadline, m.life, m.stepped); m.now > soonest+m.settings.slack {
			m.fail("report", r.job, "the deadline %s of run %s passed unnoticed", modelTime(r.deadline), r.key)
		}
		return &modelAnswer{err: text}
	}
	for _, a := range m.asked {
		if a.kind == "report" && a.run == r.key && a.failed && a.text == text && a.fence == r.sent {
			a.done = m.lsn
			return &modelAnswer{err: text}
		}
	}
	return nil
}
