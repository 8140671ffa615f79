package api

import (
	"context"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

func (s *Service) put(ctx context.Context, tenant string, body []byte) (any, error) {
	p := newPutRequest(tenant)
	if err := read(body, func(r *reader) error { return putMembers.read(r, &p) }); err != nil {
		return nil, err
	}
	if err := p.finish(s.opts.Rules); err != nil {
		return nil, err
	}
	v, created, err := s.engine.Put(ctx, &p.def, p.ifVersion)
	if err != nil {
		return nil, err
	}
	return &client.PutReply{Job: jobInfo(&v), Created: created}, nil
}

// bulkReplyBytes is what one job may take of the reply to a bulk registration: a name, a code, a field
// and a message, none of them longer than they get.
const bulkReplyBytes = 512

func (s *Service) putMany(ctx context.Context, tenant string, body []byte) (any, error) {
	b := bulkRequest{
		tenant: tenant, rules: s.opts.Rules,
		most: min(BulkJobsMax, int(s.nc.MaxPayload())/bulkReplyBytes),
	}
	if err := readBulk(body, &b); err != nil {
		return nil, err
	}
	results := s.engine.PutMany(ctx, b.items)
	reply := &client.PutManyReply{Results: make([]client.PutResult, len(results))}
	for i := range results {
		reply.Results[i] = s.putResult(b.names[i], &results[i])
		if results[i].Err == nil {
			reply.Accepted++
		} else {
			reply.Rejected++
		}
	}
	return reply, nil
}

func (s *Service) putResult(name string, r *scheduler.PutResult) client.PutResult {
	result := client.PutResult{Name: name[:min(len(name), job.NameBytesMax)]}
	if r.Err != nil {
		result.Error = s.told(r.Err)
		return result
	}
	result.ID, result.Version, result.NextRunAt = r.ID.String(), r.Version, timeOf(r.NextRunAt)
	return result
}
