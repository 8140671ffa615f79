package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Trigger starts a manual run of a job now, paused or not. The same idempotency key, within a day, returns the same
// run.
func (e *Engine) Trigger(ctx context.Context, req TriggerRequest) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	if len(req.Key) > job.IdempotencyKeyMax {
		return RunView{}, apierr.Errorf(apierr.TooLarge, "idempotency_key", "has %d bytes; at most %d are allowed", len(req.Key), job.IdempotencyKeyMax)
	}
	p := &core.Trigger{
		Tenant: req.Tenant, Name: req.Job, Hash: e.hasher.hash(req.Tenant, req.Job),
		Payload: req.Payload, HasPayload: req.HasPayload, PayloadJSON: req.PayloadJSON, Key: req.Key,
		Actor: e.actorOf(ctx), IfVersion: req.IfVersion,
	}
	if req.Key != "" {
		run, ok, err := e.findOnce(p)
		if err != nil || ok {
			return run, err
		}
	}
	err := e.submitFresh(ctx, p, &p.Handled, func() error {
		p.AsOf = e.opts.Store.Applied().LSN
		return nil
	})
	if err != nil {
		return RunView{}, err
	}
	return e.Run(ctx, req.Tenant, p.Run.ID)
}

// findOnce reads the run of an idempotency key from the store, and records the LSN at which it read. The core
// remembers only the keys of the newest commits; older ones are in the store alone.
func (e *Engine) findOnce(p *core.Trigger) (RunView, bool, error) {
	p.AsOf = e.opts.Store.Applied().LSN
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return RunView{}, false, err
	}
	today := job.Day(instant.Of(e.opts.Clock.Now()))
	for day := today + 1; day+core.OnceDays >= today; day-- { // the clock may have been set back over midnight
		value, ok, err := e.opts.Store.Get(job.AppendOnceKey(nil, day, id, p.Key))
		if err != nil {
			return RunView{}, false, err
		}
		if !ok {
			continue
		}
		run, err := job.DecodeOnce(value)
		if err != nil {
			return RunView{}, false, err
		}
		v, err := e.Run(context.Background(), p.Tenant, run)
		return v, true, err
	}
	return RunView{}, false, nil
}
