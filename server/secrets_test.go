package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
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

// secretKey is the planted key of a signature.
const secretKey = "whsec_cGxhbnRlZC1rZXktb2YtbW9yZS10aGFuLTI0LWJ5dGVz"

// secretive is a server with planted secrets, and what came out of it.
type secretive struct {
	t          *testing.T
	dir        string // of the secrets
	data       string
	server     *server.Server
	nc         *nats.Conn
	client     *client.Client
	target     *httptest.Server
	got        chan http.Header
	out        *doors
	log, spans *testkit.Buffer
}

// writeSecret writes a secret of a tenant.
func (s *secretive) writeSecret(ref, value string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	next := path + ".next"
	if err := os.WriteFile(next, []byte(value+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		s.t.Fatal(err)
	}
}

// startSecretive runs a server with secrets, whose log says all that it can, and whose events and traces are on. Its
// target refuses each run, and repeats all that it got.
func startSecretive(t *testing.T) *secretive {
	t.Helper()
	s := &secretive{t: t, dir: t.TempDir(), data: filepath.Join(t.TempDir(), "data"), got: make(chan http.Header, 64), out: new(doors), log: new(testkit.Buffer), spans: new(testkit.Buffer)}
	s.target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		h.Set("Path", r.URL.String())
		body, _ := io.ReadAll(r.Body)
		h.Set("Body", string(body))
		s.got <- h
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Plain"))
	}))
	t.Cleanup(s.target.Close)
	collect := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(s.spans, r.Body) }))
	t.Cleanup(collect.Close)
	opts := options(s.data)
	opts.Events, opts.Traces.Endpoint, opts.SecretsDir = true, collect.URL, s.dir
	opts.Logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if s.server, err = server.Start(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.server.Close(context.Background()) })
	s.nc, s.client = connect(t, s.server)
	s.out.watch(t, s.nc, "dead letters", "carillon.dead.>")
	s.out.watch(t, s.nc, "events", "carillon.events.>")
	return s
}

// hook is a job with a reference in each place.
func (s *secretive) hook() client.Job {
	return client.Job{
		Name: "hook", Schedule: "@yearly",
		Target:  client.Target{Kind: "http", URLSecret: client.Secret{Name: "default/url"}, Sign: client.Secret{Name: "default/key"}},
		Headers: client.Headers{"Authorization": client.Secret{Name: "default/auth"}.Header(), "X-Plain": client.Secret{Name: "default/plain"}.Header()},
		Payload: json.RawMessage(`{"a":1}`),
		Retry:   client.Retry{MaxAttempts: 2, InitialInterval: client.Duration(time.Millisecond), ClientErrors: true},
	}
}

// plant writes the secrets of a round. None of the words is in a reference.
func (s *secretive) plant(round string) {
	s.writeSecret("default/url", s.target.URL+"/planted-path-"+round+"?code=planted-query-"+round)
	s.writeSecret("default/auth", "Bearer planted-auth-"+round)
	s.writeSecret("default/plain", "planted-plain-"+round)
	s.writeSecret("default/key", secretKey)
}

// fire triggers the job and returns what the target got, of the first attempt.
func (s *secretive) fire() (run string, got http.Header) {
	s.t.Helper()
	for len(s.got) > 0 {
		<-s.got
	}
	r, err := s.client.Trigger(s.t.Context(), client.TriggerRequest{Name: "hook"})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.RunID, testkit.Receive(s.t, s.got)
}

// askAll makes the requests that read something.
func (s *secretive) askAll(run string) {
	s.t.Helper()
	for name, request := range map[string]any{
		"jobs.get": client.GetRequest{Name: "hook", WithCredentials: true}, "jobs.list": client.ListRequest{WithCredentials: true},
		"runs.get": client.RunRequest{RunID: run}, "runs.list": client.RunListRequest{Status: "dead", Attempts: true}, "audit.list": client.AuditRequest{},
	} {
		body, err := json.Marshal(request)
		if err != nil {
			s.t.Fatal(err)
		}
		reply, err := s.nc.Request("carillon.v1.default."+name, body, 10*time.Second)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		s.out.add(name, fmt.Sprintf("%v %s", reply.Header, reply.Data))
	}
	for _, path := range []string{"/api/v1/jobs/hook", "/api/v1/audit", "/api/v1/runs/" + run, "/metrics", "/jobs", "/job?name=hook", "/job/edit?name=hook", "/run?id=" + run, "/audit"} {
		s.out.add(path, readPage(s.t, s.server.Ready().HTTP+path))
	}
}

