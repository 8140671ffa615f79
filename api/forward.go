package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/seal"
)

// forwarder passes requests on to the leader of a shard. A standby has one, and a router. Its fields are fixed.
type forwarder struct {
	nc   *nats.Conn
	opts *Options // complete; of the service
	// leaders says which process to ask. nil: whichever answers.
	leaders Leaders
	// failed returns what the caller learns of a request that got no reply, or none of a leader.
	failed func(shard uint32, v *Verb, err error) error
}

// forwardRoot is the prefix of the subjects on which the leader of a shard answers requests that other nodes pass on.
// It is apart from the subjects of callers: no tenant may publish there, because the caller named in such a request is
// believed.
func (o *Options) forwardRoot(shard uint32) string { return o.clusterRoot(shard) + ".forward." }

// leaderRoot is the prefix of the subjects on which a process alone answers requests for a shard that it leads.
func (o *Options) leaderRoot(shard uint32, process string) string {
	return o.clusterRoot(shard) + ".leader." + process + "."
}

// copyRoot is the prefix of the subjects on which the standbys of one of several shards answer reads that may lag and that
// other nodes pass on.
func (o *Options) copyRoot(shard uint32) string { return o.clusterRoot(shard) + ".copy." }

// followerRoot is the prefix of the subjects on which a process alone answers such reads for a shard that it follows.
func (o *Options) followerRoot(shard uint32, process string) string {
	return o.clusterRoot(shard) + ".follower." + process + "."
}

// clusterRoot is the prefix of the subjects on which nodes talk about a shard.
func (o *Options) clusterRoot(shard uint32) string {
	return o.Prefix + ".cluster." + strconv.FormatUint(uint64(shard), 10)
}

// forwardTimeShare is the part of the time that a node has left for a request, as a percentage, which it gives the
// leader. The leader ends first, so that its own answer arrives and not the node's guess.
const forwardTimeShare = 90

// forwards reports whether a request is passed on to the leader. Only a request that came to this node over HTTP is,
// and only from a standby, so none is passed on twice.
func (x *Executor) forwards(v *Verb, q *Request) bool {
	return x.forwarder != nil && q.mayForward && !(v.reads && q.Lag != nil)
}

// forward has the leader of a shard carry out a request, and returns its reply. It asks once: whether a request may be
// repeated is for the caller to decide, by the same answers as over NATS. ctx must have a deadline.
func (x *Executor) forward(ctx context.Context, shard uint32, v *Verb, q *Request) (Reply, error) {
	return x.forwardTo(ctx, x.opts.forwardRoot(shard), shard, v, q, nil)
}

// forwardTo is forward to the nodes that answer on subjects with the given prefix. A node whose clock shows
// more than until, when the message is sent, refuses the request; nil, or the zero time: none does.
func (x *Executor) forwardTo(ctx context.Context, root string, shard uint32, v *Verb, q *Request, until func() time.Time) (Reply, error) {
	q.stay.leave()
	f := x.forwarder
	about := forwardedOf(q)
	end, _ := ctx.Deadline()
	about.TimeoutMS = time.Until(end).Milliseconds() * forwardTimeShare / 100
	if about.TimeoutMS <= 0 {
		return Reply{}, context.DeadlineExceeded
	}
	inParts := len(q.Body) > x.forwardBytesMax()
	if inParts {
		about.BodyBytes = len(q.Body)
	}
	m, err := f.message(root, v, q, &about)
	if err != nil {
		return Reply{}, err
	}
	sayUntil(m.Header, until)
	x.traceForward(ctx, m.Header)
	if !inParts {
		m.Data = q.Body
	}
	got, err := f.nc.RequestMsgWithContext(ctx, m)
	if err == nil && inParts {
		got, err = f.sendParts(ctx, got, q.Body, x.forwardBytesMax(), until)
	}
	switch {
	case err != nil && isSilence(ctx):
		return Reply{}, f.fallenSilent(shard, v)
	case err != nil:
		return Reply{}, f.failed(shard, v, err)
	}
	reply, err := forwardedReply(v, got)
	if errors.Is(err, errNoLeadersReply) {
		err = f.failed(shard, v, err)
	}
	if q.Lag != nil && !isAway(err) {
		q.Lag.noteReply(shard, got.Header)
	}
	return reply, err
}

