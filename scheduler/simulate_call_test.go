package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Calls: callers use the engine's own methods, each on a goroutine; but only one of them runs at a time,
// from one proposal to the next, so that a seed is one story.

// calls are the callers who wait for the engine.
type calls struct {
	over    chan struct{} // of one who has his answer
	running int           // callers who neither wait nor have their answers
	left    int           // callers who have no answer
	tickets []*ticket     // of those who wait
}

// do lets people do something at the same time, and waits until they are answered.
func (w *world) do(acts ...*modelAct) {
	if !w.alive || w.calls.left > 0 {
		return
	}
	var callers []func()
	ended := w.engine.outcomes.some() // during a commit: the step takes that in first
	for _, a := range acts {
		w.model.now, w.model.ids.may = w.wall(), w.maySlot()
		if a.kind == "put" {
			a.size = w.sizeOf(a.name, a.def)
		}
		w.model.ask(a, len(acts) == 1 && !ended)
		callers = append(callers, func() {
			ctx := WithActor(context.Background(), job.Actor{By: a.by})
			if err := w.invoke(ctx, a); err != nil {
				a.code = string(apierr.From(err).Code)
			}
		})
	}
	w.letCall(callers)
	for _, a := range acts {
		w.model.answer(a)
	}
}

// letCall lets callers propose one after the other, and makes steps until all have their answers.
func (w *world) letCall(callers []func()) {
	c := &w.calls
	c.over, c.left, c.tickets = make(chan struct{}, len(callers)), len(callers), c.tickets[:0]
	w.collect()
	for _, f := range callers {
		c.running++
		go func() {
			f()
			c.over <- struct{}{}
		}()
		w.quiesce()
	}
	for c.left > 0 {
		if w.alive {
			w.step()
		}
		if !w.alive {
			w.refuseInbox()
		}
		c.running += c.dropSettled()
		w.quiesce()
	}
}

// quiesce waits until every caller waits for a step, or has his answer.
func (w *world) quiesce() {
	for c := &w.calls; c.running > 0; c.running-- {
		select {
		case <-c.over:
			c.left--
		case t := <-w.engine.proposals:
			w.inbox, c.tickets = append(w.inbox, t), append(c.tickets, t)
		}
	}
}

// dropSettled forgets the tickets that are settled, and returns how many.
func (c *calls) dropSettled() int {
	before := len(c.tickets)
	c.tickets = slices.DeleteFunc(c.tickets, func(t *ticket) bool {
		select {
		case <-t.done:
			return true
		default:
			return false
		}
	})
	return before - len(c.tickets)
}

// invoke is a flat switch over what people do.
func (w *world) invoke(ctx context.Context, a *modelAct) (err error) {
	e, tenant, run := w.engine, simTenant(a.name), idOf(a.run)
	switch a.kind {
	case "put":
		_, _, err = e.Put(ctx, w.definition(a.name, a.def), nil)
	case "pause":
		_, err = e.Pause(ctx, tenant, a.name, "for a while", nil)
	case "resume":
		_, err = e.Resume(ctx, tenant, a.name, "", nil)
	case "delete":
		_, err = e.Delete(ctx, tenant, a.name, nil)
	case "trigger":
		var v RunView
		v, err = e.Trigger(ctx, TriggerRequest{Tenant: tenant, Job: a.name, Key: a.key, HasPayload: a.length > 0, Payload: []byte("own")})
		a.gotRun = keyOf(v.ID)
	case "backfill":
		a.runs = 0
		var done BackfillResult
		done, err = e.Backfill(ctx, BackfillRequest{Tenant: tenant, Job: a.name, From: instant.Millis(a.from), To: instant.Millis(a.to), Limit: int(a.length), Repeat: a.repeat, DryRun: a.dry})
		a.told, a.leftOut, a.times = done.Runs, done.LeftOut, nil
		for _, at := range done.Times {
			a.times = append(a.times, int64(at))
		}
	case "calendar":
		_, _, err = e.PutCalendar(ctx, &job.Calendar{Tenant: tenant, Name: a.name, Exclude: slices.Clone(a.lines)})
	case "report":
		_, err = e.Report(ctx, ReportRequest{Tenant: tenant, Run: run, Fence: a.fence, Failed: a.failed, Error: a.text})
	case "extend":
		var until instant.Millis
		until, err = e.Extend(ctx, tenant, run, a.fence, time.Duration(a.length)*time.Millisecond)
		a.deadline = int64(until)
	case "cancel":
		_, err = e.CancelRun(ctx, tenant, run)
	case "retry":
		_, err = e.RetryRun(ctx, tenant, run)
	case "dismiss":
		_, err = e.DismissRun(ctx, tenant, run, "known")
	}
	return err
}

