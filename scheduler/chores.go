package scheduler

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/job"
)

// Some of what a step finds out needs what only the store has, such as the name of a job. These chores
// are done by a goroutine beside the loop, which proposes the change like any caller.

// chores are what the loop asks for.
type chores struct {
	reaps   chan Reap // has a place for all that a core hands over at a time
	pauses  *pauseQueue
	replan  chan struct{} // of one place
	notices chan struct{} // of one place
}

func newChores() chores {
	return chores{
		reaps: make(chan Reap, reapBatch), pauses: newPauseQueue(),
		replan: make(chan struct{}, 1), notices: make(chan struct{}, 1),
	}
}

// send hands over what a step asks for. It never blocks.
func (c *chores) send(out *Output) {
	for _, r := range out.Reap {
		c.reaps <- r
	}
	for _, p := range out.Pauses {
		c.pauses.add(p)
	}
	if out.Replan {
		signal(c.replan)
	}
	if out.Notices > 0 {
		signal(c.notices)
	}
}

// doChores works until ctx ends.
func (e *Engine) doChores(ctx context.Context) {
	for {
		var err error
		about, id := "", job.ID(0)
		select {
		case <-ctx.Done():
			return
		case <-e.chores.pauses.ready:
			if p, ok := e.chores.pauses.next(); ok {
				about = "a failing job was not paused"
				id, err = p.ID, e.autoPause(ctx, p)
			}
		case <-e.chores.replan:
			about = "jobs did not follow a change of their schedules"
			err = e.replanAll(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.warn(about, id, err)
		}
	}
}

// hasLive tells whether a job has a run that is not over.
func (e *Engine) hasLive(id job.ID) (some bool, err error) {
	low := job.AppendJobKey(nil, job.KindRun, id)
	err = e.opts.Store.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) {
		some = true
		return false, nil
	})
	return some, err
}

// autoPause pauses a job that failed too often.
func (e *Engine) autoPause(ctx context.Context, a AutoPause) error {
	rec, _, ok, err := e.readRows(a.ID)
	if err != nil || !ok {
		return err
	}
	tenant, name := rec.Def.Tenant, rec.Def.Name
	p := &Pause{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), Actor: job.ActorEngine, Reason: a.Reason, IfFailing: true}
	return e.enqueue(ctx, newTicket(p))
}

// replanAll lets the jobs follow a change of their schedules, piece by piece, and says how many did.
func (e *Engine) replanAll(ctx context.Context) error {
	moved := 0
	for p := (&Replan{From: 1}); ; p = (&Replan{From: p.Next}) {
		if err := e.submit(ctx, p); err != nil {
			return err
		}
		if moved += p.Moved; p.Next == 0 {
			e.opts.Logger.Info("jobs follow their schedules, which changed", slog.Int("jobs", moved))
			return nil
		}
	}
}
