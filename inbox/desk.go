package inbox

import (
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// ReplyHeader is the header of every reply. It names the verb of the request. By it a caller
// distinguishes a server's reply from that of another program on the same subject, such as the
// acknowledgement of a stream that captures the subject.
const ReplyHeader = "Carillon-Reply"

// Desk receives requests on a connection, and drops those whose reply subject the rule does not allow.
// It is safe for concurrent use.
type Desk struct {
	conn   *nats.Conn   // the caller's
	rule   *Rule        // shared with other desks; never nil
	logger *slog.Logger // receives drops, at most once in sayEvery

	senders senders // of the requests that came
}

// NewDesk returns a desk. A nil rule allows the default inboxes; its count of dropped requests is not
// shown anywhere. The caller still owns conn and closes it.
func NewDesk(conn *nats.Conn, rule *Rule, logger *slog.Logger) *Desk {
	if rule == nil {
		rule = new(Rule)
	}
	return &Desk{conn: conn, rule: rule, logger: logger}
}

// Request is a message that asks for an answer. Header and Data belong to the message and must not be
// changed.
type Request struct {
	Subject string
	Header  nats.Header
	Data    []byte
	// HeaderBytes is the length of the header as it came, with its first line and the blank line at its end; 0 without one.
	// It differs from that of Header if the sender has put a blank line into it, after which nothing is read.
	HeaderBytes int

	reply string     // "" if the caller expects no reply; otherwise an inbox by the rule
	conn  *nats.Conn // on which the request came

	senders *senders // of the desk; nil for a request without one
}

// Subscribe receives the requests on a subject. It calls handle for one request at a time, on the goroutine
// of the subscription: while handle runs, further requests wait in memory, up to the limits of the NATS
// client. The requests of two subscriptions are handled concurrently.
func (d *Desk) Subscribe(subject string, handle func(*Request)) (*Subscription, error) {
	return d.subscription(d.conn.Subscribe(subject, d.handler(handle)))
}

// QueueSubscribe is [Desk.Subscribe] as a member of a queue group: NATS delivers each request to one
// member.
func (d *Desk) QueueSubscribe(subject, group string, handle func(*Request)) (*Subscription, error) {
	return d.subscription(d.conn.QueueSubscribe(subject, group, d.handler(handle)))
}

func (d *Desk) subscription(sub *nats.Subscription, err error) (*Subscription, error) {
	if err != nil {
		return nil, err
	}
	return &Subscription{sub, d.conn}, nil
}

// handler returns the callback of a subscription: it drops a request whose reply subject is not allowed,
// and passes the others to handle. A dropped request gets no answer, because any answer would go to the
// subject that is not allowed. A message without a reply subject is allowed: nothing is published for it.
func (d *Desk) handler(handle func(*Request)) nats.MsgHandler {
	return func(m *nats.Msg) {
		if m.Reply != "" && !d.rule.Allows(m.Reply) {
			d.drop(m)
			return
		}
		handle(&Request{
			Subject: m.Subject, Header: m.Header, Data: m.Data, HeaderBytes: m.Size() - len(m.Subject) - len(m.Reply) - len(m.Data),
			reply: m.Reply, conn: d.conn, senders: &d.senders,
		})
	}
}

// clipAt bounds the part of a subject that appears in a log line, in bytes.
const clipAt = 200

// drop counts a dropped request, and logs it at most once per sayEvery.
func (d *Desk) drop(m *nats.Msg) {
	dropped, say := d.rule.drop(time.Now())
	if !say {
		return
	}
	d.logger.Warn("a request was dropped, because its reply subject is not an inbox of a client; if callers use a custom inbox prefix, name it with --inbox-prefix",
		slog.String("subject", clip(m.Subject)), slog.String("reply", clip(m.Reply)), slog.Uint64("dropped", dropped))
}

func clip(subject string) string { return subject[:min(len(subject), clipAt)] }

// Bare returns the request without its header and its data, for an answer that is sent later: it keeps no message in
// memory.
func (r *Request) Bare() *Request { return &Request{Subject: r.Subject, reply: r.reply, conn: r.conn} }

// Wants reports whether the caller expects a reply.
func (r *Request) Wants() bool { return r.reply != "" }

// Answer sends the reply, with to as the value of its header [ReplyHeader]. It does nothing if the
// caller expects no reply, or if the connection is closed. It does not wait until NATS has received the
// reply, so a lost reply looks to the caller like a server that does not answer. header may be nil; the
// request owns it after the call. It may be called from any goroutine, also after the handler has returned.
func (r *Request) Answer(to string, header nats.Header, data []byte) error {
	if !r.Wants() {
		return nil
	}
	if header == nil {
		header = make(nats.Header, 1)
	}
	header[ReplyHeader] = []string{to}
	return r.Forward(header, data)
}

// Forward sends what another service has replied, without the header of Carillon's own replies. For the rest it does what
// [Request.Answer] does.
func (r *Request) Forward(header nats.Header, data []byte) error {
	if !r.Wants() {
		return nil
	}
	err := r.conn.PublishMsg(&nats.Msg{Subject: r.reply, Header: header, Data: data})
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}
