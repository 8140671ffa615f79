package scheduler

import (
	"fmt"
	"slices"
)

// Missed ticks: all that a job missed is decided at once, by one policy. The model works out what the
// decision must be, and compares.

// modelPlan is what is to become of the ticks that a job missed.
type modelPlan struct {
	rows []modelRow // as the log must have them
	owed []int64    // afterwards
	last int64      // missed tick
	runs int        // that are counted for it
}

// planned takes in a row of a job's catching up.
func (m *model) planned(j *modelJob, r modelRow) {
	if len(j.got) == 0 {
		m.plans = append(m.plans, j)
	}
	j.got = append(j.got, r)
}

// takeDebt takes in what a job owes now.
func (m *model) takeDebt(r *modelRow) {
	j := m.jobs[r.key.job]
	if j == nil || j.deleted {
		m.fail("missed", j, "job %d owes something, but there is none", r.key.job)
		return
	}
	if last := r.owed[len(r.owed)-1]; len(j.got) > 0 && !slices.Equal(j.owed, r.owed) || last > j.after {
		m.planned(j, *r)
	} // else a run of this commit pays it
	m.closePlan(j)
	if !slices.Equal(j.owed, r.owed) {
		m.fail("missed", j, "the log has as owed %s, want %s", modelList(r.owed), modelList(j.owed))
	}
}

// takeDebtGone takes in that a job owes nothing any more.
func (m *model) takeDebtGone(r *modelRow) {
	j := m.jobs[r.key.job]
	switch {
	case j == nil || m.upcoming(j, "delete") != nil:
	case len(j.owed) > 0:
		m.fail("missed", j, "the log forgets that the job owes %s", modelList(j.owed))
	}
}

func modelList(ticks []int64) string {
	if len(ticks) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d from %s to %s", len(ticks), modelTime(ticks[0]), modelTime(ticks[len(ticks)-1]))
}

// closePlan compares how a job caught up with how it should.
func (m *model) closePlan(j *modelJob) {
	if len(j.got) == 0 {
		return
	}
	got := j.single(j.got)
	plans := m.plansFor(j)
	for i := range plans {
		if plans[i].fits(j, got) {
			m.follow(j, &plans[i])
			j.got = j.got[:0]
			return
		}
	}
	text := ""
	for _, p := range plans {
		text += fmt.Sprintf("\n  want %s; then owed %s", modelRows(p.rows), modelList(p.owed))
	}
	m.fail("missed", j, "caught up with %s%s", modelRows(got), text)
}

// single takes apart the ranges of ticks that the job owed already: one row a tick.
func (j *modelJob) single(rows []modelRow) (list []modelRow) {
	for _, r := range rows {
		if r.kind != rowFinal || r.until == 0 || !slices.Contains(j.owed, r.key.at) {
			list = append(list, r)
			continue
		}
		last := r.until
		r.until = 0
		for _, at := range j.owed {
			if at >= r.key.at && at <= last {
				r.key.at = at
				list = append(list, r)
			}
		}
	}
	return list
}

func modelRows(rows []modelRow) (text string) {
	for _, r := range rows {
		if r.kind == rowDebt {
			text += fmt.Sprintf("[owed until %s]", modelTime(r.owed[len(r.owed)-1]))
			continue
		}
		text += fmt.Sprintf("[%s to %s %s]", modelTime(r.key.at), modelTime(r.until), r.reason)
	}
	return text
}

// follow takes over what a plan says.
func (m *model) follow(j *modelJob, p *modelPlan) {
	if len(p.owed) > 0 && len(j.owed) == 0 {
		j.owes = m.now
	}
	m.counts.owed += len(p.owed)
	j.owed = p.owed
	first := j.next()
	j.note(m.now, "missed", first, p.last, modelList(p.owed))
	j.runs += p.runs
	for _, r := range j.got { // what lies between a skipped range and what is owed has no outcome, if a one-shot is put there
		if r.kind == rowFinal {
			j.settle(r.key.at, max(r.key.at, r.until))
		}
	}
	for _, at := range p.owed {
		j.settle(at, at)
	}
	m.goOn(j, p.last)
}

// plansFor returns what may become of what a job has missed: with jitter, the last tick may count as missed or not, and an update may have come too late for the first ones.
func (m *model) plansFor(j *modelJob) (plans []modelPlan) {
	if j.done || j.paused {
		return nil
	}
	for _, edge := range m.edges(j) {
		plans = append(plans, m.plansUpTo(j, edge)...)
	}
	return plans
}

func (m *model) plansUpTo(j *modelJob, edge int64) (plans []modelPlan) {
	for _, ticks := range j.standings() {
		plans = append(plans, m.plansOf(j, ticks.between(j.after, edge))...)
	}
	return plans
}

