package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// modelJob is a job as the model knows it.
type modelJob struct {
	id    uint64
	name  string
	def   *modelDef
	size  int64 // of the encoded definition
	ticks modelTicks

	after int64   // every tick of the schedule up to here has its outcome
	high  int64   // no tick after it ever had an outcome, and no run is for later
	owed  []int64 // missed, and still to be fired, ascending

	spans [][2]int64    // stretches whose ticks have their outcomes
	fired map[int64]int // runs for an instant that were not skipped

	befores []modelBefore
	behind  int64 // the same for all ticks: the clock was set back
	runs    int   // of the schedule, fired or owed

	done, paused, deleted bool
	lastDead              bool // the run that ended last, but for cancelled ones
	resumed               bool // ticks passed while it was paused, and are not decided
	anew                  bool // it was resumed, and the process was started anew since

	live      []*modelRun
	manual    uint32
	streak    int
	tired     int64 // when the streak was long enough for a pause; 0 if it is not
	tiredLast int64 // when it last was
	freed     int64 // when a run of it last ended, or gave its turn up
	yielded   int64 // when a turn was last given up
	took      int64 // when a run that had none last got a turn
	tookOver  int64 // when one did that ends others
	touched   int64 // when it was last changed
	reticked  int64 // when its schedule last changed under it
	passed    int64 // when a calendar restored the date of a one-shot too late for a run, or nearly so; 0: none did
	owes      int64 // since when it owes something
	away      int64 // up to when it was paused, or not there, with ticks that passed
	doneAt    int64
	doneLSN   uint64
	keys      map[string]modelUse
	used      []string // newest of them
	over      []runKey // newest runs that are final

	lowShare, highShare float64 // of the jitter, as far as known

	nearTick, nearFrom int64 // a tick that an update found put off, and the latest instant that it was put off to

	beyond    [][2]int64 // ranges of new ticks that an update skips, which is yet to be done
	went      uint64     // step before which
	wentCount int        // so many runs had a turn

	got   []modelRow // rows of the catching up that goes on
	trail [24]modelNote
	noted int
}

// modelUse is a use of an idempotency key.
type modelUse struct {
	run runKey
	at  int64
}

// modelNote is a line about what happened to a job. It is formatted only when it is read.
type modelNote struct {
	at   int64
	what string
	a, b int64
	text string
}

func (j *modelJob) note(at int64, what string, a, b int64, text string) {
	j.trail[j.noted%len(j.trail)] = modelNote{at, what, a, b, text}
	j.noted++
}

// describe describes a job and what happened to it last.
func (j *modelJob) describe() (lines []string) {
	lines = append(lines, fmt.Sprintf("job %s (%d): %+v", j.name, j.id&0xfffff, *j.def))
	lines = append(lines, fmt.Sprintf("  decided up to %s (high %s), next %s, owed %d, runs %d, paused %t, done %t, deleted %t, streak %d",
		modelTime(j.after), modelTime(j.high), modelTime(j.next()), len(j.owed), j.runs, j.paused, j.done, j.deleted, j.streak))
	for _, r := range j.live {
		lines = append(lines, fmt.Sprintf("  live: %s attempt %d fence %d due %s %s turn %t, %s", r.key, r.attempt, r.fence, modelTime(r.due), r.phase, r.turn, r.mode))
	}
	for i := max(0, j.noted-len(j.trail)); i < j.noted; i++ {
		n := j.trail[i%len(j.trail)]
		lines = append(lines, fmt.Sprintf("  %s %-9s %s %s %s", modelTime(n.at), n.what, modelTime(n.a), modelNumber(n.b), n.text))
	}
	return lines
}

func modelTime(at int64) string {
	if at == 0 {
		return "-"
	}
	return time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000")
}

// modelNumber writes an instant or a small number.
func modelNumber(n int64) string {
	if n > 1e11 {
		return modelTime(n)
	}
	return fmt.Sprint(n)
}

// next returns the first tick without an outcome, 0 if there is none.
func (j *modelJob) next() int64 {
	if j.done {
		return 0
	}
	return j.ticks.next(j.after)
}

// nextDue returns when the next launch of the job is due after an instant, or the next tick; 0 if there is none.
func (j *modelJob) nextDue(now int64) int64 {
	due := j.next()
	if due <= now {
		due = 0
	}
	for _, r := range j.live {
		if r.phase == phaseWaiting && r.due > now && (due == 0 || r.due < due) {
			due = r.due
		}
	}
	return due
}

// nextBound returns the first tick that must get an outcome.
func (j *modelJob) nextBound() int64 {
	next := j.next()
	for next != 0 && j.mayPass(next) {
		next = j.ticks.next(next)
	}
	return next
}

