package scheduler

import (
	"fmt"
)

// begin lets the world be busy: jobs are registered, changed and asked for, the clock is set, and the
// model looks around now and then.
func (w *world) begin() {
	w.beginQuotas()
	for i := range w.plan.jobs {
		name := fmt.Sprintf("job-%d-%d", i, i%3)
		w.names = append(w.names, name)
		w.after(w.between(0, w.plan.span.Milliseconds()/20), func() { w.doWhenUp(w.put(name), 1000) })
	}
	for n := range simCalendars * simTenants {
		w.after(0, func() { w.doWhenUp(w.calendar(n), 10) })
	}
	w.again(w.plan.pause.Milliseconds(), w.act)
	w.again(20*w.plan.pause.Milliseconds(), func() { w.do(w.calendar(w.rng.IntN(simCalendars * simTenants))) })
	w.again(w.plan.clock.Milliseconds(), w.setClock)
	w.again(w.plan.sweep.Milliseconds(), w.look)
}

// again lets something happen at random times, so many milliseconds apart on average.
func (w *world) again(mean int64, run func()) {
	w.after(1+int64(w.rng.ExpFloat64()*float64(mean)), func() {
		run()
		w.again(mean, run)
	})
}

// setClock sets the wall clock forward or back.
func (w *world) setClock() {
	most := w.plan.clockMax.Milliseconds()
	w.model.now = w.wall()
	w.offset += w.rng.Int64N(2*most+1) - most
	w.model.setClock(w.wall())
}

// look lets the model look around, when the engine has come to rest.
func (w *world) look() {
	w.settle()
	if !w.alive || w.model.broken != "" {
		return
	}
	w.model.sweep(w.wall())
	if err := w.engine.core.Check(); err != nil {
		w.model.fail("counts", nil, "%v", err)
	}
	w.checkUses()
	if w.chance(10) {
		w.readHistory()
	}
}

// act lets a caller do something, mostly at about the time of a tick of the job.
func (w *world) act() {
	name := w.drawName()
	wait, exact := w.moment(w.model.names[name])
	if w.chance(6) { // and once more, before the dust has settled
		w.after(wait+w.between(0, 2*w.plan.settings.Lead.Milliseconds()), func() { w.do(w.choose(name)) })
	}
	if w.plan.fickle && w.chance(3) {
		w.changeAgain(name, wait)
	}
	w.after(wait, func() {
		acts := []*modelAct{w.choose(name)}
		for w.chance(4) {
			acts = append(acts, w.chooseAlongside(w.names[w.rng.IntN(len(w.names))], name))
		}
		for n := pick(w.chance(8), w.rng.IntN(12), 0); n > 0; n-- { // a step for many callers may need several commits
			acts = append(acts, &modelAct{kind: "trigger", name: w.names[w.rng.IntN(len(w.names))], by: w.actor()})
		}
		if exact && w.chance(3) {
			acts[0] = &modelAct{kind: "delete", name: name, by: w.actor()}
		}
		w.turnSome(exact)
		w.do(acts...)
	})
}

// changeAgain lets callers change a job several times within the lead: its ticks are decided by one schedule, and skipped or
// decided by the next, and both lie among those of the last.
func (w *world) changeAgain(name string, wait int64) {
	lead := w.opts.Settings.Lead.Milliseconds()
	for range 2 + w.rng.IntN(2) {
		w.after(wait+w.between(0, lead), func() { w.do(w.put(name)) })
	}
}

// turnSome lets the engine do some of what it has to do. If launches are due at this very instant, they mostly leave, and
// what comes of them waits for the step that the callers get.
func (w *world) turnSome(exact bool) {
	if !exact || w.chance(3) {
		for n := w.rng.IntN(3); n > 0 && w.alive; n-- {
			w.turn()
		}
	}
	if w.alive && (exact || w.chance(4)) {
		w.launchAndLand()
	}
}

// drawName draws the job that a caller attends to: any, or one with several live runs, if there is one among a few.
func (w *world) drawName() (name string) {
	for n := pick(w.chance(2), 10, 1); n > 0; n-- {
		name = w.names[w.rng.IntN(len(w.names))]
		if j := w.model.names[name]; j != nil && len(j.live) > 1 {
			break
		}
	}
	return name
}

// moment draws how many milliseconds a caller waits before an act that concerns a job, nil if there is none: often until
// about the next tick, or until the very instant, exact, at which a launch of the job is due.
func (w *world) moment(j *modelJob) (wait int64, exact bool) {
	now, far := w.wall(), w.wall()+10*w.plan.scale.Milliseconds()
	if j == nil {
		return 0, false
	}
	switch w.rng.IntN(6) {
	case 0, 1, 2:
		if next := j.next(); next > now && next < far {
			return max(0, next-now-int64(w.rng.IntN(int(2*w.plan.settings.Lead.Milliseconds())))+int64(w.rng.IntN(50))), false
		}
	case 3:
		if due := j.nextDue(now); due != 0 && due < far {
			return due - now, true
		}
	}
	return 0, false
}

// actor makes up the name of an actor. Each change has its own, so that the audit log distinguishes them.
func (w *world) actor() string {
	w.actors++
	return fmt.Sprintf("user-%d", w.actors)
}