// Announce implements Announcer: the simulated outside accepts all notices, some or none.
func (w *world) Announce(_ context.Context, batch []job.Announcement) (int, error) {
	n := len(batch)
	if w.chance(5) {
		n = w.rng.IntN(n + 1)
	}
	for i := range batch[:n] {
		w.model.published(batch[i].ID.LSN, batch[i].ID.Seq, batch[i].Name)
	}
	if n < len(batch) {
		return n, errDied
	}
	return n, nil
}

// tellSoon publishes notices after a while.
func (w *world) tellSoon() {
	if w.telling || w.opts.Announcer == nil {
		return
	}
	w.telling = true
	w.after(w.between(0, w.plan.tell.Milliseconds()), w.tell)
}

// tell publishes notices until none are left, as long as they are accepted.
func (w *world) tell() {
	w.telling = false
	for w.alive && w.calls.left == 0 && w.model.broken == "" {
		var next []byte
		var more bool
		var err error
		w.letCall([]func(){func() {
			next, more, err = w.engine.announceSome(context.Background(), w.low)
		}})
		if !w.alive {
			return
		}
		if err != nil && !errors.Is(err, errDied) {
			w.model.fail("notices", nil, "publish: %v", err)
		}
		if w.low = next; err != nil {
			w.tellSoon()
			return
		}
		if !more {
			w.model.checkDeletions()
			return
		}
	}
}

// simTenant returns the tenant of a job of a simulation: there are three.
func simTenant(name string) string { return "tenant-" + name[len(name)-1:] }

// definition writes out a definition of the model.
func (w *world) definition(name string, d *modelDef) *job.Definition {
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = simTenant(name), name, job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Timezone, def.Exclude = d.expr, d.zone, slices.Clone(d.exclude)
	if d.parts != nil {
		def.Schedule = ""
		for _, p := range d.parts {
			def.Schedules = append(def.Schedules, p.text)
		}
	}
	if d.calendar != "" {
		def.Exclude = append(def.Exclude, "@calendar "+d.calendar)
	}
	def.StartsAt, def.EndsAt, def.MaxRuns = instant.Millis(d.starts), instant.Millis(d.ends), uint32(d.maxRuns)
	def.Jitter, def.AttemptTimeout = time.Duration(d.jitter)*time.Millisecond, time.Duration(d.timeout)*time.Millisecond
	if d.reported {
		def.Completion = job.CompletionReported
	}
	def.Retry = job.Retry{
		MaxAttempts: uint32(d.retry.attempts), Multiplier: d.retry.multiplier, Jitter: d.retry.jitter, ClientErrors: d.retry.refusals,
		InitialInterval: time.Duration(d.retry.first) * time.Millisecond, MaxInterval: time.Duration(d.retry.most) * time.Millisecond,
		MaxAge: time.Duration(d.retry.maxAge) * time.Millisecond,
	}
	def.PauseOnFailure, def.MaxConcurrent = uint32(d.pauseOnFailure), uint32(d.maxConcurrent)
	def.Overlap, _ = job.ParseOverlap(d.overlap)
	def.Missed, _ = job.ParseMissed(d.missed)
	def.CatchupWindow, def.MaxCatchupRuns = time.Duration(d.window)*time.Millisecond, uint32(d.maxCatchup)
	def.Paused = d.paused
	def.Payload = make([]byte, d.payload)
	if err := def.Validate(job.Rules{}); err != nil {
		w.model.fail("plan", nil, "%s: %v", name, err)
	}
	return &def
}