// message returns the message of a request, without its body.
func (f *forwarder) message(root string, v *Verb, q *Request, about *forwarded) (*nats.Msg, error) {
	m := nats.NewMsg(root + q.Tenant + "." + v.name)
	text, err := json.Marshal(about)
	if err != nil {
		return nil, fmt.Errorf("forward a request: %w", err)
	}
	m.Header[forwardHeader] = []string{string(text)}
	if len(f.opts.ForwardKey) > 0 {
		m.Header[seal.Header] = []string{seal.Of(f.opts.ForwardKey, seal.Forward, m.Subject, text, q.Body)}
	}
	return m, nil
}

// standbyFailed returns what the caller of a standby learns of a request that got no reply. Without a responder
// nothing has changed; after anything else that is unknown.
func standbyFailed(_ uint32, v *Verb, err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", errNoLeader, apierr.Errorf(apierr.NotLeader, "", "this node stands by, and no leader answers; nothing has changed, ask again later"))
	}
	return v.unanswered("this node stands by, and the leader "+noAnswer(err), err)
}

// errNoLeadersReply is the error of a reply that no leader sends. It leaves open what became of the request.
var errNoLeadersReply = errors.New("the reply is not that of a leader")

// forwardedReply returns the leader's reply, or its refusal as an error. The reply of another program, such as a stream
// that captures the subject, is errNoLeadersReply.
func forwardedReply(v *Verb, m *nats.Msg) (Reply, error) {
	if m.Header.Get(inbox.ReplyHeader) != v.name {
		return Reply{}, fmt.Errorf("another program has answered: %w", errNoLeadersReply)
	}
	if m.Header.Get(lateHeader) != "" {
		return Reply{}, fmt.Errorf("%w: %w", errLate, forwardedRefusal(m.Header.Get(micro.ErrorCodeHeader), m))
	}
	if status := m.Header.Get(micro.ErrorCodeHeader); status != "" {
		return Reply{}, forwardedRefusal(status, m)
	}
	r := Reply{Text: m.Data}
	if version, err := strconv.ParseUint(m.Header.Get(versionHeader), 10, 32); err == nil {
		r.thing.version = uint32(version)
	}
	r.thing.collection, r.thing.created, _ = strings.Cut(m.Header.Get(createdHeader), "/")
	return r, nil
}

// forwardedRefusal returns the leader's refusal.
func forwardedRefusal(status string, m *nats.Msg) error {
	var refusal client.ErrorReply
	if err := json.Unmarshal(m.Data, &refusal, encoding); err != nil || refusal.Error == nil {
		return fmt.Errorf("the refusal is not readable: %w", errNoLeadersReply)
	}
	refusal.Error.Status, _ = strconv.Atoi(status)
	if refusal.Error.Status < 400 || refusal.Error.Status > 599 {
		return fmt.Errorf("the refusal has no status: %w", errNoLeadersReply)
	}
	if s, err := strconv.Atoi(m.Header.Get(retryHeader)); err == nil {
		refusal.Error.RetryAfter = time.Duration(s) * time.Second
	}
	return refusal.Error
}

// traceForward adds the span of a request to the headers of the message, so that the leader's span continues it.
func (x *Executor) traceForward(ctx context.Context, h nats.Header) {
	if x.opts.Tracer == nil {
		return
	}
	if span := x.opts.Tracer.Origin(ctx); span.Trace != [16]byte{} {
		h["traceparent"] = []string{fmt.Sprintf("00-%x-%x-%02x", span.Trace, span.Span, span.Flags)}
	}
}