// standings returns what a job may tick by, one for each tick that it may have stood at when the rules of its zone
// changed. It stood at one: that stays as it was planned, and those behind it are by the new rules, so no other tick of
// the rules before comes with it.
func (j *modelJob) standings() []modelTicks {
	first := j.ticks
	first.others = nil
	list := []modelTicks{first}
	for _, at := range j.ticks.others {
		t := first
		t.kept = at
		list = append(list, t)
	}
	return list
}

func (m *model) plansOf(j *modelJob, missed []int64) (plans []modelPlan) {
	least := len(missed)
	if j.def.jitter > 0 {
		least-- // no launch is put off beyond the next tick
	}
	for n := max(1, least); n <= len(missed); n++ {
		for from := 0; from < n && (from == 0 || j.mayPass(missed[from-1]) || m.following); from++ {
			plans = append(plans, m.planFor(j, missed[from:n], j.resumed))
			if j.anew {
				plans = append(plans, m.planFor(j, missed[from:n], false))
			}
		}
	}
	return plans
}

// planFor decides missed ticks by the job's policy.
func (m *model) planFor(j *modelJob, missed []int64, resumed bool) modelPlan {
	d := j.def
	open := m.now - d.window
	owed := m.toFire(j, missed, open)
	skipped := missed
	if len(owed) > 0 {
		skipped = missed[:slices.Index(missed, owed[0])]
	}
	p := modelPlan{last: missed[len(missed)-1], runs: len(owed)}
	switch {
	case resumed:
		p.skip(skipped, "paused")
	case d.missed == "skip":
		p.skip(skipped, "missed")
	default:
		n := 0
		for n < len(skipped) && skipped[n] < open {
			n++
		}
		p.skip(skipped[:n], "window")
		p.skip(skipped[n:], "missed")
	}
	p.owed = append(slices.Clone(j.owed), owed...)
	if len(owed) == 0 {
		return p
	}
	for len(p.owed) > d.mostOwed() {
		p.skip(p.owed[:1], "missed")
		p.owed, p.runs = p.owed[1:], p.runs-1
	}
	if d.maxRuns > 0 && j.runs+p.runs >= d.maxRuns {
		p.last = owed[len(owed)-1] // the job is done with it
	}
	p.rows = append(p.rows, modelRow{kind: rowDebt, owed: p.owed})
	return p
}

// mostOwed returns how many missed ticks a job may owe.
func (d *modelDef) mostOwed() int {
	switch d.missed {
	case "fire_once":
		return 1
	case "backfill":
		return d.maxCatchup
	}
	return 0
}

// toFire returns those of the missed ticks that are fired: the newest inside the window, and of those the
// first if max_runs allows no more.
func (m *model) toFire(j *modelJob, missed []int64, open int64) []int64 {
	n := len(missed)
	for n > 0 && missed[n-1] >= open && len(missed)-n < j.def.mostOwed() {
		n--
	}
	owed := missed[n:]
	if left := j.def.maxRuns - j.runs; j.def.maxRuns > 0 && len(owed) > left {
		owed = owed[:left]
	}
	return owed
}

func (p *modelPlan) skip(ticks []int64, reason string) {
	if len(ticks) == 0 {
		return
	}
	r := modelRow{kind: rowFinal, reason: reason}
	if r.key.at = ticks[0]; len(ticks) > 1 {
		r.until = ticks[len(ticks)-1]
	}
	p.rows = append(p.rows, r)
}

// fits reports whether the log has what the plan says.
func (p *modelPlan) fits(j *modelJob, got []modelRow) bool {
	return slices.EqualFunc(p.rows, got, func(want, got modelRow) bool {
		if want.kind == rowDebt {
			return got.kind == rowDebt && slices.Equal(got.owed, p.owed)
		}
		return got.kind == rowFinal && want.key.at == got.key.at && want.until == got.until && want.reason == got.reason
	})
}

// modelPace is a bucket of tokens, each good for one missed tick.
type modelPace struct {
	rate, tokens float64
	filled       int64
	spent        int64 // when the last token was
}

// Bounds of the pace if the engine chooses it.
const modelPaceMax = 10_000

func (p *modelPace) start(rate float64, now int64) {
	if rate == 0 {
		rate = modelPaceMax
	}
	*p = modelPace{rate: rate, tokens: max(1, rate/10), filled: now, spent: now}
}

func (p *modelPace) fill(now int64) {
	p.tokens = min(max(1, p.rate/10), p.tokens+p.rate*float64(max(0, now-p.filled))/1000)
	p.filled = now
}

// setClock takes in that the wall clock was set: forward counts as time that passed.
func (p *modelPace) setClock(from, to int64) {
	p.fill(max(from, to))
	p.filled, p.spent = to, to
}

// spend takes a token, and reports whether there was one.
func (p *modelPace) spend(now int64) bool {
	p.fill(now)
	p.spent = now
	p.tokens--
	return p.tokens > -1e-6
}
