package api

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Local answers the API's verbs for callers in this process, without NATS: with the same verbs, checks, replies and
// errors. It implements [client.Local]. It does not bound how many requests are in progress; that is up to the
// program that embeds it. Safe for concurrent use.
type Local struct {
	service Service
	verbs   map[string]*verb
}

var _ client.Local = (*Local)(nil)

// NewLocal returns the API of an engine. It uses only those options that concern the content of requests and replies:
// Version, Rules, Zones, Tracer and Logger.
func NewLocal(engine Engine, opts Options) (*Local, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	l := &Local{service: Service{opts: opts, engine: engine}, verbs: make(map[string]*verb, len(verbs))}
	for i := range verbs {
		l.verbs[verbs[i].name] = &verbs[i]
	}
	return l, nil
}

// localFrom is the origin of such a request in the audit log.
const localFrom = "local"

// Ask implements [client.Local].
func (l *Local) Ask(ctx context.Context, tenant, verb, by string, body []byte) (reply []byte, err error) {
	ctx = l.service.trace(ctx, verb, localFrom, nil)
	reply, err = l.serve(ctx, tenant, verb, by, body)
	l.service.endTrace(ctx, tenant, err)
	if err != nil {
		return nil, l.service.replyError(err)
	}
	return reply, nil
}

func (l *Local) serve(ctx context.Context, tenant, verb, by string, body []byte) (reply []byte, err error) {
	v := l.verbs[verb]
	if v == nil {
		return nil, fmt.Errorf("the verb %q is unknown", verb)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	asker := job.Actor{By: by, From: localFrom}
	if err := asker.Validate(); err != nil {
		return nil, err
	}
	if err := job.ValidateTenant(tenant); err != nil {
		return nil, err
	}
	value, err := v.serve(&l.service, scheduler.WithActor(l.service.withOrigin(ctx), asker), tenant, body)
	if err != nil {
		return nil, err
	}
	return l.service.encode(value)
}

// localReplyBytes bounds a reply that is not sent in a message.
const localReplyBytes = 64 << 20

// replyHeaderBytes is the part of the largest message that is reserved for the headers of a reply.
const replyHeaderBytes = 512

// messageBytesMax returns the largest size of a message.
func (s *Service) messageBytesMax() int {
	if s.nc == nil {
		return localReplyBytes
	}
	return int(s.nc.MaxPayload())
}

// replyBytesMax returns the largest size of a reply's body.
func (s *Service) replyBytesMax() int { return s.messageBytesMax() - replyHeaderBytes }
