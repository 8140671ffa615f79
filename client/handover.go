package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
// on leading, and the error is [CodeUnavailable]; so it is while the standby catches up, and while another hand-over is under way. A client of [NewLocal] returns an error, and so does one over HTTP.
func (c *Client) Handover(ctx context.Context, shard uint32, to string) (reply HandoverReply, err error) {
	q := nodeCall{what: "a hand-over", kind: replyHandover, shard: shard}
	q.subject = c.opts.Prefix + ".cluster." + strconv.FormatUint(uint64(shard), 10) + ".handover"
	if err := c.askNode(ctx, q, HandoverRequest{To: to}, &reply); err != nil {
		return reply, err
	}
	return reply, nodeRefusal(reply.Code, reply.Error)
}

// nodeRefusal returns the refusal of a node as an error; nil if the text is empty.
func nodeRefusal(code Code, text string) error {
	switch {
	case text == "":
		return nil
	case code == "":
		return errors.New(text)
	}
	return &Error{Code: code, Message: text}
}

// nodeCall is a request to the nodes of a cluster, which the leader of a shard answers.
type nodeCall struct {
	what    string // names the request in errors, as in "a hand-over"
	kind    string // of the reply
	shard   uint32
	subject string
}

// askNode sends a request to the nodes of a cluster, and reads the reply into the given value.
func (c *Client) askNode(ctx context.Context, q nodeCall, request, into any) error {
	switch c.via.(type) {
	case nil:
	case *localTransport:
		return fmt.Errorf("client: a scheduler inside the program has no other node, and so there is no %s", strings.TrimPrefix(q.what, "a "))
	default:
		return errNeedsNATS(q.what)
	}
	body, err := encode(request)
	if err != nil {
		return err
	}
	// It is not repeated like other requests, because a second one could undo what happened since.
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	msg, err := c.nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: q.subject, Header: c.header(ctx), Data: body})
	if errors.Is(err, nats.ErrNoResponders) {
		if e := c.outsider(ctx, q.what); e != nil {
			return e
		}
		return &Error{Code: CodeUnavailable, Cause: err, Message: fmt.Sprintf(
			"no server answers on %s: shard %d has no leader at the moment, the server is not a node of a cluster, the prefix or the shard is wrong, or the caller has no right to ask (cluster admins have)", q.subject, q.shard)}
	}
	if err != nil {
		return c.unanswered(q.subject, len(body), true, err)
	}
	if err := checkReply(q.kind, q.subject, msg); err != nil {
		return err
	}
	if err := json.Unmarshal(msg.Data, into); err != nil {
		return fmt.Errorf("client: decode the reply on %s: %w", q.subject, err)
	}
	return nil
}
