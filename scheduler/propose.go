package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// attemptsMax is how often a proposal is prepared in all when its job keeps changing. Each attempt fails only if
// another change of the same job came in between, so more attempts would hardly help.
const attemptsMax = 16

// errBusyJob means that the job was changed during each attempt to change it.
var errBusyJob = apierr.Errorf(apierr.Unavailable, "", "the job keeps changing; nothing has changed by this request, ask again later")

// submit passes proposals to the loop and waits until they are handled, durable and visible. An error means that their
// outcome is unknown; the caller must then not access them any more. The error may come before the proposals are
// handled, for example because ctx ended.
func (e *Engine) submit(ctx context.Context, p ...core.Proposal) error {
	t := newTicket(p...)
	if err := e.enqueue(ctx, t); err != nil {
		return err
	}
	return e.await(ctx, t)
}

// enqueue passes a ticket to the loop. After an error it was not received, and the request has certainly no effect. It
// blocks while ProposalsMax tickets wait: that is how the engine slows down callers that it cannot keep up with.
func (e *Engine) enqueue(ctx context.Context, t *ticket) error {
	if err := e.mustLead(); err != nil {
		return err
	}
	select {
	case <-e.stopping:
		return e.refusal()
	default:
	}
	select {
	case e.proposals <- t:
		return nil
	case <-e.stopping:
		return e.refusal()
	case <-ctx.Done():
		return apierr.Errorf(apierr.RateLimited, "", "the server is busy and did not take the request in time; ask again later")
	}
}

// refusal is the answer to a request that came too late: the engine accepts none any more, and nothing has changed. Another node
// of a cluster carries it out a moment later, so a client may repeat it there whatever it asks for.
func (e *Engine) refusal() error {
	if e.alone {
		return apierr.Errorf(apierr.Unavailable, "", "the server is stopping, and nothing has changed; ask again later")
	}
	return apierr.Errorf(apierr.NotLeader, "", "this node stops leading, and nothing has changed; ask again")
}

// await waits until a ticket is answered, until ctx ends, or until Serve has returned. It checks done once more in the
// last case, because the answer may have come just before.
func (e *Engine) await(ctx context.Context, t *ticket) error {
	select {
	case <-t.done:
		return t.lost
	case <-ctx.Done():
		return apierr.Errorf(apierr.Unavailable, "", "no answer in time; whether the request took effect is unknown, so read before asking again")
	case <-e.stopped:
	}
	select {
	case <-t.done:
		return t.lost
	default:
		return apierr.Errorf(apierr.Unavailable, "", "the server stopped; whether the request took effect is unknown, so read before asking again")
	}
}

// submitFresh submits a proposal, and prepares and submits it again as long as it is out of date. prepare must read
// everything again that the proposal rests on.
func (e *Engine) submitFresh(ctx context.Context, p core.Proposal, result *core.Handled, prepare func() error) error {
	for range attemptsMax {
		result.Err = nil
		if err := e.submit(ctx, p); err != nil {
			return err
		}
		if !errors.Is(result.Err, core.ErrStale) {
			return result.Err
		}
		if err := prepare(); err != nil {
			return err
		}
	}
	return errBusyJob
}

// Delete deletes a job. Runs that wait for their time, their turn or a report end with it. Attempts that are with
// their targets may finish, and are not retried if they fail. A nil ifVersion means any version. Answering takes
// longer the more live runs the job has, because each of them ends in a unit of its own.
func (e *Engine) Delete(ctx context.Context, tenant, name string, ifVersion *uint32) (DeleteResult, error) {
	if err := e.mustLead(); err != nil {
		return DeleteResult{}, err
	}
	p := &core.Delete{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), Actor: e.actorOf(ctx), IfVersion: ifVersion}
	if err := e.readDeleting(p); err != nil {
		return DeleteResult{}, err
	}
	if err := e.submit(ctx, p); err != nil {
		return DeleteResult{}, err
	}
	return p.Result, p.Err
}

// liveScanMax bounds the live runs that a delete reads; further runs end one by one. Their ids take 24 MiB while the
// request lasts.
const liveScanMax = 1 << 20

// readDeleting reads what a delete needs of its job: the definition and the live runs.
func (e *Engine) readDeleting(p *core.Delete) error {
	if err := e.readDeleted(p); err != nil || p.Of.ID == 0 {
		return err // the core has the authoritative answer
	}
	low := job.AppendJobKey(nil, job.KindRun, p.Of.ID)
	return e.opts.Store.Scan(low, job.PrefixEnd(low), func(key, _ []byte) (bool, error) {
		run, err := job.ParseRunKey(key)
		p.Live = append(p.Live, run)
		return len(p.Live) < liveScanMax, err
	})
}

// readDeleted reads the definition that a delete removes, and the row that it keeps for notices.
func (e *Engine) readDeleted(p *core.Delete) error {
	p.Of, p.Record, p.Keeps = core.DefinitionSize{}, nil, e.keepsDeleted()
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return err
	}
	rec, timer, ok, err := e.readRows(id)
	if err != nil || !ok {
		return err
	}
	if p.Record, err = e.recordToKeep(id); err != nil {
		return err
	}
	p.Before = job.AuditDefinition(&rec.Def)
	p.Of = core.DefinitionSize{ID: id, Version: timer.Version, Bytes: job.DefinitionBytes(&rec.Def), Labels: job.LabelHashes(&rec.Def)}
	return nil
}

// Pause stops the ticks of a job. A run that has not left when Pause returns will not leave. A nil ifVersion means
// any version; if the job has another version than the given one, it stays unchanged.
func (e *Engine) Pause(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (JobView, error) {
	return e.pause(ctx, &core.Pause{Tenant: tenant, Name: name, Actor: e.actorOf(ctx), IfVersion: ifVersion, Reason: reason})
}

// Resume lets the ticks of a paused job continue. Those that passed meanwhile are missed, and the job's policy for
// missed runs decides them. ifVersion is as for Pause.
func (e *Engine) Resume(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (JobView, error) {
	return e.pause(ctx, &core.Pause{Tenant: tenant, Name: name, Actor: e.actorOf(ctx), IfVersion: ifVersion, Reason: reason, Resume: true})
}

// pause proposes a pause or a resume. It reads no row first, so it is never stale: the step has all that it needs.
func (e *Engine) pause(ctx context.Context, p *core.Pause) (JobView, error) {
	if len(p.Reason) > job.ReasonBytesMax {
		return JobView{}, apierr.Errorf(apierr.TooLarge, "reason", "has %d bytes; at most %d are allowed", len(p.Reason), job.ReasonBytesMax)
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

// NoteReader notes durably which rows a node of the cluster reads, for the leaders to come. Zero rows removes the node.
func (e *Engine) NoteReader(ctx context.Context, node string, rows byte) error {
	return e.submit(ctx, &core.NoteReader{Node: node, Rows: rows})
}
