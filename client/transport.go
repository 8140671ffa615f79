package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/serverurl"
)

// transport is a way to a server other than NATS.
type transport interface {
	// exchange sends an encoded request once, and decodes its reply. Its errors are those of [Client.exchangeOnce].
	exchange(ctx context.Context, verb string, body []byte, reply any) error
	// requestBytesMax returns the largest size of a request's body, in bytes.
	requestBytesMax() int
	close()
}

// Connect returns a client with a connection of its own, which [Client.Close] closes. With a URL such as
// nats://host:4222 or tls://host:4222, or several separated by commas, the client uses NATS, and natsOptions are those
// of [nats.Connect], which win over its own; [nats.UserCredentials] and [nats.NkeyOptionFromSeed] give credentials for NATS. A
// connection that breaks is restored without end, also while the server refuses the credentials. With a URL such as
// https://host:7272 it uses HTTP, and natsOptions are refused. Connect fails if no server answers within
// [Options].Timeout, and over NATS with [CodeUnauthenticated] if the server refuses the credentials; over HTTP each
// request is checked.
func Connect(url string, opts Options, natsOptions ...nats.Option) (*Client, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	c := &Client{opts: opts, own: true}
	var err error
	switch {
	case !serverurl.IsHTTP(url):
		c.nc, err = connectNATS(url, opts, natsOptions)
	case len(natsOptions) > 0:
		err = errors.New("options for NATS are given, and the URL is that of HTTP")
	default:
		c.via, err = connectHTTP(url, opts)
	}
	if err != nil {
		return nil, fmt.Errorf("client: connect to %s: %w", serverurl.Redact(url), err)
	}
	return c, nil
}

// connectNATS returns a connection with the credentials of the options. The caller's own options come last, so that
// they win.
func connectNATS(url string, opts Options, more []nats.Option) (*nats.Conn, error) {
	if _, err := serverurl.ParseList(url); err != nil {
		return nil, err
	}
	all := []nats.Option{nats.Timeout(opts.Timeout), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort()}
	if opts.TLS != nil {
		all = append(all, nats.Secure(opts.TLS.Clone()))
	}
	if opts.Token != nil {
		tenant := opts.Tenant
		if opts.AllTenants {
			tenant = ""
		}
		all = append(all, WithToken(tenant, opts.Token))
	}
	nc, err := nats.Connect(url, append(all, more...)...)
	if errors.Is(err, nats.ErrAuthorization) {
		err = refused(err)
	}
	return nc, err
}

// refused returns the error of a server that refuses the credentials of a NATS connection.
func refused(err error) error {
	return &Error{Code: CodeUnauthenticated, Status: http.StatusUnauthorized, Message: "the server refuses these credentials, or they do not belong to this tenant", Cause: err}
}

// denied returns the error of a request on a subject to which the user of the connection may not publish; nil if the
// connection has heard of no such refusal. NATS reports refusals to the connection and not to the request.
func denied(nc *nats.Conn, subject string) error {
	err := nc.LastError()
	if !errors.Is(err, nats.ErrPermissionViolation) || !slices.Contains(strings.FieldsFunc(strings.ToLower(err.Error()), isQuote), strings.ToLower(subject)) {
		return nil
	}
	return &Error{Code: CodeForbidden, Status: http.StatusForbidden, Cause: err, Message: "the NATS user of this connection may not publish to " + subject}
}

func isQuote(r rune) bool { return r == '"' }
