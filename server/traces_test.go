package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestTraces follows jobs from their registration, over NATS and HTTP, to their targets: the request continues
// the caller's trace, each run has one of its own that links back, and the link survives a restart. The job's
// own traceparent gives way.
func TestTraces(t *testing.T) {
	c := newCollector(t)
	dir := filepath.Join(t.TempDir(), "data")
	const definition = `{"schedule":"@yearly","target":{"kind":"nats","subject":"out.a"},"headers":{"traceparent":"own"}}`
	s := startTraced(t, dir, c.URL)
	putTraced(t, s, false, "over-nats", definition)
	putTraced(t, s, true, "over-http", definition)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	registered := map[string]string{}
	for _, name := range []string{"over-nats", "over-http"} {
		puts := c.of("jobs.put", name)
		if len(puts) != 1 || puts[0].TraceID != callerTrace || puts[0].ParentSpanID != "b7ad6b7169203331" || puts[0].attribute("carillon.tenant") != "default" {
			t.Fatalf("the registration %s: %+v", name, puts)
		}
		registered[name] = puts[0].SpanID
	}

	s = startTraced(t, dir, c.URL)
	nc, api := connect(t, s)
	fired := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("out.>", fired); err != nil {
		t.Fatal(err)
	}
	parents := map[string]string{}
	for name := range registered {
		if _, err := api.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
		m := testkit.Receive(t, fired)
		parents[name] = m.Header["traceparent"][0]
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, span := range registered {
		runs := c.of("attempt nats", name)
		if len(runs) != 1 || len(runs[0].Links) != 1 || runs[0].Links[0].TraceID != callerTrace || runs[0].Links[0].SpanID != span {
			t.Fatalf("the run of %s: %+v; want a link to %s", name, runs, span)
		}
		if want := "00-" + runs[0].TraceID + "-" + runs[0].SpanID + "-01"; parents[name] != want || runs[0].TraceID == callerTrace {
			t.Errorf("the target of %s got %s, want %s", name, parents[name], want)
		}
	}
}

// TestTracesOfBulk: the jobs of one request all have its span, also those that it updates.
func TestTracesOfBulk(t *testing.T) {
	c := newCollector(t)
	s := startTraced(t, filepath.Join(t.TempDir(), "data"), c.URL)
	nc, api := connect(t, s)
	target := client.Target{Kind: "nats", Subject: "out"}
	if _, _, err := api.Put(t.Context(), client.Job{Name: "old", Schedule: "@yearly", Target: target}); err != nil {
		t.Fatal(err)
	}
	bulk, err := client.New(nc, client.Options{Inject: func(_ context.Context, h nats.Header) { h["traceparent"] = []string{callerParent} }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bulk.PutMany(t.Context(), []client.Job{{Name: "old", Schedule: "@yearly", Target: target}, {Name: "new", Schedule: "@yearly", Target: target}}); err != nil {
		t.Fatal(err)
	}
	ran := make(chan *nats.Msg, 2)
	if _, err := nc.ChanSubscribe("out", ran); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		if _, err := api.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ran:
		case <-time.After(20 * time.Second):
			t.Fatalf("the run of %s does not come", name)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		runs := c.of("attempt nats", name)
		if len(runs) != 1 || len(runs[0].Links) != 1 || runs[0].Links[0].TraceID != callerTrace || runs[0].Links[0].SpanID != c.of("jobs.put_many", "")[0].SpanID {
			t.Errorf("%s: %+v", name, runs)
		}
	}
}

// TestTracesOfRetries: the attempts of a run that its target fails twice share the run's trace; a worker that
// reports continues its own trace.
func TestTracesOfRetries(t *testing.T) {
	c := newCollector(t)
	s := startTraced(t, filepath.Join(t.TempDir(), "data"), c.URL)
	parents, fences := make(chan string, 8), make(chan string, 8)
	target := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		parents <- r.Header.Get("Traceparent")
		if r.Header.Get("Carillon-Attempt") != "3" {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fences <- r.Header.Get("Carillon-Fence")
	}))
	defer target.Close()
	putTraced(t, s, true, "job", `{"schedule":"@yearly","completion":"reported","target":{"kind":"http","url":"`+target.URL+`"},
		"retry":{"initial_interval":"100ms","max_attempts":3}}`)
	nc, api := connect(t, s)
	run, err := api.Trigger(t.Context(), client.TriggerRequest{Name: "job"})
	if err != nil {
		t.Fatal(err)
	}
	trace := ""
	for n := range 3 {
		parent := testkit.Receive(t, parents)
		if trace == "" {
			trace = parent[:35]
		}
		if parent[:35] != trace {
			t.Errorf("attempt %d is in %s, the first in %s", n+1, parent, trace)
		}
	}
	report := &nats.Msg{Subject: "carillon.v1.default.runs.report", Header: nats.Header{"traceparent": {callerParent}}}
	report.Data = []byte(`{"run_id":"` + run.RunID + `","fence":` + testkit.Receive(t, fences) + `,"status":"succeeded"}`)
	if reply, err := nc.RequestMsg(report, 10*time.Second); err != nil || reply.Header.Get("Nats-Service-Error") != "" {
		t.Fatalf("report: %+v, %v", reply, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := c.of("attempt http", "job")
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for _, span := range spans {
		n := span.attribute("carillon.attempt")
		if "00-"+span.TraceID != trace || span.attribute("carillon.run_id") != run.RunID || (span.Status.Message != "HTTP 503") != (n == "3") {
			t.Errorf("attempt %s: %+v", n, span)
		}
	}
	if reports := c.of("runs.report", ""); len(reports) != 1 || reports[0].TraceID != callerTrace || reports[0].attribute("carillon.run_id") != run.RunID {
		t.Errorf("the report: %+v", reports)
	}
}

// TestTracesOff: nothing runs, nothing is kept, and the job's own header goes out as it is, whatever the
// caller sent.
func TestTracesOff(t *testing.T) {
	s := start(t, filepath.Join(t.TempDir(), "data"))
	putTraced(t, s, false, "job", `{"schedule":"@yearly","target":{"kind":"nats","subject":"out.a"},"headers":{"traceparent":"own"}}`)
	putTraced(t, s, false, "bare", `{"schedule":"@yearly","target":{"kind":"nats","subject":"out.b"}}`)
	nc, api := connect(t, s)
	fired := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("out.>", fired); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"job": "own", "bare": ""} {
		if _, err := api.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
		if m := testkit.Receive(t, fired); m.Header.Get("traceparent") != want || m.Header.Get("tracestate") != "" {
			t.Errorf("%s left with %v", name, m.Header)
		}
	}
	if stacks := goroutines(t); strings.Contains(stacks, "opentelemetry") {
		t.Errorf("OpenTelemetry is at work:\n%s", stacks)
	}
	startTraced(t, filepath.Join(t.TempDir(), "data"), "http://127.0.0.1:1")
	if !strings.Contains(goroutines(t), "opentelemetry") {
		t.Error("the check above sees nothing")
	}
}

// TestTraceOptions: what is wrong is found before anything is opened.
func TestTraceOptions(t *testing.T) {
	for want, traces := range map[string]server.TraceOptions{
		"the endpoint is no URL of a collector": {Endpoint: "localhost:4318"},
		"the ratio is 1.5; want 0 to 1":         {Endpoint: "http://c:4318", Ratio: 1.5},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		o := options(dir)
		o.Traces = traces
		if _, err := server.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", traces, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%+v: a data directory was made", traces)
		}
	}
}

