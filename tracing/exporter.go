package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// postTimeMax bounds one post.
	postTimeMax = 10 * time.Second
	// Between two posts of a batch the wait doubles from pauseMin to pauseMax, unless the collector says
	// how long.
	pauseMin = 500 * time.Millisecond
	pauseMax = 8 * time.Second
	// answerBytesMax is how much is read of what a collector answers.
	answerBytesMax = 64 << 10
)

// exporter posts spans to a collector: OTLP over HTTP, in the JSON form. The library's own exporter does the
// same, and brings gRPC with it; see decision 22.
type exporter struct {
	client   *http.Client
	endpoint string
	headers  map[string]string
	losses   *losses
	waiting  atomic.Int64 // spans that have ended and are not done with

	base context.Context // of the posts; stop ends it
	stop context.CancelFunc
}

func newExporter(o Options, l *losses) *exporter {
	base, stop := context.WithCancel(context.Background())
	return &exporter{
		client: &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			Timeout:       postTimeMax,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		endpoint: o.Endpoint, headers: o.Headers, losses: l, base: base, stop: stop,
	}
}

// ExportSpans implements sdktrace.SpanExporter. What cannot be exported is counted, and no error: the
// library would print it.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer e.waiting.Add(int64(-len(spans)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.base, cancel)()
	body, err := encode(spans)
	if err == nil {
		err = e.deliver(ctx, body)
	}
	if refused, ok := errors.AsType[partlyRefusedError](err); ok {
		e.losses.add(min(refused.spans, len(spans)), err)
	} else if err != nil {
		e.losses.add(len(spans), err)
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// deliver posts a batch until the collector takes it or refuses it, or ctx ends.
func (e *exporter) deliver(ctx context.Context, body []byte) error {
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		err := e.post(ctx, body)
		again, ok := errors.AsType[againError](err)
		if !ok {
			return err
		}
		timer := time.NewTimer(max(pause, again.after))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return again.err
		}
	}
}

// againError is a failure that another post may not meet.
type againError struct {
	err   error
	after time.Duration // as the collector wishes; 0 is no wish
}

// Error implements error.
func (e againError) Error() string { return e.err.Error() }

// partlyRefusedError says that the collector took a batch without some of its spans.
type partlyRefusedError struct {
	spans  int
	reason string
}

// Error implements error.
func (e partlyRefusedError) Error() string {
	return fmt.Sprintf("the collector refused %d spans: %s", e.spans, e.reason)
}

func (e *exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range e.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Carillon")
	resp, err := e.client.Do(req)
	if with, ok := errors.AsType[*url.Error](err); ok {
		err = with.Err // without the URL, which may have a key in it
	}
	if err != nil {
		return againError{err: fmt.Errorf("post spans: %w", err)}
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax)) // the status says what matters
	return judge(resp, answer)
}

// judge tells what an answer means, as OTLP has it.
func judge(resp *http.Response, answer []byte) error {
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return judgePartial(answer)
	}
	err := fmt.Errorf("the collector answers HTTP %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16) // a date is no wish
		return againError{err, time.Duration(seconds) * time.Second}
	}
	return err
}

func judgePartial(answer []byte) error {
	var reply struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &reply) != nil {
		return nil // it took them; how it says so is its own affair
	}
	if n, err := reply.PartialSuccess.RejectedSpans.Int64(); err == nil && n > 0 {
		return partlyRefusedError{int(n), reply.PartialSuccess.ErrorMessage}
	}
	return nil
}
