package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/job"
)

const (
	// answerBytesMax is how much of a failed answer's body goes into the error text.
	answerBytesMax = 256
	// drainBytesMax is how much of a body is read so that its connection can be used again; a longer
	// one costs the connection.
	drainBytesMax = 64 << 10
	// drainTimeMax is how long that may take. The status has settled the outcome by then.
	drainTimeMax = 250 * time.Millisecond
)

// httpSender sends to web hooks. It uses the transport itself, which follows no redirect: the job names its
// target, and no answer names another.
type httpSender struct {
	transport      *http.Transport
	privateAllowed bool
}

func newHTTPSender(o Options) *httpSender {
	return &httpSender{transport: newTransport(o), privateAllowed: o.AllowPrivateTargets}
}

// send makes one request. The transport may repeat it on another connection if one that was kept
// alive breaks before any answer: the Idempotency-Key tells the target that it is the same run.
func (s *httpSender) send(ctx context.Context, d *job.Delivery, t traceHeaders) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := newRequest(ctx, d)
	if err != nil {
		return Refuse(withoutURL(err))
	}
	t.setIn(req.Header)
	if err := job.CheckURL(req.URL, s.privateAllowed); err != nil {
		return Refuse(fmt.Errorf("target.url: %w", err))
	}
	resp, err := s.transport.RoundTrip(req)
	if refusal := refusalOf(err); refusal != nil {
		return Refuse(refusal)
	}
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	defer time.AfterFunc(drainTimeMax, cancel).Stop()
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		drain(resp.Body)
		return nil
	}
	return answerError(d, resp)
}

func newRequest(ctx context.Context, d *job.Delivery) (*http.Request, error) {
	method := d.Target.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader
	hasBody := method != http.MethodGet && len(d.Payload) > 0
	if hasBody {
		body = bytes.NewReader(d.Payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.Target.URL, body)
	if err != nil {
		return nil, err
	}
	setHeaders(req.Header, d, hasBody)
	return req, nil
}

// setHeaders sets the job's own headers and Carillon's. The first win where both have a say, which is
// Content-Type and User-Agent; the rest of Carillon's a job cannot name.
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

// drain reads a body to its end if that is near. What it says is no concern of an outcome that the
// status has settled.
func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, drainBytesMax) }

// withoutURL takes the URL out of an error of net/http: it is often a secret.
func withoutURL(err error) error {
	if with, ok := errors.AsType[*url.Error](err); ok {
		return with.Err
	}
	return err
}

func (s *httpSender) closeIdle() { s.transport.CloseIdleConnections() }
