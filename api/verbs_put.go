package api

import (
	"context"
	"strconv"
)

func (s *Service) put(ctx context.Context, tenant string, body []byte) (any, error) {
	p := newPutRequest(tenant)
	if err := read(body, func(r *reader) error { return putMembers.read(r, &p) }); err != nil {
		return nil, err
	}
	s.noteJob(ctx, p.def.Name)
	if err := p.finish(s.opts.Rules); err != nil {
		return nil, err
	}
	v, created, err := s.engine.Put(ctx, &p.def, p.ifVersion)
	if err != nil {
		return nil, err
	}
	reply, err := s.jobMessage(masked(&v), `,"created":`+strconv.FormatBool(created)+`}`)
	if err != nil {
		return nil, err
	}
	reply.created = created
	return reply, nil
}

// bulkReplyBytes bounds what one job needs of the reply to a bulk registration: a name, a code, a field and a message
// of the largest size.
const bulkReplyBytes = 512

func (s *Service) putMany(ctx context.Context, tenant string, body []byte) (any, error) {
	b := bulkRequest{
		tenant: tenant, rules: s.opts.Rules, prepare: s.engine.Prepare,
		most: min(BulkJobsMax, s.messageBytesMax()/bulkReplyBytes),
	}
	if err := readBulk(body, &b); err != nil {
		return nil, err
	}
	return s.encodeBulk(b.names, s.engine.PutMany(ctx, b.items))
}
