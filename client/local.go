package client

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Local is a scheduler in the same process, which a client reaches without NATS.
type Local interface {
	// Ask carries out a request of the API for a tenant. verb is such as "jobs.put"; body and reply are
	// the JSON of the API's messages; by is [Options].By. A refusal is an [*Error].
	Ask(ctx context.Context, tenant, verb, by string, body []byte) (reply []byte, err error)
}

// NewLocal returns a client of a scheduler in this process. It supports everything that a client over
// NATS does, except [Client.Handover]. It sends each request once, as with [Options.NoRetry], because no
// other server could answer. If a request fails because its context ended, its outcome is unknown.
func NewLocal(l Local, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	opts.NoRetry = true
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Client{opts: opts, via: &localTransport{l, opts}}, nil
}

// localTransport calls a scheduler in this process.
type localTransport struct {
	local Local
	opts  Options
}

// exchange implements transport.
func (w *localTransport) exchange(ctx context.Context, verb string, body []byte, reply any) error {
	text, err := w.local.Ask(ctx, w.opts.Tenant, verb, w.opts.By, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return fmt.Errorf("client: decode the reply to %s: %w", verb, err)
	}
	return nil
}

// localRequestBytes bounds a request of [Client.PutAll] to a Local, in bytes. Nothing bounds a message inside a
// process; the bound keeps PutAll from holding all jobs in one request.
const localRequestBytes = 1 << 20

func (w *localTransport) requestBytesMax() int { return localRequestBytes }

func (w *localTransport) close() {}

// requestBytesMax returns the largest size of a request's body, in bytes.
func (c *Client) requestBytesMax() int {
	if c.via != nil {
		return c.via.requestBytesMax()
	}
	return int(c.nc.MaxPayload()) - c.headerBytes()
}
