package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// Trigger starts a manual run of a job now, paused or not. The same idempotency key, within a day, is
// the same run.
func (e *Engine) Trigger(ctx context.Context, req TriggerRequest) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	if len(req.Key) > job.IdempotencyKeyMax {
		return RunView{}, job.Errorf(job.CodeTooLarge, "idempotency_key", "has %d bytes; at most %d are allowed", len(req.Key), job.IdempotencyKeyMax)
	}
	p := &Trigger{
		Tenant: req.Tenant, Name: req.Job, Hash: e.hasher.hash(req.Tenant, req.Job),
		Payload: req.Payload, HasPayload: req.HasPayload, PayloadJSON: req.PayloadJSON, Key: req.Key,
		Actor: actorOf(ctx), IfVersion: req.IfVersion,
	}
	if req.Key != "" {
		run, ok, err := e.findOnce(p)
		if err != nil || ok {
			return run, err
		}
	}
	err := e.settleFresh(ctx, p, &p.settled, func() error {
		p.AsOf = e.opts.Store.Applied().LSN
		return nil
	})
	if err != nil {
		return RunView{}, err
	}
	return e.Run(ctx, req.Tenant, p.Run.ID)
}

// findOnce looks in the store for the run of an idempotency key, and notes as of when it looked.
func (e *Engine) findOnce(p *Trigger) (RunView, bool, error) {
	p.AsOf = e.opts.Store.Applied().LSN
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return RunView{}, false, err
	}
	today := job.Day(job.MillisOf(e.opts.Clock.Now()))
	for day := today + 1; day+onceDays >= today; day-- { // the clock may have been set back over midnight
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
