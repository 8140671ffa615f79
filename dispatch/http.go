package dispatch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

const (
	// answerBytesMax bounds the part of a failed answer's body that goes into the error text, in bytes.
	answerBytesMax = 256
	// drainBytesMax bounds how much of a body is read, in bytes, so that its connection can be used again.
	// With a longer body, the connection is closed.
	drainBytesMax = 64 << 10
	// drainTimeMax bounds the time for reading a body. The status has already determined the outcome, and a target that sends
	// its body slowly must not keep the place until the timeout.
	drainTimeMax = 250 * time.Millisecond
)

// httpSender sends to web hooks. It uses transports without a client, so it follows no redirect: only
// the job names a target, never an answer.
type httpSender struct {
	transports *transports
	rules      job.Rules
	secret     func(job.SecretRef) ([]byte, error) // nil: there are no secrets
}

func newHTTPSender(o Options) *httpSender {
	return &httpSender{transports: newTransports(o), rules: o.rules(), secret: o.Secret}
}

// send makes one request. Secrets become values here and only here, and no error that leaves has one.
func (s *httpSender) send(ctx context.Context, d *job.Delivery, t traceHeaders) error {
	p, err := s.resolve(d)
	if err == nil {
		err = s.request(ctx, p, t)
	}
	return p.masked(err)
}

// request sends a delivery once. If a kept-alive connection breaks before any answer, the attempt has failed.
func (s *httpSender) request(ctx context.Context, p *parcel, t traceHeaders) error {
	req, err := newRequest(ctx, p.Delivery)
	if err != nil {
		return Refuse(withoutURL(err))
	}
	t.setIn(req.Header)
	p.sign(req.Header, time.Now())
	// The definition was checked when it was made, possibly by an older release or under other rules.
	allowed := s.rules.TargetsOf(p.Tenant)
	if err := job.CheckURL(req.URL, allowed); err != nil {
		return p.refuse(err)
	}
	transport, err := s.transports.of(allowed.Reach, p)
	if err != nil {
		return err
	}
	return exchange(transport, req, p.credentials)
}

// exchange sends a request and judges its answer.
func exchange(transport http.RoundTripper, req *http.Request, c job.Credentials) error {
	resp, err := transport.RoundTrip(req)
	if refusal := refusalOf(err); refusal != nil {
		return bar(refusal)
	}
	if err != nil {
		return noAnswer(withoutURL(err))
	}
	defer endBody(req.Context(), resp.Body)()
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		drain(resp.Body)
		return nil
	}
	return answerError(c, resp)
}

// newRequest builds the request of a delivery. An error wraps a Failure that is refused: another attempt
// would have the same URL.
func newRequest(ctx context.Context, d *job.Delivery) (*http.Request, error) {
	method := d.Target.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader
	content := bodyOf(d)
	if len(content) > 0 {
		body = bytes.NewReader(content)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.Target.URL, body)
	if err != nil {
		return nil, err
	}
	setHeaders(req.Header, d, len(content) > 0)
	sendOnce(req)
	return req, nil
}

// sendOnce keeps the transport from sending a request again that a target may have received: each attempt has a fence of its own,
// and is one of max_attempts. net/http repeats what it takes for idempotent, on one kept-alive connection after the other
// ([http.Transport] has the rules): a GET whose body it can make anew, and what has one of two headers, which it looks up under their
// canonical names. The names of headers have no case, so a target reads those. What no connection has carried may still be sent again.
func sendOnce(req *http.Request) {
	for _, name := range []string{headerIdempotencyKey, "X-" + headerIdempotencyKey} {
		if values := req.Header.Values(name); len(values) > 0 {
			req.Header.Del(name)
			req.Header[strings.ToLower(name)] = values
		}
	}
	if req.Method == http.MethodGet {
		req.Body = io.NopCloser(bytes.NewReader(nil)) // the transport finds it empty, and sends none
	}
}

// bodyOf returns the body of the request: the payload, or nothing for a method without a body.
func bodyOf(d *job.Delivery) []byte {
	if d.Target.Method == http.MethodGet {
		return nil
	}
	return d.Payload
}

// setHeaders sets the job's own headers and those of Carillon. The job's Content-Type and User-Agent
// replace Carillon's; a job cannot set the other headers of Carillon. So a target can rely on the run id
// and the fence.
func setHeaders(h http.Header, d *job.Delivery, hasBody bool) {
	h.Set("User-Agent", "Carillon")
	switch {
	case hasBody && d.PayloadJSON:
		h.Set("Content-Type", contentTypeJSON)
	case hasBody:
		h.Set("Content-Type", contentTypeBytes)
	}
	for _, own := range d.Headers {
		h.Set(own.Key, own.Value)
	}
	run := d.Run.String()
	h.Set(headerRunID, run)
	h.Set(headerIdempotencyKey, run)
	h.Set(headerJob, d.Name)
	h.Set(headerTenant, d.Tenant)
	h.Set(headerScheduledAt, d.Run.At.String())
	h.Set(headerAttempt, strconv.FormatUint(uint64(d.Attempt), 10))
	h.Set(headerFence, strconv.FormatUint(d.Fence, 10))
}

// drain reads a short body to its end, so that the connection can be used again. It ignores errors,
// because the status has already determined the outcome.
func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, drainBytesMax) }

// noAnswer returns the error of a request without an answer in words.
func noAnswer(err error) error {
	if errors.Is(err, io.EOF) || strings.HasSuffix(err.Error(), "server closed idle connection") {
		return errors.New("the target closed the connection without an answer")
	}
	return err
}

// withoutURL removes the URL from an error of net/http, because a URL often contains a secret.
func withoutURL(err error) error {
	if with, ok := errors.AsType[*url.Error](err); ok {
		return with.Err
	}
	return err
}
