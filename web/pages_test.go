package web

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// booklet is pages that ask for what the path says, and write what they get.
type booklet struct {
	asker  client.Local
	closed chan struct{}
}

func (b *booklet) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		body, err = b.asker.Ask(req.Context(), "default", strings.TrimPrefix(req.URL.Path, "/"), req.Header.Get("Carillon-By"), body)
	}
	e, _ := errors.AsType[*client.Error](err)
	if e != nil {
		rw.WriteHeader(e.Status)
		body = api.ErrorBody(e)
	}
	_, _ = rw.Write(body)
}

func (b *booklet) Close() error {
	close(b.closed)
	return nil
}

// startPages runs a server with pages.
func startPages(t *testing.T, opts Options) (*webWorld, *booklet) {
	b := &booklet{closed: make(chan struct{})}
	opts.Pages = func(desk *Desk) http.Handler {
		b.asker = desk
		return b
	}
	return startWeb(t, opts, nil), b
}

// TestPages checks that pages have every path that nothing else serves, that their requests are counted and recorded
// as theirs, and that they are closed when the server is shut down.
func TestPages(t *testing.T) {
	engine := apitest.StartEngine(t)
	s, _ := serve(t, engine, api.Options{}, 0)
	w, b := startPages(t, Options{Executor: s.Executor})
	if got := w.ask("POST", "/jobs.put", apitest.JobWith("name", `"a"`), "Carillon-By: alice"); got.status != 200 || !strings.Contains(got.body, `"created":true`) {
		t.Fatalf("put: %d %s", got.status, got.body)
	}
	if got := w.ask("POST", "/audit.list", ""); !strings.Contains(got.body, `"by":"alice","from":"dashboard"`) {
		t.Errorf("the audit log: %s", got.body)
	}
	for path, want := range map[string]int{"/jobs.get": 400, "/jobs.odd": 500, "/status": 200, "/": 500} {
		if got := w.ask("POST", path, "{}"); got.status != want && !(path == "/jobs.get" && got.status == 422) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	w.ask("POST", "/jobs.get", `{"name":"a"}`, "Carillon-By: "+strings.Repeat("x", 200)).refused(t, "an asker that is none", 422, client.CodeInvalidField, "by")
	w.ask("POST", "/jobs.delete", `{"name":"a"}`, "Origin: https://evil.example").refused(t, "another site", 403, api.CodeCrossOrigin, "")
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/jobs", "/api/odd", "/api"} {
		if got := w.ask("GET", path, ""); strings.Contains(got.body, "internal error") {
			t.Errorf("%s is for the pages: %s", path, got.body)
		}
	}
	if counts := s.Executor().Counts().Verbs["jobs.put"]; counts.Ended[""] != 1 || counts.Took["http"].Count != 1 {
		t.Errorf("what pages ask is not counted: %+v", counts)
	}
	if err := w.server.Config.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-b.closed
}

// TestPagesOfAStandby: pages read, and learn who leads when they want to change something. Without a service
// they still have the status.
func TestPagesOfAStandby(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{Standby: true}, 0)
	var present atomic.Pointer[api.Service]
	present.Store(s)
	cluster := func() *client.Cluster { return &client.Cluster{Node: "b", Holder: "a", Role: "standby", Lag: 7} }
	w, _ := startPages(t, Options{Executor: func() *api.Executor { return present.Load().Executor() }, Node: api.Node{Cluster: cluster}})
	if got := w.ask("POST", "/jobs.list", ""); got.status != 200 {
		t.Errorf("read from a standby: %d %s", got.status, got.body)
	}
	for _, verb := range []string{"jobs.put", "jobs.put_many", "jobs.delete", "runs.retry_many", "runs.report"} {
		got := w.ask("POST", "/"+verb, `{}`)
		if e := got.refusal(); got.status != 503 || e.Code != client.CodeNotLeader || !strings.Contains(e.Message, "the leader is the node a") {
			t.Errorf("%s: %d %s", verb, got.status, got.body)
		}
	}
	present.Store(nil)
	if got := w.ask("POST", "/jobs.list", ""); got.status != 503 || got.refusal().Code != client.CodeUnavailable {
		t.Errorf("without a service: %d %s", got.status, got.body)
	}
	if got := w.ask("POST", "/status", ""); got.status != 200 || !strings.Contains(got.body, `"holder":"a"`) {
		t.Errorf("the status without a service: %d %s", got.status, got.body)
	}
}