// TestTracesDoNotDelay: with a collector that hangs, runs leave on time, and a close does not wait long for it.
func TestTracesDoNotDelay(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(release)
	s := startTraced(t, filepath.Join(t.TempDir(), "data"), hanging.URL)
	nc, api := connect(t, s)
	fired := make(chan *nats.Msg, 1024)
	if _, err := nc.ChanSubscribe("out.>", fired); err != nil {
		t.Fatal(err)
	}
	if _, _, err := api.Put(t.Context(), client.Job{Name: "a", Schedule: "@yearly", OverlapPolicy: "allow", Target: client.Target{Kind: "nats", Subject: "out.a"}}); err != nil {
		t.Fatal(err)
	}
	const runs = 300
	for range runs {
		if _, err := api.Trigger(t.Context(), client.TriggerRequest{Name: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	for range runs {
		testkit.Receive(t, fired)
	}
	closing, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	if err := s.Close(closing); err != nil && !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 15*time.Second {
		t.Errorf("closed in %s: %v", time.Since(begun), err)
	}
}

// TestSpansLostAreCounted: what a collector refuses shows in the metrics, which are zero until then.
func TestSpansLostAreCounted(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer refusing.Close()
	s := startTraced(t, filepath.Join(t.TempDir(), "data"), refusing.URL)
	lost := func() string {
		_, after, _ := strings.Cut(testkit.Get(t, s.Ready().HTTP+"/metrics").Body, "\ncarillon_trace_spans_lost_total ")
		figure, _, _ := strings.Cut(after, "\n")
		return figure
	}
	if n := lost(); n != "0" {
		t.Fatalf("%q spans are lost before there was one", n)
	}
	_, api := connect(t, s)
	if _, err := api.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the collector refuses, and a span is lost", func() bool { return lost() != "0" })
}
