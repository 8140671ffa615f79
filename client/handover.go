package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
)

// HandoverRequest asks the leader of a shard to hand the leadership over to another node.
type HandoverRequest struct {
	To string `json:"to,omitempty"` // name of a standby; "" selects the one with the least lag
}

// HandoverReply names the nodes between which the leadership changes. To may be empty if the leadership does not
// change.
type HandoverReply struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Error string `json:"error,omitempty"` // why the leadership does not change; "" if it does
	Code  Code   `json:"code,omitempty"`  // of the error; [CodeUnavailable]: a later request may succeed
}

// Handover asks the leader of a shard to hand the leadership over to a standby: the one named to or, if to is "", the
// one with the least lag. When Handover returns without an error, the old leader has stopped launching and the new one
// is about to begin. While the log does not acknowledge commits, as during an election of its stream, the leader goes
// on leading, and the error is [CodeUnavailable]. A client of [NewLocal] returns an error, and so does one over HTTP.
func (c *Client) Handover(ctx context.Context, shard uint32, to string) (reply HandoverReply, err error) {
	switch c.via.(type) {
	case nil:
	case *localTransport:
		return reply, errors.New("client: a scheduler inside the program has no standby to hand over to")
	default:
		return reply, errNeedsNATS("a hand-over")
	}
	body, err := encode(HandoverRequest{To: to})
	if err != nil {
		return reply, err
	}
	// It is not repeated like other requests, because a second one could move the leadership back.
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	subject := c.opts.Prefix + ".cluster." + strconv.FormatUint(uint64(shard), 10) + ".handover"
	msg, err := c.nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Data: body})
	if errors.Is(err, nats.ErrNoResponders) {
		return reply, &Error{Code: CodeUnavailable, Message: "no server answers on " + subject + ": the server is not a node of a cluster, or the prefix or the shard is wrong", Cause: err}
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
	if reply.Error != "" && reply.Code != "" {
		return reply, &Error{Code: reply.Code, Message: reply.Error}
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}
