package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/plainhttp"
	"github.com/carillon-io/carillon/serverurl"
)

const (
	// httpRequestBytes bounds the body of a request over HTTP, in bytes. The server takes bulk registrations of 4 MiB,
	// but proxies often take no more than this.
	httpRequestBytes = 1 << 20
	// httpReplyBytes bounds the body of a reply, in bytes. The replies of a server are far smaller.
	httpReplyBytes = 64 << 20
	// httpConnections is the number of idle connections that are kept, for requests that are made concurrently.
	httpConnections = 16
)

// The headers of a request over HTTP, besides that of [Options].By.
const (
	tenantHeader  = "Carillon-Tenant"
	standbyHeader = "Carillon-Standby"
)

// Causes of an [Error] over HTTP. A request that was not sent took no effect.
var (
	errNotSent = errors.New("the request was not sent")
	errBroken  = errors.New("the connection broke")
)

// errNeedsNATS is the error of what has no path over HTTP, and needs no server in the same process.
func errNeedsNATS(what string) error {
	return fmt.Errorf("client: %s goes over NATS only; connect to the NATS URL of the server, such as nats://host:4222", what)
}

// httpTransport sends requests over HTTP. It is safe for concurrent use.
type httpTransport struct {
	root string // URL before the paths of the API, without a slash at the end
	http *http.Client
	opts Options
}

// connectHTTP returns the transport to a server that answers. Any answer proves that the server is there: who the
// client is, and what it may do, is the matter of each request.
func connectHTTP(server string, opts Options) (*httpTransport, error) {
	root, err := httpRoot(server)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = httpConnections
	if opts.TLS != nil {
		transport.TLSClientConfig = opts.TLS.Clone()
	}
	w := &httpTransport{root: root, opts: opts, http: &http.Client{
		Transport: plainhttp.Over(transport),
		// A redirect could take the token and the request to another server, and turn a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	ctx, cancel := context.WithTimeout(context.Background(), opts.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"/healthz", nil)
	if err != nil {
		return nil, err
	}
	res, err := w.http.Do(req)
	if err != nil {
		return nil, plainHTTPError(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	_ = res.Body.Close()
	return w, nil
}

// httpRoot checks the URL of a server.
func httpRoot(server string) (string, error) {
	u, err := serverurl.Parse(server)
	switch {
	case err != nil || u.Host == "" || strings.Contains(server, ","):
		return "", errors.New("want one URL such as https://carillon.example.com:7272; any node of a cluster takes every request")
	case u.User != nil:
		return "", errors.New("the URL has a user; over HTTP a client shows a token or a certificate")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the URL has a query or a fragment; want the address alone, such as https://carillon.example.com:7272")
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// plainHTTPError returns the cause of an error of [http.Client], without the method and the URL of the request.
func plainHTTPError(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func (w *httpTransport) requestBytesMax() int { return httpRequestBytes }

func (w *httpTransport) close() { w.http.CloseIdleConnections() }

// exchange implements transport.
func (w *httpTransport) exchange(ctx context.Context, verb string, body []byte, reply any) error {
	req, err := w.request(ctx, verb, body)
	if err != nil {
		return err
	}
	res, err := w.http.Do(req)
	if err != nil {
		return w.unanswered(verb, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, httpReplyBytes+1))
	if err != nil {
		return w.unanswered(verb, err)
	}
	if len(text) > httpReplyBytes {
		return foreign(fmt.Sprintf("the answer of %s has more than %d bytes", w.root, httpReplyBytes))
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return w.refusal(verb, res, text)
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(text, &members) != nil || members[replyMembers[verb]] == nil {
		return foreign(fmt.Sprintf("what answers at %s is not a Carillon server: the reply lacks the members of a reply to %s; is the URL right?", w.root, verb))
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return fmt.Errorf("client: decode the reply to %s: %w", verb, err)
	}
	return nil
}

// request returns the HTTP request for an encoded request of a verb.
func (w *httpTransport) request(ctx context.Context, verb string, body []byte) (*http.Request, error) {
	form, err := httpForm(verb, body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, form.method, w.root+"/api/v1/"+form.path, bytes.NewReader(form.body))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	h := req.Header
	if w.opts.Inject != nil {
		w.opts.Inject(ctx, nats.Header(h))
	}
	h.Set(tenantHeader, w.opts.Tenant)
	if form.body != nil {
		h.Set("Content-Type", "application/json")
	}
	if form.version != "" {
		h.Set("If-Match", strconv.Quote(form.version))
	}
	if w.opts.By != "" {
		h.Set(byHeader, w.opts.By)
	}
	if w.opts.Standby {
		h.Set(standbyHeader, "true")
	}
	if w.opts.Token == nil {
		return req, nil
	}
	token, err := w.opts.Token()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	h.Set("Authorization", "Bearer "+token)
	return req, nil
}

// unanswered returns the error for a request without a reply. An error before the request was sent is told apart from
// one that leaves its outcome unknown, and both from a certificate that is not trusted, which no repetition mends.
func (w *httpTransport) unanswered(verb string, err error) error {
	err = plainHTTPError(err)
	e := &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: err}
	dial, isDial := errors.AsType[*net.OpError](err)
	_, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isUntrusted:
		e.Message = "the certificate of " + w.root + " is not trusted"
	case isDial && dial.Op == "dial":
		e.Message, e.Cause = "there is no connection to "+w.root, fmt.Errorf("%w: %w", errNotSent, err)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		e.Message = noAnswer(err) + doubtOf(changes(verb))
	default:
		e.Message, e.Cause = "no answer"+doubtOf(changes(verb)), fmt.Errorf("%w: %w", errBroken, err)
	}
	return e
}

// refusal returns the error of a reply that is no success. One without the body of a refusal comes from a program
// between the client and the server, such as a proxy.
func (w *httpTransport) refusal(verb string, res *http.Response, text []byte) error {
	var body ErrorReply
	if json.Unmarshal(text, &body) == nil && body.Error != nil && body.Error.Code != "" {
		body.Error.Status = res.StatusCode
		return body.Error
	}
	e := &Error{Status: res.StatusCode, Message: fmt.Sprintf("what answers at %s is no Carillon server, or a proxy before it: HTTP %s", w.root, res.Status)}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		e.Code = CodeUnauthenticated
	case http.StatusForbidden:
		e.Code = CodeForbidden
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		e.Code = CodeTooLarge
	case http.StatusTooManyRequests:
		e.Code = CodeRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.Code = CodeUnavailable
		e.Message += doubtOf(changes(verb))
	default:
		if to := res.Header.Get("Location"); to != "" {
			e.Message += ", which leads to " + clip(to) + "; give that address if it is the server's"
		}
		e.Code, e.Cause = CodeUnavailable, ErrForeignReply
	}
	return e
}