// addFiles adds the bytes of every file of the data directory: the log, the store and the streams.
func (s *secretive) addFiles() {
	s.t.Helper()
	err := filepath.WalkDir(s.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		s.out.add("data", string(b))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestNothingShowsSecrets plants a secret in each place where a job can name one, lets its runs die at a target that
// repeats what it gets, rotates the secrets, and looks for them on every way out of the server and in every file of
// it. Each has the references, and the target has the values, the new ones after the rotation.
func TestNothingShowsSecrets(t *testing.T) {
	s := startSecretive(t)
	if _, _, err := s.client.Put(t.Context(), s.hook()); err != nil {
		t.Fatal(err)
	}
	verifier, err := client.NewWebhookVerifier(secretKey)
	if err != nil {
		t.Fatal(err)
	}
	run := ""
	for n, round := range []string{"one", "two"} {
		s.plant(round)
		var got http.Header
		run, got = s.fire()
		if got.Get("Authorization") != "Bearer planted-auth-"+round || got.Get("X-Plain") != "planted-plain-"+round || got.Get("Path") != "/planted-path-"+round+"?code=planted-query-"+round {
			t.Errorf("the target got %v", got)
		}
		if err := verifier.Verify(got, []byte(got.Get("Body"))); err != nil || got.Get("Webhook-Id") != run {
			t.Errorf("the signature: %v: %v", err, got)
		}
		testkit.Until(t, "dead letter", func() bool { return s.out.count("dead letters") == n+1 })
	}
	shown, err := s.client.Get(t.Context(), "hook")
	if err != nil || shown.CredentialsMasked {
		t.Fatalf("%+v, %v", shown, err)
	}
	shown.Description = "put as it is shown"
	if _, _, err := s.client.Put(t.Context(), shown.Job); err != nil {
		t.Fatal(err)
	}
	s.askAll(run)
	if err := s.server.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s.addFiles()
	s.out.add("log", s.log.String())
	s.out.add("traces", s.spans.String())
	for name, texts := range s.out.seen {
		text := strings.Join(texts, "\n")
		for _, word := range []string{"planted", strings.TrimPrefix(secretKey, "whsec_"), strings.TrimPrefix(s.target.URL, "http://")} {
			if strings.Contains(text, word) {
				t.Errorf("%s shows %s:\n%s", name, word, around(text, word))
			}
		}
	}
	for _, name := range []string{"dead letters", "jobs.get", "jobs.list", "audit.list", "/api/v1/jobs/hook", "/job?name=hook", "/job/edit?name=hook", "data"} {
		if !strings.Contains(strings.Join(s.out.seen[name], ""), "default/auth") {
			t.Errorf("%s has no reference:\n%.800s", name, strings.Join(s.out.seen[name], ""))
		}
	}
}

// TestMissingSecret: the attempt fails with the name of the secret and is retried; once the file is there, it succeeds
// with it.
func TestMissingSecret(t *testing.T) {
	s := startSecretive(t)
	j := s.hook()
	j.Retry = client.Retry{MaxAttempts: 100, InitialInterval: client.Duration(time.Millisecond), Multiplier: 1}
	if _, _, err := s.client.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	r, err := s.client.Trigger(t.Context(), client.TriggerRequest{Name: "hook"})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "a second attempt", func() bool {
		run, err := s.client.Run(t.Context(), r.RunID)
		return err == nil && run.Attempt > 1
	})
	s.plant("late")
	if got := testkit.Receive(t, s.got); got.Get("Authorization") != "Bearer planted-auth-late" {
		t.Errorf("the target got %v", got)
	}
	testkit.Until(t, "the end of the run", func() bool {
		run, err := s.client.Run(t.Context(), r.RunID)
		return err == nil && run.Status == "dead" && len(run.Attempts) > 0 && strings.Contains(run.Attempts[0].Error, "secret default/")
	})
}

// TestReportsShowNoSecret: a worker's text that repeats a secret is masked as well.
func TestReportsShowNoSecret(t *testing.T) {
	s := startSecretive(t)
	s.plant("one")
	accepting := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.got <- r.Header.Clone() }))
	t.Cleanup(accepting.Close)
	j := s.hook()
	j.Completion, j.Retry.MaxAttempts = "reported", 1
	j.Target.URL, j.Target.URLSecret = accepting.URL, client.Secret{}
	if _, _, err := s.client.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	run, got := s.fire()
	var fence uint64
	if _, err := fmt.Sscan(got.Get("Carillon-Fence"), &fence); err != nil {
		t.Fatal(err)
	}
	report := client.ReportRequest{RunID: run, Fence: fence, Status: "failed", Error: "who is planted-auth-one?"}
	testkit.Until(t, "the report is accepted", func() bool {
		_, err := s.client.Report(t.Context(), report)
		return err == nil
	})
	ended, err := s.client.Run(t.Context(), run)
	if err != nil || strings.Contains(ended.Error, "planted") || !strings.Contains(ended.Error, "who is "+client.Mask) {
		t.Errorf("%+v, %v", ended, err)
	}
}

// TestSecretsAreRefused: without a directory of secrets, and of other tenants. A directory that cannot be used ends
// the start.
func TestSecretsAreRefused(t *testing.T) {
	plain := start(t, filepath.Join(t.TempDir(), "data"))
	_, c := connect(t, plain)
	j := client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "http", URL: "https://example.com", Sign: client.Secret{Name: "default/key"}}}
	if _, _, err := c.Put(t.Context(), j); err == nil || !strings.Contains(err.Error(), "target.sign") || !strings.Contains(err.Error(), "--secrets-dir") {
		t.Errorf("without a directory: %v", err)
	}
	j.Target.Sign.Name = "crm/key"
	if _, _, err := c.Put(t.Context(), j); err == nil || !strings.Contains(err.Error(), "another tenant") {
		t.Errorf("of another tenant: %v", err)
	}
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.SecretsDir = filepath.Join(t.TempDir(), "missing")
	if s, err := server.Start(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "secrets:") {
		t.Errorf("a start without the directory: %v, %v", s, err)
	}
	if _, err := os.Stat(opts.Dir); err == nil {
		t.Error("the start made a data directory")
	}
}
