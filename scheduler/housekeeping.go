package scheduler

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Some consequences of a step need rows that only the store has, such as the name of a job. A goroutine beside the
// loop does this housekeeping. It proposes its changes like any caller.

// housekeeping holds the requests of the loop to the goroutines that do housekeeping. The requests are lost with the
// process. Each has a durable cause, which the next leader finds again: a completed job, a streak, the mark of a
// replan, a row of the outbox.
type housekeeping struct {
	reaps   chan core.Reap // its capacity is what a core hands over at a time
	pauses  *pauseQueue
	replan  chan struct{} // capacity 1
	notices chan struct{} // capacity 1
}

func newHousekeeping() housekeeping {
	return housekeeping{
		reaps: make(chan core.Reap, core.ReapBatch), pauses: newPauseQueue(),
		replan: make(chan struct{}, 1), notices: make(chan struct{}, 1),
	}
}

// send hands over what a step asks for. It never blocks. The channel of reaps has room for all that a core hands over,
// and the other requests are queued or merged.
func (c *housekeeping) send(out *core.Output) {
	for _, r := range out.Reap {
		c.reaps <- r
	}
	for _, p := range out.Pauses {
		c.pauses.add(p)
	}
	if out.Replan {
		notify(c.replan)
	}
	if out.Notices > 0 {
		notify(c.notices)
	}
}

// doHousekeeping does housekeeping until ctx ends. An error is logged and the request dropped, because the cause stays
// and is met again by the next leader at the latest.
func (e *Engine) doHousekeeping(ctx context.Context) {
	for {
		var err error
		about, id := "", job.ID(0)
		select {
		case <-ctx.Done():
			return
		case <-e.housekeeping.pauses.ready:
			if p, ok := e.housekeeping.pauses.next(); ok {
				about = "a failing job was not paused"
				id, err = p.ID, e.autoPause(ctx, p)
			}
		case <-e.housekeeping.replan:
			about = "jobs did not follow a change of their schedules"
			err = e.replanAll(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.warn(about, id, err)
		}
	}
}

// hasLive reports whether a job has a run that is not over.
func (e *Engine) hasLive(id job.ID) (some bool, err error) {
	low := job.AppendJobKey(nil, job.KindRun, id)
	err = e.opts.Store.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) {
		some = true
		return false, nil
	})
	return some, err
}

// autoPause pauses a job whose runs failed too often. It does not wait for the answer: if the job has changed, or its
// streak has ended meanwhile, the refusal is right.
func (e *Engine) autoPause(ctx context.Context, a core.AutoPause) error {
	rec, _, ok, err := e.readRows(a.ID)
	if err != nil || !ok {
		return err
	}
	tenant, name := rec.Def.Tenant, rec.Def.Name
	p := &core.Pause{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), Actor: job.ActorEngine, Reason: a.Reason, IfFailing: true}
	return e.enqueue(ctx, newTicket(p))
}

// replanAll moves all jobs to their changed schedules, piece by piece, and logs how many moved. The pieces are
// proposals of their own, so callers are served in between.
func (e *Engine) replanAll(ctx context.Context) error {
	moved := 0
	for p := (&core.Replan{From: 1}); ; p = (&core.Replan{From: p.Next}) {
		if err := e.submit(ctx, p); err != nil {
			return err
		}
		if moved += p.Moved; p.Next == 0 {
			e.opts.Logger.Info("jobs follow their schedules, which changed", slog.Int("jobs", moved))
			return nil
		}
	}
}
