package scheduler

import "context"

// reapsMax is how many completed jobs may wait for their deletion. What finds no place is asked for
// again, a retention later.
const reapsMax = 16_384

func (e *Engine) sendReaps(reaps []Reap) {
	for _, r := range reaps {
		select {
		case e.reaps <- r:
		default:
			return
		}
	}
}

// reapAll deletes jobs that were completed long enough ago. A delete needs the name, which only the
// store has; so it is asked for like any other.
func (e *Engine) reapAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-e.reaps:
			if err := e.reapOne(ctx, r); err != nil && ctx.Err() == nil {
				e.opts.Logger.Warn("a completed job was not deleted", "job", r.ID.String(), "error", err)
			}
		}
	}
}

func (e *Engine) reapOne(ctx context.Context, r Reap) error {
	rec, _, ok, err := e.readRows(r.ID)
	if err != nil || !ok {
		return err
	}
	tenant, name := rec.Def.Tenant, rec.Def.Name
	p := &Delete{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), IfVersion: &r.Version}
	return e.enqueue(ctx, newTicket(p))
}
