package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
)

// HandoverRequest asks the leader of a shard to let another node lead.
type HandoverRequest struct {
	To string `json:"to,omitempty"` // a standby by name; "" is the one that is furthest
}

// HandoverReply tells between whom the lead changes.
type HandoverReply struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Error string `json:"error,omitempty"` // why it does not
}

// Handover asks the leader of a shard to let a standby lead, by name or, with "", the one that is furthest.
// When it returns, the leader has stopped, and the other is about to begin.
func (c *Client) Handover(ctx context.Context, shard uint32, to string) (reply HandoverReply, err error) {
	if c.local != nil {
		return reply, errors.New("client: a scheduler inside the program has nobody to hand over to")
	}
	body, err := encode(HandoverRequest{To: to})
	if err != nil {
		return reply, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	subject := c.opts.Prefix + ".cluster." + strconv.FormatUint(uint64(shard), 10) + ".handover"
	msg, err := c.nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Data: body})
	if errors.Is(err, nats.ErrNoResponders) {
		return reply, &Error{Code: CodeUnavailable, Message: "nobody answers on " + subject + ": the server is no node of a cluster, or prefix and shard are others", Cause: err}
	}
	if err != nil {
		return reply, c.unanswered(subject, len(body), err)
	}
	if err := checkReply(replyHandover, subject, msg); err != nil {
		return reply, err
	}
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		return reply, fmt.Errorf("client: decode the reply to a hand-over: %w", err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}
