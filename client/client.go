package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
)

// The headers of a reply that refuses.
const (
	errorHeader     = "Nats-Service-Error"
	errorCodeHeader = "Nats-Service-Error-Code"
)

// byHeader is the header of a request that says who asks.
const byHeader = "Carillon-By"

// byBytesMax bounds a name in it; the server's bound is the same.
const byBytesMax = 128

// InjectBytesMax is how much of the largest message is left to the headers of Options.Inject.
const InjectBytesMax = 1 << 10

// Options set up a [Client]. Every zero value is a default.
type Options struct {
	Prefix string // first token of the subjects; default "carillon"
	// Standby asks the nodes that stand by instead of the leader. They answer reads only, and may lag.
	Standby bool
	Tenant  string // whose jobs; default "default"

	// By is who asks, such as "alice@ci": the audit log has it, and jobs show who paused them. At most
	// 128 bytes without control characters. It is what the client says of itself, and proves nothing.
	// Default: nobody in particular.
	By string

	// Timeout bounds a request whose context has no deadline, with all its repetitions. The server gives
	// up after 10 s, on a bulk registration after 60 s; give it a little longer. Default 15 s.
	Timeout time.Duration
	// BulkTimeout is the same for [Client.PutMany] and for each request of [Client.PutAll]. Default 75 s.
	BulkTimeout time.Duration
	// BulkInFlight is how many requests [Client.PutAll] has under way at a time. More keep the server
	// busier; it runs 4 of all its clients at a time. Default 4.
	BulkInFlight int

	// Inject may add headers to each request before it is sent, such as the traceparent of the span in ctx: the
	// server's spans continue it. They may have [InjectBytesMax] bytes. Default nil: none. It has no
	// effect on a client inside the process, whose requests bring ctx itself.
	Inject func(ctx context.Context, header nats.Header)

	// NoRetry sends each request once. Without it a request that met no leader, or whose answer did not
	// come, is sent again where that is safe, as the package comment says.
	NoRetry bool
}

func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Tenant, "default")
	setDefault(&o.Timeout, 15*time.Second)
	setDefault(&o.BulkTimeout, 75*time.Second)
	setDefault(&o.BulkInFlight, 4)
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (o Options) validate() error {
	switch {
	case strings.ContainsAny(o.Prefix+o.Tenant, ".*> \t\r\n"):
		return fmt.Errorf("client: options: prefix %q and tenant %q must each be one token of a NATS subject", o.Prefix, o.Tenant)
	case len(o.By) > byBytesMax || !utf8.ValidString(o.By) || strings.ContainsFunc(o.By, unicode.IsControl):
		return fmt.Errorf("client: options: who asks, %q, must have at most %d bytes of UTF-8 without control characters", clip(o.By), byBytesMax)
	case o.Timeout < 0 || o.BulkTimeout < 0 || o.BulkInFlight < 0:
		return errors.New("client: options: timeouts and limits must be positive")
	}
	return nil
}

// Client speaks to the leader of a Carillon cluster. Its methods are safe for concurrent use.
type Client struct {
	opts Options
	nc   *nats.Conn
	own  bool // the connection is the client's

	local Local // in the place of the connection; nil: none
}

// New returns a client that uses a connection of the caller's.
func New(nc *nats.Conn, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Client{opts: opts, nc: nc}, nil
}

// Connect returns a client with a connection of its own, which Close closes. The url and the further
// options are those of [nats.Connect].
func Connect(url string, opts Options, natsOptions ...nats.Option) (*Client, error) {
	nc, err := nats.Connect(url, natsOptions...)
	if err != nil {
		return nil, fmt.Errorf("client: connect to NATS at %s: %w", url, err)
	}
	c, err := New(nc, opts)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.own = true
	return c, nil
}

// Close closes the connection of a client that [Connect] made.
func (c *Client) Close() {
	if c.own {
		c.nc.Close()
	}
}

// encode writes a request: what is zero is left to the server's defaults.
func encode(request any) ([]byte, error) {
	var body bytes.Buffer
	err := encodeTo(&body, request)
	return body.Bytes(), err
}

