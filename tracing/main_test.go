package tracing

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// collector is a receiver of OTLP over HTTP. It reads the JSON by the names of the protocol, not by our types.
type collector struct {
	*httptest.Server
	answer func(http.ResponseWriter, *http.Request) // in the place of 200

	mu       sync.Mutex
	spans    []map[string]any
	resource map[string]any
	posts    int
	header   http.Header
	path     string
}

func newCollector(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *collector {
	t.Helper()
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	c.mu.Lock()
	c.posts++
	c.header, c.path = req.Header.Clone(), req.URL.Path
	c.mu.Unlock()
	if c.answer != nil {
		c.answer(rw, req)
		return
	}
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range request["resourceSpans"].([]any) {
		r := r.(map[string]any)
		c.resource = attributesIn(r["resource"])
		for _, s := range r["scopeSpans"].([]any) {
			for _, span := range s.(map[string]any)["spans"].([]any) {
				c.spans = append(c.spans, span.(map[string]any))
			}
		}
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(rw, `{"partialSuccess":{}}`)
}

func (c *collector) count() (posts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.posts
}

// attributesIn reads the attributes of a span or of the resource.
func attributesIn(of any) map[string]any {
	out := make(map[string]any)
	list, _ := of.(map[string]any)["attributes"].([]any)
	for _, kv := range list {
		kv := kv.(map[string]any)
		for _, value := range kv["value"].(map[string]any) {
			out[kv["key"].(string)] = value
		}
	}
	return out
}

// named returns the spans of a name, in the order they came.
func (c *collector) named(name string) (spans []map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s["name"] == name {
			spans = append(spans, s)
		}
	}
	return spans
}

func openTracer(t *testing.T, o Options) *Tracer {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	tracer, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		tracer.Close(done)
	})
	return tracer
}

// delivery is an attempt of the n-th run of a job.
func delivery(n int64, attempt uint32) *job.Delivery {
	return &job.Delivery{
		Run: job.RunID{Job: 7, At: 1764576000000 + instant.Millis(n)}, Tenant: "acme", Name: "billing/daily", Attempt: attempt, Fence: 9,
		Target: job.Target{Kind: job.TargetHTTP, URL: "https://user:secret@Example.com:8443/secret-path?key=secret", Method: "PUT"},
	}
}

// follow makes the span of an attempt from launch to answer.
func follow(t *Tracer, d *job.Delivery, failure string) (parent string) {
	launched := d.Run.At.Time().Add(2 * time.Millisecond)
	attempt := t.Attempt(d, launched)
	parent, _ = t.Headers(attempt)
	t.Ended(attempt, d, job.Outcome{LaunchedAt: launched.Add(time.Millisecond), Duration: time.Millisecond, Error: failure})
	return parent
}
