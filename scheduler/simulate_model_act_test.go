package scheduler

import "slices"

// What people ask for: the model says what the answer must be, finds the change in the log by its audit
// entry, and follows it. What was not answered because the process died is done or not: the log says.

const modelDay = 24 * 3600 * 1000

// ask records that a caller asks for something. alone says that no other caller acts at the same time.
func (m *model) ask(a *modelAct, alone bool) {
	m.asked = append(m.asked, a)
	a.begun, a.maySlot = true, m.ids.may
	m.counts.acts++
	a.before = m.use(simTenant(a.name), true)
	if j := m.names[a.name]; j != nil {
		text := a.text
		if a.def != nil {
			text = a.def.expr + " " + a.def.calendar
		}
		j.note(m.now, "ask "+a.kind, a.run.at, int64(a.fence), text)
	}
	if a.want = "?"; alone {
		a.want = m.expect(a)
	}
	a.alone = alone
}

// expect returns the answer that an act must get.
func (m *model) expect(a *modelAct) string {
	switch a.kind {
	case "put":
		return m.expectPut(a)
	case "report", "extend":
		return m.expectReport(a)
	case "cancel":
		return m.expectCancel(a)
	case "retry":
		return m.expectRetry(a)
	case "dismiss":
		return m.expectDismiss(a)
	}
	if m.names[a.name] == nil && a.kind != "calendar" {
		return "not_found"
	}
	return ""
}

// expectPut expects a refusal, "!", if the job would have no tick, or only one that is long past.
func (m *model) expectPut(a *modelAct) string {
	j, d := m.names[a.name], a.def
	if m.leavesOutDate(d, m.rules) {
		return "!"
	}
	if j != nil && !j.done && d.at == 0 && d.sameTicks(j.def) {
		return pick(j.mayComplete(m.now+m.settings.lead), "?", "")
	}
	if j != nil && d.at > 0 && m.isOver(j, d.at) {
		return pick(d.at/modelDay <= m.history.pruned, "?", "")
	}
	if j != nil && d.at > 0 && j.next() == d.at && d.at+j.def.jitter >= m.now {
		return "?" // its launch is put off, and it may be decided at this very instant
	}
	if window := pick(d.missed == "skip", 0, d.window); d.at > 0 {
		return pick(d.at < m.now-max(window, m.settings.grace), "!", "")
	}
	anchor, from := m.now, m.now
	if j != nil {
		anchor, from = j.anchorFor(d, m.now), max(m.now, j.high)
	}
	ticks := m.ticksOf(d, anchor)
	if j != nil && ticks.next(from) == 0 || ticks.isSparse(from) {
		return "?" // it may have some that the update decides itself, or its search may end before the first
	}
	return pick(ticks.next(from) == 0, "!", "")
}

func (m *model) expectReport(a *modelAct) string {
	r := m.runs[a.run]
	if r == nil {
		return "?"
	}
	begun := r.phase == phaseFlying && r.answer == nil
	switch {
	case r.job.deleted:
		return "not_found"
	case r.phase == phaseWaiting || a.fence != r.sent:
		return "stale_fence"
	case r.phase == phaseReporting || begun && r.job.def.reported:
		return ""
	case r.phase == phaseFlying && !r.job.def.reported && r.answer == nil:
		return "invalid_field"
	}
	return "?"
}

func (m *model) expectCancel(a *modelAct) string {
	if r := m.runs[a.run]; r != nil && r.answer == nil && !r.job.deleted {
		return ""
	}
	if r := m.ended[a.run]; r != nil && !r.job.deleted && m.history.has(a.run) {
		if r.status == "dead" {
			return "run_over"
		}
		a.idle = true
		return ""
	}
	return "?"
}

func (m *model) expectRetry(a *modelAct) string {
	if r := m.runs[a.run]; r != nil && r.answer == nil && !r.job.deleted {
		return "version_conflict"
	}
	if r := m.ended[a.run]; r != nil && !r.job.deleted && m.history.has(a.run) {
		if r.payload && r.status == "cancelled" {
			return "version_conflict" // the payload is not kept
		}
		return ""
	}
	return "?"
}

// answer checks the answer that a caller got.
func (m *model) answer(a *modelAct) {
	if i := slices.Index(m.asked, a); i >= 0 {
		m.asked = slices.Delete(m.asked, i, i+1)
	}
	a.answered = true
	if a.lost {
		return
	}
	j := m.names[a.name]
	switch {
	case a.code == "quota_exceeded" && (m.settings.liveMax > 0 || m.quotas.byTenant != nil):
		if a.alone && !m.isBeyond(a, j) {
			m.checkRefused(a, j)
		}
	case a.want == "!" && a.code != "":
	case a.code == "invalid_schedule" && j != nil && (m.isBarren(j.def) || m.isBarred(j.def)):
	case a.want != "?" && a.code != a.want:
		m.fail("answer", j, "%s of %s (run %s, fence %d) was answered %q, want %q", a.kind, a.name, a.run, a.fence, a.code, a.want)
	case a.code != "" && a.done != 0 && a.want != "?":
		m.fail("answer", j, "%s of %s was refused (%s) and done", a.kind, a.name, a.code)
	case a.code == "":
		m.checkDone(a, j)
	}
}