func encodeTo(body *bytes.Buffer, request any) error {
	if err := json.MarshalWrite(body, request, json.OmitZeroStructFields(true)); err != nil {
		return fmt.Errorf("client: encode request: %w", err)
	}
	return nil
}

// ask sends a request and reads its reply.
func ask[Reply any](ctx context.Context, c *Client, verb string, request any) (reply Reply, err error) {
	body, err := encode(request)
	if err != nil {
		return reply, err
	}
	err = c.exchange(ctx, call{
		verb: verb, body: body, repeatable: isRepeatable(verb, request), timeout: c.opts.Timeout, tryTimeout: tryTimeout,
	}, &reply)
	return reply, err
}

// bulkCall is an encoded bulk registration.
func (c *Client) bulkCall(body []byte) call {
	return call{verb: "jobs.put_many", body: body, repeatable: true, timeout: c.opts.BulkTimeout, tryTimeout: bulkTryTimeout}
}

// exchangeOnce sends an encoded request and decodes its reply.
func (c *Client) exchangeOnce(ctx context.Context, verb string, body []byte, reply any) error {
	if c.local != nil {
		return c.askLocal(ctx, verb, body, reply)
	}
	request := &nats.Msg{Subject: c.subject(verb), Data: body, Header: c.header(ctx)}
	msg, err := c.nc.RequestMsgWithContext(ctx, request)
	if err != nil {
		return c.unanswered(request.Subject, len(body), err)
	}
	if err := checkReply(verb, request.Subject, msg); err != nil {
		return err
	}
	if code := msg.Header.Get(errorCodeHeader); code != "" {
		return refusal(msg, code)
	}
	if err := json.Unmarshal(msg.Data, reply); err != nil {
		return fmt.Errorf("client: decode the reply to %s: %w", verb, err)
	}
	return nil
}

// header returns the headers of a request; nil if it needs none.
func (c *Client) header(ctx context.Context) nats.Header {
	if c.opts.By == "" && c.opts.Inject == nil {
		return nil
	}
	header := nats.Header{}
	if c.opts.Inject != nil {
		c.opts.Inject(ctx, header)
	}
	if c.opts.By != "" {
		header[byHeader] = []string{c.opts.By}
	}
	return header
}

// subject returns where a verb is asked for.
func (c *Client) subject(verb string) string {
	root := c.opts.Prefix
	if c.opts.Standby {
		root += ".standby"
	}
	return root + ".v1." + c.opts.Tenant + "." + verb
}

// headerBytes is what the header of a request takes of its message.
func (c *Client) headerBytes() int {
	n := 0
	if c.opts.Inject != nil {
		n = InjectBytesMax
	}
	if c.opts.By == "" {
		return n
	}
	return n + len("NATS/1.0\r\n") + len(byHeader) + len(": \r\n") + len(c.opts.By) + len("\r\n")
}

// unanswered tells why there is no reply.
func (c *Client) unanswered(subject string, size int, err error) error {
	e := &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: err}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		e.Message = fmt.Sprintf("nobody answers on %s: no leader is there just now, or prefix and tenant are others", subject)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		e.Message = "the connection to NATS is broken just now; the request was not sent"
	case errors.Is(err, nats.ErrMaxPayload):
		e.Code, e.Status = CodeTooLarge, http.StatusRequestEntityTooLarge
		e.Message = fmt.Sprintf("the request has %d bytes, more than the NATS server takes (max_payload)", size)
	default:
		e.Message = "no answer; whether the request took effect is unknown"
		if prefix := c.nc.Opts.InboxPrefix; prefix != "" && !strings.HasPrefix(prefix, "_INBOX") {
			e.Message = fmt.Sprintf("no answer; the inboxes of this connection begin with %q, and a server drops what it is asked from there unless its --inbox-prefix names that; whether the request took effect is unknown", prefix)
		}
	}
	return e
}

// refusal reads what the server refused a request for.
func refusal(msg *nats.Msg, code string) error {
	var body ErrorReply
	if json.Unmarshal(msg.Data, &body) != nil || body.Error == nil {
		body.Error = &Error{Code: CodeInternal, Message: msg.Header.Get(errorHeader)}
	}
	body.Error.Status, _ = strconv.Atoi(code)
	return body.Error
}
