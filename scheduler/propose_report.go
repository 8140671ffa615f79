package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Report records what a worker says about a run of a job with completion "reported". The same report again gets the
// same answer; a report with another fence is refused. The state before and after the proposal are read from the
// store, because a run that is over is not in the core.
func (e *Engine) Report(ctx context.Context, req ReportRequest) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	view, err := e.Run(ctx, req.Tenant, req.Run)
	if err != nil {
		return RunView{}, err
	}
	p := &core.Report{Run: req.Run, Fence: req.Fence, Failed: req.Failed, Error: req.Error, Result: req.Result}
	if p.Failed && p.Error == "" {
		p.Error = "the worker reported a failure"
	}
	if err := e.maskReport(p); err != nil {
		return RunView{}, err
	}
	p.Begun, _ = e.pad.FlyingSince(req.Run)
	if !view.Status.IsFinal() {
		if err := e.submit(ctx, p); err != nil {
			return RunView{}, err
		}
	}
	if view.Status.IsFinal() || errors.Is(p.Err, core.ErrNotLive) {
		return e.reportedBefore(ctx, req)
	}
	if p.Err != nil {
		return RunView{}, p.Err
	}
	return e.Run(ctx, req.Tenant, req.Run)
}

// maskReport masks the job's credentials in the texts of a worker: an error that a missing right causes often repeats
// the credential. The texts are durable and are shown to all callers that may read the job. Who reports need not know the
// credentials, and must not learn them by the masks.
func (e *Engine) maskReport(p *core.Report) error {
	if p.Error == "" && p.Result == "" {
		return nil
	}
	rec, _, _, err := e.readRows(p.Run.Job) // URLs in the texts are masked even if the job is deleted
	if err != nil {
		return err
	}
	known := e.credentialsOf(&rec.Def)
	p.Error = job.CutText(known.MaskWhole(p.Error), job.ErrorBytesMax)
	p.Result = job.CutText(known.MaskWhole(p.Result), job.ResultBytesMax)
	return nil
}

// credentialsOf returns the credentials that the runs of a job carry, with the values of its secrets. A secret that
// cannot be read now has no value to be found; its launch fails for the same reason.
func (e *Engine) credentialsOf(d *job.Definition) job.Credentials {
	known := job.CredentialsOf(d.Headers, d.Target)
	if e.opts.Secret == nil || !d.HasSecrets() {
		return known
	}
	refs := []job.SecretRef{d.Target.URLSecret, d.Target.Sign}
	for _, h := range d.SecretHeaders {
		refs = append(refs, job.SecretRef(h.Value))
	}
	for _, ref := range refs {
		if tenant, _, ok := ref.Cut(); !ok || tenant != d.Tenant {
			continue
		}
		if value, err := e.opts.Secret(ref); err == nil {
			known.AddSecret(string(value))
		}
	}
	return known
}

// reportedBefore answers a report about a run that is over. A worker that did not receive the answer asks again, so
// the same report must succeed again.
func (e *Engine) reportedBefore(ctx context.Context, req ReportRequest) (RunView, error) {
	view, err := e.Run(ctx, req.Tenant, req.Run)
	if err != nil {
		return RunView{}, err
	}
	said := job.StatusSucceeded
	if req.Failed {
		said = job.StatusDead
	}
	if view.Fence == req.Fence && view.Status == said {
		return view, nil
	}
	return RunView{}, apierr.Errorf(apierr.StaleFence, "run_id", "run %s is over: it %s at fence %d; the report changes nothing", req.Run, past(view.Status), view.Fence)
}

// past returns the word for how a run ended.
func past(s job.Status) string {
	switch s {
	case job.StatusDead:
		return "died"
	case job.StatusSkipped, job.StatusCancelled:
		return "was " + s.String()
	}
	return s.String()
}

// Extend moves the deadline of a worker's report to by from now. It returns the new deadline, which is never before
// the old one.
func (e *Engine) Extend(ctx context.Context, tenant string, id job.RunID, fence uint64, by time.Duration) (instant.Millis, error) {
	if err := e.mustLead(); err != nil {
		return 0, err
	}
	if by <= 0 || by > job.ExtendMax {
		return 0, apierr.Errorf(apierr.InvalidField, "by", "must be more than 0s and at most %s", job.ExtendMax)
	}
	view, err := e.Run(ctx, tenant, id)
	if err != nil {
		return 0, err
	}
	p := &core.Extend{Run: id, Fence: fence, By: by}
	p.Begun, _ = e.pad.FlyingSince(id)
	if !view.Status.IsFinal() {
		if err := e.submit(ctx, p); err != nil {
			return 0, err
		}
	}
	if view.Status.IsFinal() || errors.Is(p.Err, core.ErrNotLive) {
		return 0, apierr.Errorf(apierr.StaleFence, "run_id", "run %s is over: there is nothing to extend", id)
	}
	return p.Deadline, p.Err
}

