package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// errDismissed means that a run is dismissed already, so that there is nothing to propose.
var errDismissed = errors.New("scheduler: run is dismissed")

// DismissRun marks a dead run as dealt with: it stays in the history, and is no longer listed as dead. A run that is
// dismissed already keeps its mark, and the answer is the same.
func (e *Engine) DismissRun(ctx context.Context, tenant string, id job.RunID, reason string) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	if len(reason) > job.ReasonBytesMax {
		return RunView{}, apierr.Errorf(apierr.TooLarge, "reason", "has %d bytes; at most %d are allowed", len(reason), job.ReasonBytesMax)
	}
	p := &core.DismissRun{Tenant: tenant, Actor: e.actorOf(ctx), Reason: reason}
	prepare := func() error { return e.readDismissal(ctx, p, id) }
	err := prepare()
	if err == nil {
		err = e.submitFresh(ctx, p, &p.Handled, prepare)
	}
	if err != nil && !errors.Is(err, errDismissed) {
		return RunView{}, err
	}
	return e.Run(ctx, tenant, id)
}

// readDismissal prepares the dismissal of a run from its history.
func (e *Engine) readDismissal(ctx context.Context, p *core.DismissRun, id job.RunID) error {
	p.AsOf = e.opts.Store.Applied().LSN
	view, err := e.Run(ctx, p.Tenant, id)
	switch {
	case err != nil:
		return err
	case view.Status.IsFinal() && view.Status != job.StatusDead:
		return apierr.Errorf(apierr.RunOver, "run_id", "run %s is over: it %s; only a dead run can be dismissed", id, past(view.Status))
	case view.Status != job.StatusDead:
		return apierr.Errorf(apierr.VersionConflict, "run_id", "run %s is %s; only a dead run can be dismissed", id, view.Status)
	case !view.IsListedDead():
		return errDismissed
	}
	if most, node := e.rowsMax(); job.RowsVersionOfDismissals > max(most, byte(e.rows.Load())) {
		return apierr.Errorf(apierr.InvalidField, "run_id", "a dismissed run needs rows of version %d, and node %s of the cluster reads up to %d: upgrade that node first", job.RowsVersionOfDismissals, node, most)
	}
	p.Name, p.Hash, p.Run = view.Job, e.hasher.hash(p.Tenant, view.Job), view.Run
	return nil
}

// DismissDead dismisses the dead runs that a query selects, newest first, at most q.Limit of them. It returns how many
// it dismissed, and whether there may be more. Each run is a proposal of its own, so a failure in between leaves those
// before it dismissed.
func (e *Engine) DismissDead(ctx context.Context, q RunQuery, reason string) (dismissed int, more bool, err error) {
	return e.eachDead(ctx, q, func(id job.RunID) error {
		_, err := e.DismissRun(ctx, q.Tenant, id, reason)
		return err
	})
}
