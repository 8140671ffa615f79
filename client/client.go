package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"
)

// The headers of a reply that refuses a request.
const (
	errorHeader     = "Nats-Service-Error"
	errorCodeHeader = "Nats-Service-Error-Code"
)

// byHeader is the header of a request for [Options].By.
const byHeader = "Carillon-By"

// byBytesMax bounds the length of [Options].By in bytes; the server's bound is the same.
const byBytesMax = 128

// InjectBytesMax bounds the headers that [Options].Inject adds to a request, in bytes. The client leaves
// this room in the largest message.
const InjectBytesMax = 1 << 10

// Options configure a [Client]. The zero value of each field selects its default.
type Options struct {
	Prefix string // first token of the subjects; default "carillon"
	// Standby sends requests to the standbys instead of the leader. They answer reads only, and their
	// answers may lag behind the leader's. In a cluster of several shards any node answers, from its own copies where it
	// has them.
	Standby bool
	Tenant  string // the tenant whose jobs the client sees and changes; default "default"

	// By names the caller, such as "alice@ci". It appears in the audit log, and in jobs as the name of the
	// caller that paused them. It has at most 128 bytes and no control characters. The server does not
	// verify it. Default "": no name.
	By string

	// Timeout bounds a request whose context has no deadline, including its repetitions. The server itself
	// gives up after 10 s (a bulk registration: 60 s); Timeout should be a little longer. Default 15 s.
	Timeout time.Duration
	// BulkTimeout is the same for [Client.PutMany] and for each request of [Client.PutAll]. Default 75 s.
	BulkTimeout time.Duration
	// BulkInFlight is the number of requests that [Client.PutAll] sends concurrently. The server carries
	// out 4 bulk requests of all its clients at a time, so more requests only wait there. Default 4.
	BulkInFlight int

	// Inject is called before each request is sent and may add headers, such as the traceparent of the span
	// in ctx, which the server's spans then continue. The headers have at most [InjectBytesMax] bytes. Nil
	// adds none. A client of [NewLocal] does not call it, because its requests carry ctx itself.
	Inject func(ctx context.Context, header nats.Header)

	// Token returns the token that a client of [Connect] shows: over NATS for each connection, over HTTP for each request.
	// So a token can be rotated while the client runs; see [TokenFile], [StaticToken] and [WithToken]. It is called from
	// several goroutines. Nil: no token is shown.
	Token func() (string, error)
	// AllTenants shows the token to NATS without the name of a tenant. [Client.OpenBackup] and [Client.Handover] need it
	// on a server with rights, because they belong to no tenant; the token must be that of an admin of all tenants.
	AllTenants bool
	// TLS are the settings of TLS of a client of [Connect]; see [TLSFrom]. With them a NATS connection must have TLS. Nil:
	// the URL decides, and the authorities of the system are trusted.
	TLS *tls.Config

	// NoRetry makes the client send each request once. By default it repeats a request that reached no
	// leader or got no answer, where that is safe; the package comment has the rules.
	NoRetry bool
}

// withDefaults returns the options with their defaults; it does not change the caller's value.
func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Tenant, "default")
	setDefault(&o.Timeout, 15*time.Second)
	setDefault(&o.BulkTimeout, 75*time.Second)
	setDefault(&o.BulkInFlight, 4)
	return o
}

// setDefault sets *v to d if it is the zero value.
func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// validate refuses a prefix and a tenant that are more than one token: a request would go to another subject than
// meant.
func (o Options) validate() error {
	switch {
	case strings.ContainsAny(o.Prefix+o.Tenant, ".*> \t\r\n"):
		return fmt.Errorf("client: options: prefix %q and tenant %q must each be one token of a NATS subject", o.Prefix, o.Tenant)
	case len(o.By) > byBytesMax || !utf8.ValidString(o.By) || strings.ContainsFunc(o.By, unicode.IsControl):
		return fmt.Errorf("client: options: By is %q and must have at most %d bytes of UTF-8 without control characters", clip(o.By), byBytesMax)
	case o.Timeout < 0 || o.BulkTimeout < 0 || o.BulkInFlight < 0:
		return errors.New("client: options: timeouts and limits must be positive")
	}
	return nil
}

// Client sends requests to the leader of a Carillon cluster. Its methods are safe for concurrent use.
type Client struct {
	opts Options
	// nc is nil if via is set.
	nc  *nats.Conn
	own bool // the client owns the connection, so Close closes it

	via transport // over which requests go instead of NATS; nil: nc is used
	aim aim       // of requests over NATS
}

