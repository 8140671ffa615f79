package client

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Local is a scheduler in this very process, reached without NATS.
type Local interface {
	// Ask carries out a request of the API, such as "jobs.put", for a tenant. Body and reply are the JSON
	// that the messages of the API hold. By is who asks, "" for nobody in particular. A refusal is an [*Error].
	Ask(ctx context.Context, tenant, verb, by string, body []byte) (reply []byte, err error)
}

// NewLocal returns a client of a scheduler in this process. It does all that one over NATS does, but
// [Client.Handover]; it asks once, as if Options.NoRetry were set, because nobody else could answer. Of a
// request that is refused because its context ended, the outcome is unknown.
func NewLocal(l Local, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	opts.NoRetry = true
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Client{opts: opts, local: l}, nil
}

// askLocal is exchangeOnce without a message.
func (c *Client) askLocal(ctx context.Context, verb string, body []byte, reply any) error {
	text, err := c.local.Ask(ctx, c.opts.Tenant, verb, c.opts.By, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return fmt.Errorf("client: decode the reply to %s: %w", verb, err)
	}
	return nil
}

// localRequestBytes bounds a request of [Client.PutAll] where no message does.
const localRequestBytes = 1 << 20

// requestBytesMax returns how large a request may be.
func (c *Client) requestBytesMax() int {
	if c.local != nil {
		return localRequestBytes
	}
	return int(c.nc.MaxPayload()) - c.headerBytes()
}
