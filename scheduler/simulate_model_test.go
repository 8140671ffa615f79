package scheduler

import (
	"fmt"
	"slices"
	"strings"
)

// model is a naive scheduler. It learns what callers asked, what the log holds, what targets received and what they
// answered, and reports what is wrong with it. It keeps plain lists and walks them.
//
// It reads a commit row by row. In the log, the consequences of a change of a job precede the audit entry of the
// change, and what follows from it comes after: so the model looks up which change comes next.
type model struct {
	settings  modelSettings
	clocks    *modelClocks
	now       int64 // of the wall clock
	effective int64 // when the effects of the commit going on come out, if it is the last of its step
	lsn       uint64
	row       int // of the commit going on

	jobs  map[uint64]*modelJob
	names map[string]*modelJob
	order []*modelJob // as they came, deleted ones too
	runs  map[runKey]*modelRun
	ended map[runKey]*modelRun // dead or cancelled: they may be retried by hand
	asked []*modelAct          // and not answered

	life    int64 // when the process started
	first   uint64
	high    int64 // of the wall clock in this life
	top     int64 // of the wall clock ever
	stepped int64 // when the clock was last set, 0 if it never was in this life
	stepLSN uint64
	backLSN uint64 // when it was last set back
	showed  int64  // what it showed before that, if no step has followed
	arrived int64  // the latest that it showed before the step going on

	pending   []modelUpcoming // changes in the commit going on
	gone      []*modelRun     // in the commit going on
	plans     []*modelJob     // that catch up in the commit going on
	changes   []modelRow      // of the states of runs, in the commit going on
	notices   []modelRow      // in the commit going on
	outbox    map[[2]uint64]*modelNotice
	ids       modelIDs
	deletions modelDeletions

	steps, stepFrom uint64     // of the process so far; the last commit before the one going on
	over            modelCrowd // runs that have ended in the step going on

	calendars map[string][]string // lines by name
	rules     int                 // of zones, that jobs are planned by
	following bool                // jobs have still to follow a calendar

	pace     modelPace
	quotas   modelQuotas
	presence modelPresence
	history  modelHistory
	dead     modelDeadList
	failures []string
	broken   string // name of the check that failed first
	counts   modelCounts
}

// modelCounts count what a simulation did.
type modelCounts struct {
	acts, commits, fired, launches, finals, skipped, owed, lives, sweeps int
	by                                                                   map[string]int
}

// modelUpcoming is a change in the commit going on.
type modelUpcoming struct {
	row int
	act *modelAct // nil if no caller asked for it
}

func newModel(settings modelSettings, clocks *modelClocks) *model {
	return &model{
		settings: settings, clocks: clocks,
		jobs: make(map[uint64]*modelJob), names: make(map[string]*modelJob), runs: make(map[runKey]*modelRun),
		ended: make(map[runKey]*modelRun), outbox: make(map[[2]uint64]*modelNotice), deletions: newModelDeletions(), calendars: make(map[string][]string),
		counts: modelCounts{by: make(map[string]int)},
	}
}

// fail records a fault, with what is known of the job.
func (m *model) fail(check string, j *modelJob, format string, args ...any) {
	if m.broken != "" {
		return
	}
	m.broken = check
	m.failures = append(m.failures, fmt.Sprintf("%s: at %s, commit %d: %s", check, modelTime(m.now), m.lsn, fmt.Sprintf(format, args...)))
	if j != nil {
		m.failures = append(m.failures, j.describe()...)
	}
}

// start takes in that the process runs since a commit.
func (m *model) start(now int64, lsn uint64) {
	m.now, m.life, m.first, m.high, m.stepped = now, now, lsn, now, 0
	m.top = max(m.top, now)
	m.counts.lives++
	m.pace.start(m.settings.rate, now)
	m.presence.start(now)
	for _, r := range m.runs {
		r.restart(now)
	}
	for _, j := range m.order {
		j.takeBeyond()
		j.outdo()
		j.note(now, "start", 0, 0, "")
		j.restart(now)
	}
}

// setClock takes in that the wall clock was set.
func (m *model) setClock(now int64) {
	if now < m.now {
		m.backLSN, m.showed = m.lsn, m.now
	}
	m.pace.setClock(m.now, now)
	m.presence.stand(m.now)
	m.now, m.stepped, m.stepLSN = now, now, m.lsn
}

