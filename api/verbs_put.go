package api

import (
	"context"
	"strconv"
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

// putMany registers many jobs, each by itself: there is no transaction over them, and the reply says for each whether
// it took effect. All are read before the first is proposed, because a request that is no JSON changes nothing.
func (x *Executor) putMany(ctx context.Context, tenant string, body []byte) (any, error) {
	b := bulkRequest{
		tenant: tenant, rules: x.opts.Rules, prepare: x.engine.Prepare,
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
