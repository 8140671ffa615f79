package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/job"
)

// target is how the targets of a job behave, for the time being.
type target struct {
	kind  string // well, slow, hangs, fails, refuses, busy, mixed
	until int64
}

// attempt is what a target has and has not answered.
type attempt struct {
	d        *job.Delivery
	done     func(job.Outcome)
	launched int64 // real
	wall     time.Time
	answer   job.Outcome
	landed   bool
}

// Launch implements Sender: the target answers at once, later or never.
func (w *world) Launch(d *job.Delivery, done func(job.Outcome)) {
	w.mix(uint64(d.Run.Job), uint64(d.Run.At), uint64(d.Run.Seq), uint64(d.Attempt), d.Fence, uint64(w.wall()))
	w.model.launch(modelLaunch{key: keyOf(d.Run), name: d.Name, attempt: d.Attempt, fence: d.Fence, at: w.wall()})
	f := &attempt{d: d, done: done, launched: w.passed, wall: w.Now()}
	w.flights[d.Run] = f
	after := w.judge(f)
	w.sendWorker(d, after)
	w.landAfter(f, after)
}

// landAfter lets an attempt end after so many milliseconds.
func (w *world) landAfter(f *attempt, after int64) {
	if after == 0 {
		w.landing = append(w.landing, f)
		return
	}
	life := w.life
	w.after(after, func() {
		if w.life == life && w.alive {
			w.landing = append(w.landing, f)
		}
	}).lands = true
}

// land hands the answers of targets over that are there.
func (w *world) land() bool {
	some := len(w.landing) > 0
	for len(w.landing) > 0 {
		f := w.landing[0]
		w.landing = w.landing[1:]
		if f.landed {
			continue
		}
		f.landed = true
		if w.flights[f.d.Run] == f {
			delete(w.flights, f.d.Run)
		}
		o := f.answer
		o.Run, o.Attempt, o.LaunchedAt = f.d.Run, f.d.Attempt, f.wall
		o.Duration = time.Duration(w.passed-f.launched) * time.Millisecond
		w.model.tell(keyOf(o.Run), &modelAnswer{
			attempt: o.Attempt, err: o.Error, refused: o.Refused, retryAfter: o.RetryAfter.Milliseconds(),
		}, w.wall())
		f.done(o)
	}
	return some
}

// Cancel implements Sender: the attempt ends soon, or goes on as if nothing had been said.
func (w *world) Cancel(run job.RunID) {
	f := w.flights[run]
	if f == nil || w.chance(4) {
		return
	}
	f.answer = job.Outcome{Error: w.newError("aborted")}
	w.landAfter(f, w.between(0, 300))
}

// newError makes an error text that is like no other.
func (w *world) newError(what string) string {
	w.errors++
	return fmt.Sprintf("%s, number %d", what, w.errors)
}

// judge says how the target takes an attempt, and after how many milliseconds.
func (w *world) judge(f *attempt) (after int64) {
	t := w.targets[f.d.Name]
	if t == nil || w.passed > t.until {
		t = w.newTarget()
		w.targets[f.d.Name] = t
	}
	kind := t.kind
	if kind == "mixed" {
		kind = []string{"well", "fails", "refuses", "busy", "slow"}[w.rng.IntN(5)]
	}
	timeout := f.d.Timeout.Milliseconds()
	switch kind {
	case "slow":
		return w.between(1, timeout)
	case "hangs":
		f.answer.Error = w.newError("no answer")
		return timeout * int64(1+w.rng.IntN(20))
	case "fails":
		f.answer.Error = w.newError("broken")
	case "refuses":
		f.answer.Error, f.answer.Refused = w.newError("refused"), true
	case "busy":
		f.answer.Error = w.newError("busy")
		f.answer.RetryAfter = time.Duration(w.between(1, 4*timeout)) * time.Millisecond
	}
	if w.chance(3) {
		return w.between(1, 300)
	}
	return 0
}

// newTarget draws how targets of a job behave for a while.
func (w *world) newTarget() *target {
	kinds := []string{"well", "well", "well", "well", "well", "slow", "hangs", "fails", "refuses", "busy", "mixed", "mixed"}
	return &target{kind: kinds[w.rng.IntN(len(kinds))], until: w.passed + w.between(0, w.plan.mood.Milliseconds())}
}

// sendWorker lets a worker who got a run report on it, well or badly.
func (w *world) sendWorker(d *job.Delivery, after int64) {
	j := w.model.jobs[uint64(d.Run.Job)]
	if j == nil || !j.def.reported {
		return
	}
	timeout := d.Timeout.Milliseconds()
	report := func(at int64, fence uint64, failed bool) {
		a := &modelAct{kind: "report", name: d.Name, run: keyOf(d.Run), fence: fence, failed: failed}
		if failed {
			a.text = w.newError("the worker gave up")
		}
		w.after(max(0, at), func() { w.doWhenUp(a, timeout) })
	}
	failed := w.chance(4)
	at := after + w.between(0, timeout)
	switch w.rng.IntN(12) {
	case 0: // never
	case 1:
		report(after+timeout+w.between(-2, timeout), d.Fence, failed) // late, or just in time
	case 2:
		report(w.between(0, after), d.Fence, failed) // before the target has answered
	case 3:
		report(at, d.Fence-1-uint64(w.rng.IntN(3)), failed)
		report(at+w.between(0, timeout/2), d.Fence, failed)
	case 4:
		w.extendRun(d, at/2, timeout)
		report(at+w.between(0, timeout), d.Fence, failed)
	case 5:
		report(at, d.Fence, failed)
		report(at+w.between(0, timeout), d.Fence, w.chance(2)) // again
	default:
		report(at, d.Fence, failed)
	}
}

// extendRun asks for more time.
func (w *world) extendRun(d *job.Delivery, at, timeout int64) {
	a := &modelAct{kind: "extend", name: d.Name, run: keyOf(d.Run), fence: d.Fence, length: 1 + w.between(0, 2*timeout)}
	w.after(at, func() { w.doWhenUp(a, timeout) })
}

// doWhenUp does an act as soon as the process is there; its caller tries for a while.
func (w *world) doWhenUp(a *modelAct, patience int64) {
	switch {
	case w.alive:
		w.do(a)
	case !w.chance(4):
		w.after(1+w.between(0, patience), func() { w.doWhenUp(a, patience) })
	}
}