// New returns a client that uses the connection nc. The caller still owns nc and closes it, and has given it its
// credentials; see [WithToken].
func New(nc *nats.Conn, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if opts.Token != nil || opts.TLS != nil {
		return nil, errors.New("client: options: Token and TLS belong to Connect; give the connection the option WithToken, and those of nats for TLS")
	}
	return &Client{opts: opts, nc: nc}, nil
}

// Close closes the connection of a client that [Connect] made. For other clients it does nothing.
func (c *Client) Close() {
	switch {
	case !c.own:
	case c.via != nil:
		c.via.close()
	default:
		c.nc.Close()
	}
}

// encode returns the JSON of a request. It omits zero fields, so that the server's defaults apply.
func encode(request any) ([]byte, error) {
	var body bytes.Buffer
	err := encodeTo(&body, request)
	return body.Bytes(), err
}

// encodeTo appends the JSON of a request to body. Texts in a payload keep their escapes, because targets may compare bytes; spaces between
// tokens go, as in replies.
func encodeTo(body *bytes.Buffer, request any) error {
	if err := json.MarshalWrite(body, request, json.OmitZeroStructFields(true), jsontext.PreserveRawStrings(true)); err != nil {
		return fmt.Errorf("client: encode request: %w", err)
	}
	return nil
}

// ask sends a request and returns its decoded reply.
func ask[Reply any](ctx context.Context, c *Client, verb string, request any) (reply Reply, err error) {
	body, err := encode(request)
	if err != nil {
		return reply, err
	}
	err = c.exchange(ctx, call{
		verb: verb, body: body, repeatable: isRepeatable(verb, request), timeout: c.opts.Timeout, tryTimeout: tryTimeout,
	}, &reply)
	if err == nil {
		err = checkWhole(verb, &reply)
	}
	return reply, err
}

// bulkCall returns the call of an encoded bulk registration.
func (c *Client) bulkCall(body []byte) call {
	return call{verb: "jobs.put_many", body: body, repeatable: true, timeout: c.opts.BulkTimeout, tryTimeout: bulkTryTimeout}
}

// exchangeOnce sends an encoded request and decodes its reply.
func (c *Client) exchangeOnce(ctx context.Context, verb string, body []byte, reply any) error {
	if c.via != nil {
		return c.via.exchange(ctx, verb, body, reply)
	}
	began := time.Now()
	node := c.aim.node(began)
	request := &nats.Msg{Subject: c.subject(verb, node), Data: body, Header: c.header(ctx)}
	msg, err := c.nc.RequestMsgWithContext(ctx, request)
	switch {
	case err == nil:
		c.aim.answered(msg.Header.Get(atHeader))
	case node != "" && errors.Is(err, nats.ErrNoResponders):
		c.aim.gone(node)
		return c.exchangeOnce(ctx, verb, body, reply)
	default:
		if now := time.Now(); now.Sub(began) >= lostAfter {
			c.aim.lost(node, now)
		}
		if node != "" && denied(c.nc, request.Subject) != nil {
			c.aim.refuse()
			return &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: errNotSent, Message: "the NATS user of this connection may not ask one node; the request was not sent"}
		}
		return c.unanswered(request.Subject, len(body), changes(verb), err)
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

// header returns the headers of a request; nil if it has none.
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

// subject returns the subject to which requests for a verb are sent: that of a node, or, with "", that of all.
func (c *Client) subject(verb, node string) string {
	root := c.opts.Prefix
	if c.opts.Standby {
		root += ".standby"
	}
	root += ".v1." + c.opts.Tenant + "."
	if node != "" {
		root += "at." + node + "."
	}
	return root + verb
}

// headerBytes returns the largest size of a request's headers, in bytes. They count towards the server's
// limit for a message.
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

// refusal returns the error in a reply that refuses a request. code is the reply's HTTP status.
func refusal(msg *nats.Msg, code string) error {
	var body ErrorReply
	if json.Unmarshal(msg.Data, &body) != nil || body.Error == nil {
		body.Error = &Error{Message: msg.Header.Get(errorHeader)}
	}
	if body.Error.Code == "" {
		body.Error.Code = CodeInternal
	}
	body.Error.Status, _ = strconv.Atoi(code)
	return body.Error
}
