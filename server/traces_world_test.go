package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/server"
)

const (
	callerTrace  = "0af7651916cd43dd8448eb211c80319c"
	callerParent = "00-" + callerTrace + "-b7ad6b7169203331-01"
)

// otlpSpan is what the tests read of a span that came over OTLP.
type otlpSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Links  []struct{ TraceID, SpanID string }
	Status struct{ Message string }
}

func (s otlpSpan) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

// collector keeps the spans that are posted to it.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []otlpSpan
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var request struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []otlpSpan } }
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &request); err != nil {
			t.Errorf("posted %s: %v", body, err)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, rs := range request.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of returns the spans of a name that are about a job.
func (c *collector) of(name, job string) (spans []otlpSpan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name && s.attribute("carillon.job") == job {
			spans = append(spans, s)
		}
	}
	return spans
}

// startTraced starts a server that traces to the collector; what waits is sent when it is closed.
func startTraced(t *testing.T, dir, endpoint string) *server.Server {
	t.Helper()
	o := options(dir)
	o.Traces.Endpoint = endpoint
	s := startWith(t, o)
	return s
}

// putTraced registers a job over NATS or HTTP as a caller who is traced.
func putTraced(t *testing.T, s *server.Server, overHTTP bool, name, definition string) {
	t.Helper()
	if overHTTP {
		req, err := http.NewRequestWithContext(t.Context(), "PUT", s.Ready().HTTP+"/api/v1/jobs/"+name, strings.NewReader(definition))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("traceparent", callerParent)
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("put %s: %+v, %v", name, res, err)
		}
		res.Body.Close()
		return
	}
	nc, _ := connect(t, s)
	m := &nats.Msg{Subject: "carillon.v1.default.jobs.put", Header: nats.Header{"traceparent": {callerParent}}}
	m.Data = []byte(`{"name":"` + name + `",` + definition[1:])
	reply, err := nc.RequestMsg(m, 10*time.Second)
	if err != nil || reply.Header.Get("Nats-Service-Error") != "" {
		t.Fatalf("put %s: %+v, %v", name, reply, err)
	}
}

func goroutines(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