// step takes in that the process makes a step, of any number of commits.
func (m *model) step(now int64) {
	m.steps++
	m.stepFrom, m.over = m.lsn, modelCrowd{}
	m.arrived, m.showed = max(now, m.showed), 0
	m.see(now)
}

// latest returns the latest time that the clock showed when what the step going on takes in came about.
func (m *model) latest() int64 { return max(m.now, m.arrived) }

// see takes in what the clock says.
func (m *model) see(now int64) { m.high, m.top = max(m.high, now), max(m.top, now) }

// crash records that the process is gone. The outcome of requests without an answer is unknown.
func (m *model) crash() {
	for _, a := range m.asked {
		a.lost = true
	}
	m.asked = nil
}

// commit takes in a durable commit.
func (m *model) commit(c *modelCommit) {
	if c.lsn != m.lsn+1 {
		m.fail("log", nil, "commit %d follows %d", c.lsn, m.lsn)
	}
	m.lsn, m.now, m.effective = c.lsn, c.at, max(c.at, c.end)
	m.see(c.at)
	m.counts.commits++
	m.lookAhead(c)
	for i := range c.rows {
		m.row = i
		m.take(&c.rows[i])
		if m.broken != "" {
			return
		}
	}
	m.endCommit()
}

// lookAhead finds the changes of a commit.
func (m *model) lookAhead(c *modelCommit) {
	m.pending, m.gone, m.plans = m.pending[:0], m.gone[:0], m.plans[:0]
	m.changes, m.notices = m.changes[:0], m.notices[:0]
	for i := range c.rows {
		if r := &c.rows[i]; r.kind == rowAudit {
			m.pending = append(m.pending, modelUpcoming{row: i, act: m.match(r)})
		}
	}
}

// upcoming returns the next change of a job in the commit going on, nil if there is none.
func (m *model) upcoming(j *modelJob, kinds ...string) *modelAct {
	if j == nil {
		return nil
	}
	for _, p := range m.pending {
		if p.row > m.row && p.act != nil && p.act.name == j.name {
			if slices.Contains(kinds, p.act.kind) {
				return p.act
			}
			return nil
		}
	}
	return nil
}

// comes reports whether the next change of a job in the commit going on is the one. Where commits are small, it may
// also be one that is asked for and follows in another commit: the runs that it ends, end before it.
func (m *model) comes(j *modelJob, is func(*modelAct) bool) bool {
	if act := m.upcoming(j, "put", "delete", "pause"); act != nil {
		return is(act)
	}
	if !m.settings.cut || j == nil {
		return false
	}
	asked := func(a *modelAct) bool { return a.done == 0 && a.name == j.name && is(a) }
	return slices.ContainsFunc(m.asked, asked) || (j.tiredLast != 0 || j.isTired()) && is(&modelAct{kind: "pause"})
}

// take is a flat switch over the kinds of row.
func (m *model) take(r *modelRow) {
	switch r.kind {
	case rowRun:
		m.takeRun(r)
	case rowRunGone:
		m.takeRunGone(r)
	case rowFinal:
		m.takeFinal(r)
	case rowFinalGone:
		m.takeRevival(r)
	case rowDebt:
		m.takeDebt(r)
	case rowDebtGone:
		m.takeDebtGone(r)
	case rowAudit:
		m.takeAudit(r)
	case rowNotice, rowNoticeGone:
		m.takeNotice(r)
	case rowDeleted, rowDeletedGone:
		m.takeDeleted(r)
	case rowDead, rowDeadGone:
		m.takeDead(r)
	case rowZone:
		m.changeRules(int(r.day))
	case rowReplan:
		m.takeReplan(r.day != 0)
	case rowPruned:
		m.takePruned(r)
	case rowNextID:
		m.ids.next = r.key.job
	case rowSlotsFrom:
		m.takeSlotsFrom(r.key.job)
	}
}

// endCommit checks what must hold between commits.
func (m *model) endCommit() {
	for _, j := range m.plans {
		m.closePlan(j)
	}
	for _, r := range m.gone {
		if r.status == "" {
			m.fail("ledger", r.job, "run %s is not live any more and has no outcome", r.key)
		}
	}
	m.checkNotices()
	m.checkDeadList()
	m.checkNextID()
}

func (k runKey) String() string {
	s := fmt.Sprintf("%d/%s", k.job&0xfffff, modelTime(k.at))
	if k.seq > 0 {
		s += fmt.Sprintf("/manual %d", k.seq)
	}
	return s
}

// report returns what was found wrong.
func (m *model) report() string { return strings.Join(m.failures, "\n") }