// checkDone checks that what was acknowledged is done, unless there was nothing to do.
func (m *model) checkDone(a *modelAct, j *modelJob) {
	switch a.kind {
	case "pause", "resume":
		if a.done == 0 && a.want != "?" && j != nil && j.paused != (a.kind == "pause") {
			m.fail("answer", j, "%s was acknowledged, and is not done", a.kind)
		}
	case "trigger":
		m.checkTriggered(a, j)
	case "backfill":
		if j != nil && a.want != "?" {
			m.checkBackfilled(a, j)
		}
	case "extend":
		if a.done == 0 || a.deadline != a.until {
			m.fail("report", j, "run %s was extended to %s, want %s", a.run, modelTime(a.deadline), modelTime(a.until))
		}
	case "cancel", "dismiss":
		if a.done == 0 && !a.idle && a.want != "?" {
			m.fail("audit", j, "a %s of run %s was acknowledged, and the audit log has nothing of it", a.kind, a.run)
		}
	case "report":
		if a.done == 0 && m.runs[a.run] != nil {
			m.fail("answer", j, "%s of run %s was acknowledged, and is not done", a.kind, a.run)
		}
	default:
		if a.done == 0 {
			m.fail("answer", j, "%s of %s was acknowledged, and is not done", a.kind, a.name)
		}
	}
}

// checkTriggered checks that one key is one run, for a day at least.
func (m *model) checkTriggered(a *modelAct, j *modelJob) {
	if a.done != 0 || j == nil {
		return
	}
	use, used := j.keys[a.key]
	if a.key == "" || !used || use.run != a.gotRun {
		m.fail("once", j, "trigger with key %q was answered with run %s; the run of the key is %s", a.key, a.gotRun, use.run)
	}
}

// checkBackfilled checks that a backfill left no tick without a run, unless it was to start no more.
func (m *model) checkBackfilled(a *modelAct, j *modelJob) {
	scheduled := j.ticks
	scheduled.kept, scheduled.others = 0, nil // of the rules before
	ticks := scheduled.between(a.from-1, a.to)
	missing, first := 0, int64(0)
	for _, at := range ticks {
		if j.fired[at] == 0 && !slices.Contains(j.owed, at) && (at <= j.after || j.paused) {
			if missing++; first == 0 {
				first = at
			}
		}
	}
	switch {
	case a.dry && (a.runs != 0 || a.told != len(a.times)):
		m.fail("ledger", j, "a dry run began %d runs, and told of %d and %d", a.runs, a.told, len(a.times))
	case !a.dry && a.runs != a.told:
		m.fail("ledger", j, "%d runs were filled in, and the caller was told of %d", a.runs, a.told)
	case a.repeat && a.told != min(len(ticks), int(a.length)):
		m.fail("ledger", j, "%d runs were filled in again, want %d, at most %d", a.told, len(ticks), a.length)
	case a.told > int(a.length) || a.told < int(a.length) && !a.repeat && a.told+a.leftOut != len(ticks):
		m.fail("ledger", j, "of %d ticks %d were filled in, and %d left out", len(ticks), a.told, a.leftOut)
	case a.dry && !a.repeat && a.told < min(missing, int(a.length)):
		m.fail("ledger", j, "a dry run lists %d ticks, want %d at least", a.told, missing)
	case !a.dry && !a.repeat && missing > 0 && a.told < int(a.length):
		m.fail("ledger", j, "tick %s was not filled in; %d runs began", modelTime(first), a.told)
	}
	for _, at := range a.times {
		if !a.repeat && (j.fired[at] > 0 && m.history.hasDay(at) || !j.mayBeFilled(at)) {
			m.fail("ledger", j, "a dry run lists %s, which a run has fired, or which is no tick", modelTime(at))
		}
	}
}

// modelActions are the words of the audit log for the acts.
var modelActions = map[string]string{
	"create": "put", "update": "put", "delete": "delete", "pause": "pause", "resume": "resume",
	"put_calendar": "calendar", "trigger": "trigger", "backfill": "backfill", "cancel_run": "cancel", "retry_run": "retry",
	"dismiss_run": "dismiss",
}

// match finds the act that an entry of the audit log is about. The engine itself may pause and delete.
func (m *model) match(r *modelRow) *modelAct {
	kind := modelActions[r.action]
	if r.by == "carillon" && (kind == "pause" || kind == "delete") {
		return &modelAct{kind: kind, name: r.name, by: r.by, want: "?", done: m.lsn}
	}
	for _, a := range m.asked {
		byRun := kind == "cancel" || kind == "retry" || kind == "dismiss"
		if a.done == 0 && a.kind == kind && a.by == r.by && (byRun && a.run == r.key || !byRun && a.name == r.name) {
			a.done = m.lsn
			return a
		}
	}
	return nil
}

// takeAudit follows a change.
func (m *model) takeAudit(r *modelRow) {
	var act *modelAct
	for _, p := range m.pending {
		if p.row == m.row {
			act = p.act
		}
	}
	j := m.jobs[r.key.job]
	switch {
	case act == nil:
		m.fail("audit", j, "%s of %s by %q was asked for by nobody", r.action, r.name, r.by)
		return
	case r.action == "put_calendar":
		m.changeCalendar(act)
		return
	case (r.action == "create") != (j == nil):
		m.fail("audit", j, "%s of %s", r.action, r.name)
		return
	case r.action == "create":
		m.create(r, act)
		return
	}
	j.note(m.now, "done "+r.action, 0, 0, r.by)
	j.touched = m.now
	switch r.action {
	case "update":
		m.update(j, act)
	case "delete":
		m.remove(j, act)
	case "pause":
		m.pause(j, act)
	case "resume":
		m.resume(j)
	case "trigger":
		m.triggered(j, act)
	case "cancel_run":
		if m.runs[act.run] != nil {
			m.fail("audit", j, "run %s was cancelled, and is live", act.run)
		}
	case "retry_run":
		if m.runs[act.run] == nil {
			m.fail("audit", j, "run %s was retried, and is not live", act.run)
		}
	case "dismiss_run":
		if r := m.ended[act.run]; r == nil || !r.dismissed {
			m.fail("audit", j, "run %s was dismissed, and has no mark", act.run)
		}
	}
}
