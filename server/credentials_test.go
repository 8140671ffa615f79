package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// plantedHeaders are a credential of each kind of header; all have the word planted in them.
var plantedHeaders = map[string]string{
	"Authorization": "Bearer planted-authorization", "cookie": "session=planted-cookie; theme=dark", "X-Auth-Token": "planted-token",
	"X-API-KEY": "planted-key", "X-Client-Secret": "planted-secret", "X-Hub-Signature-256": "planted-signature", "X-Db-Password": "planted-password",
	"X-Team": "billing",
}

// plantedQuery has a credential of each kind of parameter.
const plantedQuery = "?page=1&token=planted-url-token&api_key=planted-url-key&client_secret=planted-url-secret&password=planted-url-password&sig=planted-url-sig"

// repeater is a target that refuses every run and repeats all that it got.
type repeater struct {
	*httptest.Server
	got chan http.Header
}

func newRepeater(t *testing.T) *repeater {
	r := &repeater{got: make(chan http.Header, 64)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		got := req.Header.Clone()
		got.Set("Query", req.URL.RawQuery)
		r.got <- got
		rw.WriteHeader(http.StatusUnauthorized)
		for name := range plantedHeaders {
			_, _ = io.WriteString(rw, req.Header.Get(name)+" ")
		}
		_, _ = io.WriteString(rw, req.URL.String())
	}))
	t.Cleanup(r.Close)
	return r
}

// doors are the ways on which a server's data comes out, with what came out.
type doors struct {
	mu   sync.Mutex
	seen map[string][]string
}

func (d *doors) add(name, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = make(map[string][]string)
	}
	d.seen[name] = append(d.seen[name], text)
}

func (d *doors) count(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.seen[name])
}

// watch adds each message of a subject, headers included.
func (d *doors) watch(t *testing.T, nc *nats.Conn, name, subject string) {
	t.Helper()
	if _, err := nc.Subscribe(subject, func(m *nats.Msg) { d.add(name, fmt.Sprintf("%s %v %s", m.Subject, m.Header, m.Data)) }); err != nil {
		t.Fatal(err)
	}
}

// planted is a server with jobs that have a credential of each kind, and what came out of it.
type planted struct {
	t          *testing.T
	server     *server.Server
	nc         *nats.Conn
	client     *client.Client
	target     *repeater
	out        *doors
	log, spans *testkit.Buffer
	run        string // that died at the target
}

// startPlanted runs a server whose log says all that it can, and whose events and traces are on.
func startPlanted(t *testing.T) *planted {
	t.Helper()
	p := &planted{t: t, target: newRepeater(t), out: new(doors), log: new(testkit.Buffer), spans: new(testkit.Buffer)}
	collect := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(p.spans, r.Body) }))
	t.Cleanup(collect.Close)
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.Events, opts.Traces.Endpoint = true, collect.URL
	opts.Logger = slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if p.server, err = server.Start(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.server.Close(context.Background()) })
	p.nc, p.client = connect(t, p.server)
	p.out.watch(t, p.nc, "dead letters", "carillon.dead.>")
	p.out.watch(t, p.nc, "events", "carillon.events.>")
	return p
}

func (p *planted) put(j client.Job) {
	p.t.Helper()
	if _, _, err := p.client.Put(p.t.Context(), j); err != nil {
		p.t.Fatal(err)
	}
}

func (p *planted) trigger(name string) (run string) {
	p.t.Helper()
	r, err := p.client.Trigger(p.t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		p.t.Fatal(err)
	}
	return r.RunID
}

func (p *planted) hook() client.Job {
	return client.Job{
		Name: "hook", Schedule: "@yearly", Target: client.Target{Kind: "http", URL: p.target.URL + "/" + plantedQuery}, Headers: plantedHeaders,
		Retry: client.Retry{MaxAttempts: 2, InitialInterval: client.Duration(time.Millisecond), ClientErrors: true},
	}
}

func (p *planted) message(name string) client.Job {
	j := p.hook()
	j.Name, j.Target = name, client.Target{Kind: "request", Subject: "nobody.there"}
	return j
}

// live makes runs die, rotates the credentials of one job and deletes another.
func (p *planted) live() {
	p.t.Helper()
	for _, j := range []client.Job{p.hook(), p.message("message"), p.message("gone")} {
		p.put(j)
		if run := p.trigger(j.Name); j.Name == "hook" {
			p.run = run
		}
	}
	testkit.Until(p.t, "three dead letters", func() bool { return p.out.count("dead letters") == 3 })
	rotated := p.hook()
	rotated.Headers = map[string]string{"Authorization": "Bearer planted-rotated", "X-Team": "billing"}
	rotated.Target.URL = p.target.URL + "/?token=planted-rotated-url"
	p.put(rotated)
	if _, err := p.client.Delete(p.t.Context(), "gone"); err != nil {
		p.t.Fatal(err)
	}
}