// CancelRun ends a run that is not over. If its attempt is with a target that can be cancelled, the attempt is
// cancelled too.
func (e *Engine) CancelRun(ctx context.Context, tenant string, id job.RunID) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	view, err := e.Run(ctx, tenant, id)
	if err != nil {
		return RunView{}, err
	}
	p := &core.CancelRun{Tenant: tenant, Name: view.Job, Run: id, Actor: e.actorOf(ctx)}
	if err := e.submit(ctx, p); err != nil {
		return RunView{}, err
	}
	if err := p.Err; err != nil && !errors.Is(err, core.ErrNotLive) {
		return RunView{}, err
	}
	if view, err = e.Run(ctx, tenant, id); err == nil && p.Err != nil && view.Status != job.StatusCancelled {
		err = apierr.Errorf(apierr.RunOver, "run_id", "run %s is over: it %s; only a run that is not can be cancelled", id, past(view.Status))
	}
	return view, err
}

// RetryRun starts another attempt of a dead or cancelled run now, under the same run id and with a higher fence. The
// retry policy counts attempts from 1 again.
func (e *Engine) RetryRun(ctx context.Context, tenant string, id job.RunID) (RunView, error) {
	if err := e.mustLead(); err != nil {
		return RunView{}, err
	}
	p := &core.RetryRun{Tenant: tenant, Actor: e.actorOf(ctx)}
	prepare := func() error { return e.readRetry(ctx, p, id) }
	if err := prepare(); err != nil {
		return RunView{}, err
	}
	if err := e.submitFresh(ctx, p, &p.Handled, prepare); err != nil {
		return RunView{}, err
	}
	return e.Run(ctx, tenant, id)
}

// readRetry prepares the retry of a run from its history.
func (e *Engine) readRetry(ctx context.Context, p *core.RetryRun, id job.RunID) error {
	p.AsOf = e.opts.Store.Applied().LSN
	view, err := e.Run(ctx, p.Tenant, id)
	if err != nil {
		return err
	}
	switch view.Status {
	case job.StatusDead, job.StatusCancelled:
	default:
		code := apierr.VersionConflict
		if view.Status.IsFinal() {
			code = apierr.RunOver
		}
		return apierr.Errorf(code, "run_id", "run %s is %s; want one that is dead or cancelled", id, view.Status)
	}
	p.Name, p.Hash, p.Run = view.Job, e.hasher.hash(p.Tenant, view.Job), view.Run
	if p.Run.HasPayload {
		if _, _, err := pad.ReadPayload(e.opts.Store, id); err != nil {
			return apierr.Errorf(apierr.VersionConflict, "run_id", "run %s had a payload of its own, which is not kept for a run that was cancelled; trigger the job anew", id)
		}
	}
	return nil
}

// RetryDead retries the dead runs that a query selects, newest first, at most q.Limit of them. It returns how many it
// retried, and whether there may be more. If the tenant's share is used up in between, it returns those that it
// retried, and true; if there is no room for even the first, it returns an error. Each run is a proposal of its own,
// so a failure in between leaves those before it retried.
func (e *Engine) RetryDead(ctx context.Context, q RunQuery) (retried int, more bool, err error) {
	retried, more, err = e.eachDead(ctx, q, func(id job.RunID) error {
		_, err := e.RetryRun(ctx, q.Tenant, id)
		return err
	})
	if retried > 0 && isQuota(err) {
		err = nil
	}
	return retried, more, err
}

// eachDead changes the dead runs that a query selects, newest first, at most q.Limit of them. It returns how many it
// changed, and whether there may be more. It passes over a run that another caller changed meanwhile, and ends with the
// first other error. A page may be short, or empty, where runs that the query does not select come first: so it reads on until
// it has changed as many as it may, has come to the end, or the time of the request is over. It takes turns with other tenants for that.
func (e *Engine) eachDead(ctx context.Context, q RunQuery, change func(job.RunID) error) (changed int, more bool, err error) {
	if err := e.mustLead(); err != nil {
		return 0, false, err
	}
	q.Status = job.StatusDead
	for most := q.Limit; ; q.scanMax = turnScanMax {
		page, err := e.Runs(ctx, q)
		if err != nil {
			return changed, true, unlessLate(ctx, changed, err)
		}
		for i := range page.Runs {
			err := change(page.Runs[i].ID)
			if e := (*apierr.Error)(nil); errors.As(err, &e) && (e.Code == apierr.VersionConflict || e.Code == apierr.RunOver || e.Code == apierr.NotFound) {
				continue // another caller was faster
			}
			if err != nil {
				return changed, true, err
			}
			changed++
		}
		q.After, q.Limit = page.Next, most-changed
		if more := q.After != (job.RunID{}); !more || q.Limit == 0 {
			return changed, more, nil
		}
		if err := schedule.Turn(ctx); err != nil {
			return changed, true, unlessLate(ctx, changed, err)
		}
	}
}

// unlessLate returns the error of a request that has read on; nil if its time is over and it has changed something, which it can say.
func unlessLate(ctx context.Context, changed int, err error) error {
	if changed > 0 && ctx.Err() != nil {
		return nil
	}
	return err
}

// isQuota reports whether an error means that the tenant has used up its share.
func isQuota(err error) bool {
	e, ok := errors.AsType[*apierr.Error](err)
	return ok && e.Code == apierr.QuotaExceeded
}