// decided reports whether an instant has its outcome, or is inside a range that has.
func (j *modelJob) decided(at int64) bool {
	for i := len(j.spans) - 1; i >= 0; i-- {
		if j.spans[i][0] <= at && at <= j.spans[i][1] {
			return true
		}
	}
	return false
}

// mayPass reports whether a tick may be left without an outcome: a calendar gave it back, and it lies within the lead.
func (j *modelJob) mayPass(tick int64) bool {
	return tick <= j.behind || slices.ContainsFunc(j.befores, func(b modelBefore) bool { return tick <= b.free && !b.ticks.has(tick) })
}

// modelBefore is what a job ticked before a calendar changed: what it did not have may be left without an outcome up to
// an instant.
type modelBefore struct {
	ticks modelTicks
	free  int64
	open  bool // the job has still to follow the change
}

// restart takes in that the process was started anew.
func (j *modelJob) restart(now int64) {
	j.anew, j.away = j.resumed, min(j.away, now)
	if len(j.owed) > 0 {
		j.owes = now
	}
}

// ticksOf returns the ticks of a definition, @every on a grid through an anchor.
func (m *model) ticksOf(d *modelDef, anchor int64) modelTicks {
	t := modelTicks{from: d.starts, until: d.ends}
	if lines := slices.Concat(m.calendars[d.calendar], d.exclude); len(lines) > 0 {
		zone := ruledBy(m.rules, d.zone)
		t.without = func(tick int64) bool { return m.clocks.leavesOut(lines, zone, tick) }
	}
	switch {
	case d.parts != nil:
		for _, p := range d.parts {
			t.parts = append(t.parts, m.gridOf(modelPart{cron: p.cron, zone: cmp.Or(p.zone, d.zone), at: p.at, every: p.every}, d.starts))
		}
	default:
		grid := m.gridOf(modelPart{cron: d.expr, zone: d.zone, at: d.at, every: d.every}, anchor)
		t.every, t.anchor, t.list = grid.every, grid.anchor, grid.list
	}
	return t
}

// gridOf returns the ticks of one schedule, without a window and exclusions.
func (m *model) gridOf(p modelPart, anchor int64) modelTicks {
	switch {
	case p.every > 0:
		return modelTicks{every: p.every, anchor: anchor}
	case p.at > 0:
		return modelTicks{list: []int64{p.at}}
	}
	return modelTicks{list: m.clocks.cron(p.cron, ruledBy(m.rules, p.zone))}
}

// ruledBy returns the zone whose rules count for a zone.
func ruledBy(rules int, zone string) string {
	return pick(zone == simMovedZone && rules == 1, simMovedTo, zone)
}

// count ends the job if it had all its runs.
func (j *modelJob) count(n int, now int64, lsn uint64) {
	j.runs += n
	j.finish(now, lsn)
}

// finish marks the job as done if no tick will come.
func (j *modelJob) finish(now int64, lsn uint64) {
	if !j.done && (j.def.maxRuns > 0 && j.runs >= j.def.maxRuns || j.ticks.next(j.after) == 0) {
		j.done, j.doneAt, j.doneLSN = true, now, lsn
	}
}

// mayComplete reports whether the job is done when its ticks up to an instant are decided.
func (j *modelJob) mayComplete(upto int64) bool {
	due := j.ticks.between(j.after, upto+1)
	return len(due) > 0 && (j.ticks.next(upto) == 0 || j.def.maxRuns > 0 && j.runs+len(due) >= j.def.maxRuns)
}

// going returns how many runs of a job have its turn.
func (j *modelJob) going() (n int) {
	for _, r := range j.live {
		if r.turn {
			n++
		}
	}
	return n
}

// goingBefore returns the same as of the beginning of the step going on.
func (j *modelJob) goingBefore(step uint64) int {
	if j.went == step {
		return j.wentCount
	}
	return j.going()
}

// waits returns the runs of a job that are due and have no turn, but one.
func (j *modelJob) waiting(now int64, but *modelRun) (list []*modelRun) {
	for _, r := range j.live {
		if r != but && r.counted && !r.turn && r.phase == phaseWaiting && r.due <= now {
			list = append(list, r)
		}
	}
	return list
}

// drop moves a run from the live ones to those that are over.
func (j *modelJob) drop(r *modelRun) {
	if j.over = append(j.over, r.key); len(j.over) > 8 {
		j.over = slices.Delete(j.over, 0, 1)
	}
	if i := slices.Index(j.live, r); i >= 0 {
		j.live = slices.Delete(j.live, i, i+1)
	}
}
