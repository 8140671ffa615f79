package api

import (
	"context"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// sight is how much of a job a reply shows.
type sight byte

const (
	// sightMasked hides credentials. It is the zero value, so that a reply shows no more unless its verb has asked.
	sightMasked sight = iota
	// sightBrief hides besides all values of headers, the payload and the path of the URL, from those who may only view.
	sightBrief
	// sightClear hides nothing.
	sightClear
)

type whoKey struct{}

// withWho returns a context of a request of a caller.
func withWho(ctx context.Context, w access.Who) context.Context {
	return context.WithValue(ctx, whoKey{}, w)
}

// whoOf returns the caller of a request.
func whoOf(ctx context.Context) access.Who {
	w, _ := ctx.Value(whoKey{}).(access.Who)
	return w
}

// sightOf returns what the caller of a request may see of the jobs of a tenant. Credentials are shown only to an admin
// who asks for them explicitly; the request of another caller is refused.
func (x *Executor) sightOf(ctx context.Context, tenant string, withCredentials bool) (sight, error) {
	w := whoOf(ctx)
	if withCredentials {
		return sightClear, x.opts.Access.Authorize(w, tenant, access.CredentialsVerb)
	}
	if !x.opts.Access.Sees(w, tenant, access.Operator) {
		return sightBrief, nil
	}
	return sightMasked, nil
}

// shown is a job as a caller sees it. It keeps the view and the definition apart, so that masking copies only the
// definition, and only if there is something to mask.
type shown struct {
	*scheduler.JobView
	def       *job.Definition // the job's own definition, or a masked copy
	masked    bool            // credentials are replaced by masks
	noPayload bool            // and the payload is left out, so that a put of what is shown is refused
}

// masked returns a job with its credentials masked. Every reply with a job passes it or seen; a reply that encoded
// a view without them would show credentials to each caller that may read jobs.
func masked(v *scheduler.JobView) shown { return sightMasked.of(v) }

// of returns a job as it is seen.
func (s sight) of(v *scheduler.JobView) shown {
	switch {
	case s == sightBrief:
		def, view := v.Def.MaskedForViewers(), *v
		view.StatusReason = job.ReasonForViewers(v.StatusReason)
		return shown{JobView: &view, def: &def, masked: true, noPayload: true}
	case s == sightClear || !v.Def.HasCredentials():
		return shown{JobView: v, def: &v.Def}
	}
	def := v.Def.Masked()
	return shown{JobView: v, def: &def, masked: true}
}

// definition returns a definition of the audit log, whose credentials are masked already, as it is seen.
func (s sight) definition(d job.Definition) job.Definition {
	if s == sightBrief {
		return d.MaskedForViewers()
	}
	return d
}

// detail returns the detail of an entry of the audit log as it is seen.
func (s sight) detail(text string) string {
	if s == sightBrief {
		return job.ReasonForViewers(text)
	}
	return text
}

// maskRun leaves in the errors of a run only what Carillon itself says, for those who may only view: a target or a worker
// may repeat what it got.
func (s sight) maskRun(r *client.Run) {
	if s != sightBrief {
		return
	}
	r.Error = job.ErrorForViewers(r.Error)
	for i := range r.Attempts {
		r.Attempts[i].Error = job.ErrorForViewers(r.Attempts[i].Error)
	}
}