// putAsShown puts a job as the server shows it: its target gets the credentials all the same.
func (p *planted) putAsShown() {
	p.t.Helper()
	shown, err := p.client.Get(p.t.Context(), "hook")
	if err != nil || !shown.CredentialsMasked {
		p.t.Fatalf("%+v, %v", shown, err)
	}
	shown.Description = "put as it is shown"
	p.put(shown.Job)
	for len(p.target.got) > 0 {
		<-p.target.got
	}
	p.trigger("hook")
	if got := <-p.target.got; got.Get("Authorization") != "Bearer planted-rotated" || got.Get("Query") != "token=planted-rotated-url" {
		p.t.Errorf("the target got %v", got)
	}
	testkit.Until(p.t, "four dead letters", func() bool { return p.out.count("dead letters") == 4 })
	testkit.Until(p.t, "events of all runs", func() bool { return p.out.count("events") >= 8 })
}

// askAll makes every request that reads something.
func (p *planted) askAll() {
	p.t.Helper()
	for name, request := range map[string]any{
		"jobs.get": client.GetRequest{Name: "message"}, "jobs.list": client.ListRequest{}, "jobs.put": p.message("message"),
		"runs.get": client.RunRequest{RunID: p.run}, "runs.list": client.RunListRequest{Status: "dead", Attempts: true},
		"audit.list": client.AuditRequest{}, "status": struct{}{},
		"jobs.pause": client.PauseRequest{Name: "message"}, "jobs.resume": client.PauseRequest{Name: "message"},
	} {
		body, err := json.Marshal(request)
		if err != nil {
			p.t.Fatal(err)
		}
		reply, err := p.nc.Request("carillon.v1.default."+name, body, 10*time.Second)
		if err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
		p.out.add(name, fmt.Sprintf("%v %s", reply.Header, reply.Data))
	}
	for _, path := range []string{
		"/api/v1/jobs", "/api/v1/jobs/hook", "/api/v1/jobs/hook/runs?attempts=true", "/api/v1/runs/" + p.run, "/api/v1/runs?status=dead", "/api/v1/audit",
		"/api/v1/status", "/metrics", "/", "/jobs", "/job?name=hook", "/job?name=message", "/job/edit?name=hook", "/runs", "/runs?job=hook",
		"/run?id=" + p.run, "/audit",
	} {
		p.out.add(path, readPage(p.t, p.server.Ready().HTTP+path))
	}
}

// TestNoDoorShowsCredentials plants a credential of each kind into jobs whose runs die at a target that repeats what it
// gets, rotates and deletes, and looks for them on every way out of the server: each has masks. The target has the
// credentials themselves, also after a job was put as it is shown.
func TestNoDoorShowsCredentials(t *testing.T) {
	p := startPlanted(t)
	p.live()
	p.putAsShown()
	p.askAll()
	if err := p.server.Close(t.Context()); err != nil {
		t.Error(err)
	}
	p.out.add("log", p.log.String())
	p.out.add("traces", p.spans.String())
	seen := p.out.seen
	for name, texts := range seen {
		if text := strings.Join(texts, "\n"); strings.Contains(text, "planted") {
			t.Errorf("%s shows a credential:\n%s", name, around(text, "planted"))
		}
	}
	for _, name := range []string{
		"dead letters", "events", "traces", "jobs.get", "jobs.list", "runs.get", "runs.list", "audit.list",
		"/api/v1/jobs/hook", "/api/v1/audit", "/job?name=hook", "/job/edit?name=hook", "/run?id=" + p.run, "/audit",
	} {
		if !strings.Contains(strings.Join(seen[name], ""), client.Mask) {
			t.Errorf("%s shows no mask:\n%.500s", name, strings.Join(seen[name], ""))
		}
	}
	if !strings.Contains(seen["audit.list"][0], client.Mask+"-changed") {
		t.Errorf("the audit log shows no change: %s", seen["audit.list"][0])
	}
	if !strings.Contains(seen["log"][0], "level=DEBUG") {
		t.Error("the log has no line for debugging")
	}
}

// readPage returns the headers and the body of an address.
func readPage(t *testing.T, address string) string {
	t.Helper()
	page := testkit.Get(t, address)
	return fmt.Sprintf("%v %s", page.Header, page.Body)
}

// around returns the text around a word.
func around(text, word string) string {
	i := strings.Index(text, word)
	return text[max(0, i-200):min(len(text), i+200)]
}
