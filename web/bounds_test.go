package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// TestBodyLimits sends bodies up to their limits and beyond, with and without their length.
func TestBodyLimits(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	fill := func(size int) string { // a job of so many bytes
		job := apitest.JobWith("name", "-")
		return job + strings.Repeat(" ", size-len(job))
	}
	for _, c := range []struct {
		method, path string
		most         int
		body         func(size int) string
	}{
		{"PUT", "jobs/a", singleBytesMax, fill},
		{"POST", "jobs/bulk", bulkBytesMax, func(size int) string { return `{"jobs":[` + strings.Repeat(" ", size-11) + `]}` }},
	} {
		for _, chunked := range []bool{false, true} {
			send := func(body string) webReply {
				if !chunked {
					return w.ask(c.method, apiRoot+c.path, body)
				}
				return w.pour(c.method, apiRoot+c.path, body)
			}
			if got := send(c.body(c.most)); got.status >= 300 {
				t.Errorf("%s of %d bytes, chunked %t: %d %.200s", c.path, c.most, chunked, got.status, got.body)
			}
			got := send(c.body(c.most + 1))
			got.refused(t, c.path+" beyond its limit", 413, client.CodeTooLarge, "")
			if !strings.Contains(got.body, fmt.Sprint(c.most)) {
				t.Errorf("%s does not tell the limit %d", got.body, c.most)
			}
		}
	}
}

// TestAnnouncedBody announces a body that would fill memory: it is refused before any of it comes.
func TestAnnouncedBody(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(readTimeout / 2)); err != nil { // sooner than the server gives up reading
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", 1<<40); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("%q, %v", line, err)
	}
}

// pour sends a body without its length.
func (w *webWorld) pour(method, path, body string) webReply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, io.MultiReader(strings.NewReader(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return w.send(req)
}

// TestSlowCallers opens connections on which a request never gets done. They are ended in time, and others
// are served meanwhile.
func TestSlowCallers(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	w := startWeb(t, Options{Executor: s.Executor}, func(server *http.Server) {
		if server.ReadHeaderTimeout <= 0 || server.ReadTimeout <= 0 || server.WriteTimeout <= 0 || server.IdleTimeout <= 0 {
			t.Error("a bound of the server is missing")
		}
		server.ReadHeaderTimeout, server.ReadTimeout = 100*time.Millisecond, 200*time.Millisecond
	})
	for name, beginning := range map[string]string{
		"half a line":   "GET /api/v1/jo",
		"half a header": "GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
		"half a body":   "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"sche",
		"half a chunk":  "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, beginning); err != nil {
				t.Fatal(err)
			}
			if got := w.ask("GET", "/api/v1/jobs", ""); got.status != 200 {
				t.Errorf("another caller meanwhile: %d %s", got.status, got.body)
			}
			if err := conn.SetReadDeadline(time.Now().Add(apitest.Patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); err != nil {
				t.Errorf("the connection was not ended: %v", err)
			}
		})
	}
	if got := w.ask("GET", "/api/v1/jobs", ""); got.body != "{\"jobs\":[]}\n" {
		t.Errorf("half a job was put: %s", got.body)
	}
}

// stuck is an engine whose reads wait.
type stuck struct {
	api.Engine
	began, end chan struct{}
}

func (e *stuck) Get(ctx context.Context, tenant, name string) (scheduler.JobView, error) {
	e.began <- struct{}{}
	<-e.end
	return e.Engine.Get(ctx, tenant, name)
}

// TestFullGates fills the gates. Further requests, over NATS and HTTP, are refused and told to retry.
func TestFullGates(t *testing.T) {
	engine := &stuck{apitest.StartEngine(t), make(chan struct{}), make(chan struct{})}
	w, url := startWebOf(t, engine, api.Options{RequestsMax: 1})
	nc := apitest.Connect(t, url)
	done := make(chan webReply)
	go func() { done <- w.ask("GET", "/api/v1/jobs/a", "") }()
	<-engine.began
	w.ask("GET", "/api/v1/jobs/b", "").refused(t, "a full gate", 429, client.CodeRateLimited, "")
	if reply := apitest.Ask(t, nc, "carillon.v1.default.jobs.list", "", nil); !strings.Contains(string(reply), "rate_limited") {
		t.Errorf("over NATS: %s", reply)
	}
	engine.end <- struct{}{}
	if got := <-done; got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := w.ask("GET", "/api/v1/jobs", ""); got.status != 200 {
		t.Errorf("after that: %d %s", got.status, got.body)
	}
}

// TestManyBodies has as many bodies under way as are read at a time: further ones are refused, but not what
// has none.
func TestManyBodies(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	w := &gateway{opts: Options{Logger: apitest.Quiet, Executor: s.Executor}, reads: newPlaces(1, bulkBytesMax), bulkReads: newPlaces(1, bulkBytesMax)}
	if err := w.reads.take("default", 1); err != nil {
		t.Fatal(err)
	}
	caller := startWeb(t, Options{}, func(server *http.Server) { server.Handler = atOnce{w} })
	caller.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-")).refused(t, "one body too many", 429, client.CodeRateLimited, "")
	if got := caller.ask("GET", "/api/v1/jobs", ""); got.status != 200 {
		t.Errorf("GET: %d %s", got.status, got.body)
	}
	if got := caller.ask("POST", "/api/v1/jobs/bulk", `{"jobs":[]}`); got.status != 200 {
		t.Errorf("bulk: %d %s", got.status, got.body)
	}
	w.reads.free("default", 1)
	if got := caller.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-")); got.status != 201 {
		t.Errorf("after that: %d %s", got.status, got.body)
	}
}
