package api

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// Local answers the API's verbs for callers in this process, without NATS: with the same verbs, checks, replies and
// errors. It implements [client.Local]. It does not bound how many requests are in progress, nor for how long; that is
// up to the program that embeds it. Safe for concurrent use. Its executor has no carrier, gates, rooms or counters:
// each of them is nil, which bounds and counts nothing.
type Local struct{ executor Executor }

var _ client.Local = (*Local)(nil)

// NewLocal returns the API of an engine. It uses only those options that concern the content of requests and replies:
// Version, Rules, Zones, Tracer and Logger. The engine must stay open as long as requests are asked of it.
func NewLocal(engine Engine, opts Options) (*Local, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Local{executor: Executor{opts: opts, engine: engine}}, nil
}

// Ask implements [client.Local]. An unknown verb passes through the executor too, so that it is traced and refused
// like any other request. body must not change until Ask returns. The error is a [*client.Error].
func (l *Local) Ask(ctx context.Context, tenant, name, by string, body []byte) ([]byte, error) {
	known := VerbNamed(name)
	v := cmp.Or(known, &Verb{name: name})
	q := Request{Tenant: tenant, Asker: job.Actor{By: by, From: inProcess.String()}, Body: body}
	reply, refusal := l.executor.do(ctx, arrival{verb: v, via: inProcess, begun: time.Now(), read: func() (Request, error) {
		if known == nil {
			return q, fmt.Errorf("the verb %q is unknown", name)
		}
		return q, q.validate()
	}})
	if refusal != nil {
		return nil, refusal
	}
	return reply.Text, nil
}
