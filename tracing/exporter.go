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

	"github.com/carillon-io/carillon/plainhttp"
)

const (
	// postTimeMax bounds one post. It is below exportTimeMax, so that a collector that hangs gets a
	// second post for the batch.
	postTimeMax = 10 * time.Second
	// The pause between two posts of a batch doubles from pauseMin to pauseMax, unless the collector asks
	// for a longer one. A batch that waits holds up those behind it, so exportTimeMax ends the posts.
	pauseMin = 500 * time.Millisecond
	pauseMax = 8 * time.Second
	// answerBytesMax bounds the bytes read of a collector's answer, which only explains what it refused.
	answerBytesMax = 64 << 10
)

// exporter posts spans to a collector: OTLP over HTTP, in its JSON form. The library's own exporter does
// the same, but imports gRPC; see decision 22. The library calls ExportSpans for one batch at a time.
//
// Invariant: each span that passed the gate is subtracted from waiting exactly once, when its batch has
// ended.
type exporter struct {
	client   *http.Client
	endpoint string            // URL; it may contain a key, so no error of a post has it
	headers  map[string]string // sent with each post; may contain a key as well
	losses   *losses           // counts what is not accepted
	waiting  atomic.Int64      // spans that have ended and are neither exported nor lost

	base context.Context // parent of the posts' contexts; stop ends it
	stop context.CancelFunc
}

// newExporter returns an exporter. It follows no redirects, so that the headers, which may contain a key,
// reach no other host.
func newExporter(o Options, l *losses) *exporter {
	base, stop := context.WithCancel(context.Background())
	return &exporter{
		client: &http.Client{
			Transport:     plainhttp.Over(http.DefaultTransport.(*http.Transport).Clone()),
			Timeout:       postTimeMax,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		endpoint: o.Endpoint, headers: o.Headers, losses: l, base: base, stop: stop,
	}
}

// ExportSpans implements sdktrace.SpanExporter. It counts spans that cannot be exported and returns nil,
// because the library would print an error. It ends with ctx, which has exportTimeMax, or with e.base, which
// Close ends: the library passes no context of Close to a post that is under way.
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

// Shutdown implements sdktrace.SpanExporter. The library calls it after the last batch.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// deliver posts a batch until the collector accepts or refuses it, or ctx ends. If ctx ends, the error is
// that of the last post, which says more than that the time is over. A collector may get a batch twice if its
// answer was lost; spans have ids, so it can drop the copies.
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

// againError is a failure after which the batch is posted again.
type againError struct {
	err   error
	after time.Duration // pause that the collector asks for; 0 means none
}

// Error implements error.
func (e againError) Error() string { return e.err.Error() }

// partlyRefusedError reports that the collector accepted a batch but refused some of its spans.
type partlyRefusedError struct {
	spans  int
	reason string
}

// Error implements error.
func (e partlyRefusedError) Error() string {
	return fmt.Sprintf("the collector refused %d spans: %s", e.spans, e.reason)
}

// post posts a batch once. Its error is an againError if another post may succeed.
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
		err = with.Err // without the URL, which may contain a key
	}
	if err != nil {
		return againError{err: fmt.Errorf("post spans: %w", err)}
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax)) // an error is ignored: the status decides
	return judge(resp, answer)
}

// judge returns the error for a collector's answer by the rules of OTLP; nil if the batch was accepted. OTLP
// names the four statuses after which a client may post again. With any other one the same batch would be
// refused again.
func judge(resp *http.Response, answer []byte) error {
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return judgePartial(answer)
	}
	err := fmt.Errorf("the collector answers HTTP %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16) // a date gives 0: no pause asked for
		return againError{err, time.Duration(seconds) * time.Second}
	}
	return err
}

// judgePartial returns a partlyRefusedError if the answer of a collector that accepted a batch lists
// refused spans.
func judgePartial(answer []byte) error {
	var reply struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &reply) != nil {
		return nil // accepted; the format of the answer does not matter
	}
	if n, err := reply.PartialSuccess.RejectedSpans.Int64(); err == nil && n > 0 {
		return partlyRefusedError{int(n), reply.PartialSuccess.ErrorMessage}
	}
	return nil
}
