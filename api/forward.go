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
)

// forwarder passes requests on to the leader. A standby has one, a leader none. Its fields are fixed.
type forwarder struct {
	nc   *nats.Conn
	opts *Options // complete; of the service
}

// forwardRoot is the prefix of the subjects on which the leader of a shard answers requests that standbys pass on. It
// is apart from the subjects of callers: no tenant may publish there, because the caller named in such a request is
// believed.
func (o *Options) forwardRoot() string {
	return fmt.Sprintf("%s.cluster.%d.forward.", o.Prefix, o.Shard)
}

// forwardTimeShare is the part of the time that a standby has left for a request, as a percentage, which it gives the
// leader. The leader ends first, so that its own answer arrives and not the standby's guess.
const forwardTimeShare = 90

// forwards reports whether a request is passed on to the leader. Only a request that came to this node over HTTP is,
// and only from a standby, so none is passed on twice.
func (x *Executor) forwards(v *Verb, q *Request) bool {
	return x.forwarder != nil && q.mayForward && !(v.reads && q.MayLag)
}

// forward has the leader carry out a request, and returns its reply. It asks once: whether a request may be repeated
// is for the caller to decide, by the same answers as over NATS. ctx must have a deadline.
func (x *Executor) forward(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	f := x.forwarder
	until, _ := ctx.Deadline()
	about := forwarded{
		By: q.Asker.By, From: q.Asker.From, Host: q.Host, Means: q.Who.Means,
		TimeoutMS: time.Until(until).Milliseconds() * forwardTimeShare / 100,
	}
	if q.Who.Principal != nil {
		role := q.Who.RoleIn(q.Tenant)
		about.Principal, about.Role = q.Who.Name, &role
	}
	if about.TimeoutMS <= 0 {
		return Reply{}, context.DeadlineExceeded
	}
	inParts := len(q.Body) > x.forwardBytesMax()
	if inParts {
		about.BodyBytes = len(q.Body)
	}
	m, err := f.message(v, q, &about)
	if err != nil {
		return Reply{}, err
	}
	x.traceForward(ctx, m.Header)
	if !inParts {
		m.Data = q.Body
	}
	got, err := f.nc.RequestMsgWithContext(ctx, m)
	if err == nil && inParts {
		got, err = f.sendParts(ctx, got, q.Body, x.forwardBytesMax())
	}
	if err != nil {
		return Reply{}, forwardError(err)
	}
	return forwardedReply(v, got)
}

// message returns the message of a request, without its body.
func (f *forwarder) message(v *Verb, q *Request, about *forwarded) (*nats.Msg, error) {
	m := nats.NewMsg(f.opts.forwardRoot() + q.Tenant + "." + v.name)
	text, err := json.Marshal(about)
	if err != nil {
		return nil, fmt.Errorf("forward a request: %w", err)
	}
	m.Header[forwardHeader] = []string{string(text)}
	if len(f.opts.ForwardKey) > 0 {
		m.Header[sealHeader] = []string{seal(f.opts.ForwardKey, m.Subject, text, q.Body)}
	}
	return m, nil
}

// forwardError returns what the caller learns of a request that got no reply. Without a responder nothing has
// changed; after anything else that is unknown.
func forwardError(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return apierr.Errorf(apierr.NotLeader, "", "this node stands by, and no leader answers; nothing has changed, ask again later")
	}
	return &client.Error{
		Code: client.CodeUnavailable, Status: statusOf[apierr.Unavailable],
		Message: "this node stands by, and the leader has not answered in time; whether the request took effect is unknown, so read before asking again", Cause: err,
	}
}

// forwardedReply returns the leader's reply, or its refusal as an error. A reply of another program, such as a stream
// that captures the subject, leaves open what became of the request.
func forwardedReply(v *Verb, m *nats.Msg) (Reply, error) {
	if m.Header.Get(inbox.ReplyHeader) != v.name {
		return Reply{}, forwardError(errors.New("another program has answered"))
	}
	if status := m.Header.Get(micro.ErrorCodeHeader); status != "" {
		var refusal client.ErrorReply
		if err := json.Unmarshal(m.Data, &refusal, encoding); err != nil || refusal.Error == nil {
			return Reply{}, forwardError(errors.New("the leader's refusal is not readable"))
		}
		refusal.Error.Status, _ = strconv.Atoi(status)
		if refusal.Error.Status < 400 || refusal.Error.Status > 599 {
			return Reply{}, forwardError(errors.New("the leader's refusal has no status"))
		}
		if s, err := strconv.Atoi(m.Header.Get(retryHeader)); err == nil {
			refusal.Error.RetryAfter = time.Duration(s) * time.Second
		}
		return Reply{}, refusal.Error
	}
	r := Reply{Text: m.Data}
	if version, err := strconv.ParseUint(m.Header.Get(versionHeader), 10, 32); err == nil {
		r.thing.version = uint32(version)
	}
	r.thing.collection, r.thing.created, _ = strings.Cut(m.Header.Get(createdHeader), "/")
	return r, nil
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