// choose draws what a caller does with a job.
func (w *world) choose(name string) *modelAct {
	j := w.model.names[name]
	switch n := w.rng.IntN(100); {
	case j == nil:
		return w.put(name)
	case j.paused && n < 50:
		return &modelAct{kind: "resume", name: name, by: w.actor()}
	case n < 20:
		return w.put(name)
	case n < 30:
		return &modelAct{kind: "pause", name: name, by: w.actor()}
	case n < 34:
		return &modelAct{kind: "resume", name: name, by: w.actor()}
	case n < 38:
		return &modelAct{kind: "delete", name: name, by: w.actor()}
	case n < 58:
		return w.trigger(name)
	case n < 64:
		return w.backfill(j)
	case n < 82 && len(j.live) > 0:
		return &modelAct{kind: "cancel", name: name, by: w.actor(), run: j.live[w.rng.IntN(len(j.live))].key}
	case len(j.over) > 0:
		return &modelAct{kind: []string{"cancel", "retry", "retry", "retry", "dismiss", "dismiss"}[w.rng.IntN(6)], name: name, by: w.actor(), run: j.over[w.rng.IntN(len(j.over))]}
	}
	return w.trigger(name)
}

// chooseAlongside draws what another caller does at the same time, mostly with another job. It must not need a second
// attempt, because the order of the two requests would then be undefined.
func (w *world) chooseAlongside(name, other string) *modelAct {
	if w.chance(2) {
		name = other
	}
	kind := []string{"pause", "resume", "trigger", "trigger", "delete"}[w.rng.IntN(5)]
	return &modelAct{kind: kind, name: name, by: w.actor()}
}

// put registers a job, or changes it: altogether, or only how it runs.
func (w *world) put(name string) *modelAct {
	d := w.newDef()
	j := w.model.names[name]
	if j != nil && w.chance(2) && (j.def.at == 0 || !j.done) {
		o := *j.def
		o.overlap, o.maxConcurrent, o.missed, o.window, o.maxCatchup = d.overlap, d.maxConcurrent, d.missed, d.window, d.maxCatchup
		o.retry, o.jitter, o.maxRuns, o.reported, o.paused = d.retry, d.jitter, d.maxRuns, d.reported, d.paused
		d = &o
		if w.plan.motley && w.chance(4) { // and what its schedule leaves out
			d.exclude = nil
			w.drawExclude(d, w.plan.scale.Milliseconds())
		}
	}
	w.fill(d)
	if d.at > 0 && w.chance(pick(j == nil, 3, 2)) {
		d.at -= (d.at - w.wall()) / 1000 * 1000 // just now, or a little while ago
		d.at -= w.between(0, d.window) / 1000 * 1000
		if j != nil && len(j.spans) > 0 && w.chance(2) { // where something was decided
			span := j.spans[len(j.spans)-1-w.rng.IntN(min(8, len(j.spans)))]
			d.at = pick(w.chance(2), span[0], (span[0]+span[1])/2)
			d.missed, d.window = "fire_once", max(d.window, w.wall()-d.at+1000)
		}
		d.expr = "@at " + modelTime(d.at) + "Z"
	}
	if calendar := w.calendarName(w.rng.IntN(simCalendars), name); d.ends == 0 && w.model.calendars[calendar] != nil && d.calendar == "" && w.chance(4) {
		w.drawCalendar(d, calendar)
	}
	return &modelAct{kind: "put", name: name, by: w.actor(), def: d}
}

// The calendars of a simulation: a tenant has so many.
const (
	simCalendars = 2
	simTenants   = 3
)

func (w *world) calendarName(n int, job string) string {
	return fmt.Sprintf("calendar-%d-%s", n, job[len(job)-1:])
}

// simLines are what calendars leave out: enough to matter, and never all.
var simLines = map[string][]string{
	"hours": {"10-19 * * * *", "30-59 * * * *", "* */2 * * *", "0 * * * *", "*/2 * * * *", "0-30/2 2 * * *"},
	"month": {"* * * * 0,6", "* 8-11 * * *", "* * 10-20 * *", "0-30 * * * *", "* */2 * * *", "0 2 * * *"},
	"year":  {"* * * * 0", "* 8-11 * * *", "* * 24-26 12 *", "* * * 7 *", "* 2 * * *", "* * 1 * *"},
}

// calendar puts one of the calendars, with one line or two.
func (w *world) calendar(n int) *modelAct {
	a := &modelAct{kind: "calendar", name: w.calendarName(n/simTenants, fmt.Sprint(n%simTenants)), by: w.actor()}
	lines := simLines[w.plan.kind]
	for range 1 + w.rng.IntN(2) {
		a.lines = append(a.lines, lines[w.rng.IntN(len(lines))])
	}
	if !w.model.leavesAll(a) {
		a.lines = []string{"59 23 31 12 *"} // a day on which no job of a simulation has all its ticks
	}
	return a
}

func (w *world) trigger(name string) *modelAct {
	a := &modelAct{kind: "trigger", name: name, by: w.actor(), length: int64(w.rng.IntN(2))}
	if w.chance(2) {
		if w.chance(2) {
			w.keys++
		}
		a.key = fmt.Sprintf("key-%d", max(0, w.keys-w.rng.IntN(3)))
		if j := w.model.names[name]; j != nil && len(j.used) > 0 && w.chance(2) {
			a.key = j.used[w.rng.IntN(len(j.used))]
		}
	}
	return a
}

func (w *world) backfill(j *modelJob) *modelAct {
	to := w.wall() - w.between(0, 10*w.plan.scale.Milliseconds())
	a := &modelAct{kind: "backfill", name: j.name, by: w.actor(), to: to, length: int64(1 + w.rng.IntN(30))}
	a.repeat, a.dry = w.chance(5), w.chance(5)
	a.from = max(w.plan.start.UnixMilli(), to-1-w.between(0, 40*w.plan.scale.Milliseconds()))
	if a.from >= a.to {
		a.from = a.to - 1
	}
	return a
}
