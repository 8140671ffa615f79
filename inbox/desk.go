package inbox

import (
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// ReplyHeader is the header of every reply. It names what was asked for, so that a caller can tell the reply of a
// server from what else answers on a subject, such as a stream that acknowledges what it stored.
const ReplyHeader = "Carillon-Reply"

// Desk takes the requests of a connection. Safe for concurrent use.
type Desk struct {
	conn   *nats.Conn
	rule   *Rule
	logger *slog.Logger
}

// NewDesk returns a desk. A nil rule is one that knows the usual inboxes, and whose count nothing shows. The
// connection stays the caller's.
func NewDesk(conn *nats.Conn, rule *Rule, logger *slog.Logger) *Desk {
	if rule == nil {
		rule = new(Rule)
	}
	return &Desk{conn: conn, rule: rule, logger: logger}
}

// Request is a message that was sent to be answered. Header and Data are the message's, and must not be changed.
type Request struct {
	Subject string
	Header  nats.Header
	Data    []byte

	reply string
	conn  *nats.Conn
}

// Subscribe takes the requests on a subject. Handle is called for one after the other.
func (d *Desk) Subscribe(subject string, handle func(*Request)) (*nats.Subscription, error) {
	return d.conn.Subscribe(subject, d.handler(handle))
}

// QueueSubscribe is [Desk.Subscribe] where one member of a group gets each request.
func (d *Desk) QueueSubscribe(subject, group string, handle func(*Request)) (*nats.Subscription, error) {
	return d.conn.QueueSubscribe(subject, group, d.handler(handle))
}

func (d *Desk) handler(handle func(*Request)) nats.MsgHandler {
	return func(m *nats.Msg) {
		if m.Reply != "" && !d.rule.Allows(m.Reply) {
			d.drop(m)
			return
		}
		handle(&Request{Subject: m.Subject, Header: m.Header, Data: m.Data, reply: m.Reply, conn: d.conn})
	}
}

// clipAt bounds what a log line repeats of a subject.
const clipAt = 200

func (d *Desk) drop(m *nats.Msg) {
	dropped, say := d.rule.drop(time.Now())
	if !say {
		return
	}
	d.logger.Warn("a request was dropped, because its reply would go to a subject that is no inbox; if callers use inboxes of their own, name their prefix by --inbox-prefix",
		slog.String("subject", clip(m.Subject)), slog.String("reply", clip(m.Reply)), slog.Uint64("dropped", dropped))
}

func clip(subject string) string { return subject[:min(len(subject), clipAt)] }

// Wants reports whether the caller waits for a reply.
func (r *Request) Wants() bool { return r.reply != "" }

// Answer sends the reply, with the header [ReplyHeader] that says to what. Without a caller that waits it does
// nothing, and so it does on a closed connection, whose callers have gone. It does not wait for NATS to take the
// reply. The header may be nil; it becomes the request's.
func (r *Request) Answer(to string, header nats.Header, data []byte) error {
	if !r.Wants() {
		return nil
	}
	if header == nil {
		header = make(nats.Header, 1)
	}
	header[ReplyHeader] = []string{to}
	err := r.conn.PublishMsg(&nats.Msg{Subject: r.reply, Header: header, Data: data})
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}
