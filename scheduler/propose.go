package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/job"
)

// attemptsMax is how often a proposal is prepared again because its job changed meanwhile.
const attemptsMax = 16

// errBusyJob tells that every try met a change by somebody else.
var errBusyJob = job.Errorf(job.CodeUnavailable, "", "the job keeps changing; ask again later")

// submit hands proposals to the loop and waits until they are settled, durable and visible. An error
// means that their outcome is unknown, and that they are not the caller's any more.
func (e *Engine) submit(ctx context.Context, p ...Proposal) error {
	t := newTicket(p...)
	if err := e.enqueue(ctx, t); err != nil {
		return err
	}
	return e.await(ctx, t)
}

func (e *Engine) enqueue(ctx context.Context, t *ticket) error {
	if err := e.mustLead(); err != nil {
		return err
	}
	select {
	case <-e.stopping:
		return job.Errorf(job.CodeUnavailable, "", "the server is stopping; ask again later")
	default:
	}
	select {
	case e.proposals <- t:
		return nil
	case <-e.stopping:
		return job.Errorf(job.CodeUnavailable, "", "the server is stopping; ask again later")
	case <-ctx.Done():
		return job.Errorf(job.CodeRateLimited, "", "the server is busy and did not take the request in time; ask again later")
	}
}

func (e *Engine) await(ctx context.Context, t *ticket) error {
	select {
	case <-t.done:
		return t.lost
	case <-ctx.Done():
		return job.Errorf(job.CodeUnavailable, "", "no answer in time; whether the request took effect is unknown, so read before asking again")
	case <-e.stopped:
	}
	select {
	case <-t.done:
		return t.lost
	default:
		return job.Errorf(job.CodeUnavailable, "", "the server stopped; whether the request took effect is unknown, so read before asking again")
	}
}

// settleFresh submits a proposal, preparing it again as long as it is out of date.
func (e *Engine) settleFresh(ctx context.Context, p Proposal, result *settled, prepare func() error) error {
	for range attemptsMax {
		result.Err = nil
		if err := e.submit(ctx, p); err != nil {
			return err
		}
		if !errors.Is(result.Err, errStale) {
			return result.Err
		}
		if err := prepare(); err != nil {
			return err
		}
	}
	return errBusyJob
}

// Delete forgets a job. Runs that wait for their time, their turn or a report end with it; what its
// targets have in hand they may finish, and nothing follows if it fails. IfVersion nil is any version.
func (e *Engine) Delete(ctx context.Context, tenant, name string, ifVersion *uint32) (DeleteResult, error) {
	if err := e.mustLead(); err != nil {
		return DeleteResult{}, err
	}
	p := &Delete{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), Actor: actorOf(ctx), IfVersion: ifVersion}
	if err := e.readDoomed(p); err != nil {
		return DeleteResult{}, err
	}
	if err := e.submit(ctx, p); err != nil {
		return DeleteResult{}, err
	}
	return p.Result, p.Err
}

// liveScanMax bounds the live runs that a delete looks at; those beyond end one by one.
const liveScanMax = 1 << 20

// readDoomed reads what a delete says of its job: the definition, and the runs that are live.
func (e *Engine) readDoomed(p *Delete) error {
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return err // the core knows for sure
	}
	rec, _, ok, err := e.readRows(id)
	if err != nil || !ok {
		return err
	}
	p.Before = job.AuditDefinition(&rec.Def)
	low := job.AppendJobKey(nil, job.KindRun, id)
	return e.opts.Store.Scan(low, job.PrefixEnd(low), func(key, _ []byte) (bool, error) {
		run, err := job.ParseRunKey(key)
		p.Live = append(p.Live, run)
		return len(p.Live) < liveScanMax, err
	})
}

// Pause stops the ticks of a job. A run that has not left when Pause returns will not leave.
// IfVersion nil is any version; at another one than it names, the job stays as it is.
func (e *Engine) Pause(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (JobView, error) {
	return e.pause(ctx, &Pause{Tenant: tenant, Name: name, Actor: actorOf(ctx), IfVersion: ifVersion, Reason: reason})
}

// Resume lets the ticks of a paused job go on. Those that passed meanwhile are missed, and the job's
// policy for missed runs decides them. IfVersion is as for Pause.
func (e *Engine) Resume(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (JobView, error) {
	return e.pause(ctx, &Pause{Tenant: tenant, Name: name, Actor: actorOf(ctx), IfVersion: ifVersion, Reason: reason, Resume: true})
}

func (e *Engine) pause(ctx context.Context, p *Pause) (JobView, error) {
	if len(p.Reason) > job.ReasonBytesMax {
		return JobView{}, job.Errorf(job.CodeTooLarge, "reason", "has %d bytes; at most %d are allowed", len(p.Reason), job.ReasonBytesMax)
	}
	p.Hash = e.hasher.hash(p.Tenant, p.Name)
	if err := e.submit(ctx, p); err != nil {
		return JobView{}, err
	}
	if p.Err != nil {
		return JobView{}, p.Err
	}
	return e.Get(ctx, p.Tenant, p.Name)
}
