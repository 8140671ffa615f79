package api

import (
	"context"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// put registers a job or updates it. It notes the job's name before anything is checked, so that the trace of a
// refused put has it. The reply has the job as it is stored, with its defaults, version and next tick, so that a
// caller need not read it again.
func (x *Executor) put(ctx context.Context, tenant string, body []byte) (any, error) {
	p := newPutRequest(tenant)
	if err := read(body, func(r *reader) error { return putMembers.read(r, &p) }); err != nil {
		return nil, err
	}
	x.noteJob(ctx, p.def.Name)
	if err := p.finish(x.opts.Rules); err != nil {
		return nil, err
	}
	v, created, err := x.engine.Put(ctx, &p.def, p.ifVersion)
	if err != nil {
		return nil, err
	}
	reply, err := x.jobMessage(masked(&v), `,"created":`+strconv.FormatBool(created)+`}`)
	if err != nil {
		return nil, err
	}
	reply.created = created
	return reply, nil
}

// bulkReplyBytes bounds what one job needs of the reply to a bulk registration: a name, a code, a field and a message
// of the largest size.
const bulkReplyBytes = 512

// errNotRegistered is the result of a job of a bulk registration whose turn did not come in time.
var errNotRegistered = apierr.Errorf(apierr.Unavailable, "", "the job was not registered: the time of the request went by with the jobs before it; register it again, with fewer at a time")

// whileReading returns the context for reading the jobs of a bulk registration: it ends when three quarters of the time
// of the request are over, so that the jobs that were read are registered, and the reply names the others, in the rest.
func whileReading(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)*3/4)
}

// putMany registers many jobs, each by itself: there is no transaction over them, and the reply says for each whether
// it took effect; also of those whose turn did not come in time. All are read before the first is proposed, because a request that is no JSON changes nothing.
func (x *Executor) putMany(ctx context.Context, tenant string, body []byte) (any, error) {
	reading, cancel := whileReading(ctx)
	defer cancel()
	b := bulkRequest{
		tenant: tenant, rules: x.opts.Rules,
		prepare: func(def *job.Definition) (*scheduler.Put, error) {
			if reading.Err() != nil {
				return nil, errNotRegistered
			}
			return x.engine.Prepare(reading, def)
		},
		most: min(BulkJobsMax, x.messageBytesMax()/bulkReplyBytes),
	}
	if err := readBulk(body, &b); err != nil {
		return nil, err
	}
	// The request itself has been counted as one.
	if err := x.opts.Access.Spend(tenant, len(b.items)-1); err != nil {
		return nil, err
	}
	return x.encodeBulk(b.names, x.engine.PutMany(ctx, b.items))
}
