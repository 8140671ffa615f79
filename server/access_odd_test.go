package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestOddCredentials: what is not one bearer token is no credential, and a body of a refused request is not read.
func TestOddCredentials(t *testing.T) {
	g := startGuarded(t)
	for _, lines := range [][]string{
		{}, {""}, {"Bearer"}, {"Bearer "}, {"Basic YWRtaW46YWRtaW4="}, {"admin"}, {"Bearer admin", "Bearer admin"}, {"Bearer unknown", "Bearer admin"},
		{"Bearer admin admin"}, {"Bearer " + access.HashToken("admin")}, {"Token admin"}, {"Bearer admin,Bearer viewer"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", g.Ready().HTTP+"/api/v1/jobs?tenant=billing", &endless{t})
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Authorization"] = lines
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Expect", "100-continue") // a server that reads the body asks for it
		client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 10 * time.Second}}
		if r := testkit.Do(t, client, req); r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d %s", lines, r.Status, r.Body)
		}
	}
	if r := g.ask("", "GET", "/api/v1/jobs?tenant=billing", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("without a header: %d", r.Status)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "GET", g.Ready().HTTP+"/api/v1/jobs?tenant=billing", nil)
	req.Header.Set("Authorization", "bearer viewer")
	if r := testkit.Do(t, http.DefaultClient, req); r.Status != http.StatusOK {
		t.Errorf("the scheme in small letters: %d", r.Status)
	}
}

// endless is a body that must not be read.
type endless struct{ t *testing.T }

func (e *endless) Read(p []byte) (int, error) {
	e.t.Error("the body of a refused request is read")
	return 0, io.EOF
}

// startEcho starts a target that refuses each request, and repeats it in its answer.
func startEcho(t *testing.T) *httptest.Server {
	target := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		rw.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(rw, "uri=%s plain=%s body=%s", req.RequestURI, req.Header.Get("X-Plain"), body)
	}))
	t.Cleanup(target.Close)
	return target
}

// TestRightsTellNothing: a refusal is the same whether the job exists or not, and viewers see masks, also if the target
// repeats what it got.
func TestRightsTellNothing(t *testing.T) {
	g := startGuarded(t)
	job := `{"schedule":"@yearly","target":{"kind":"http","url":"` + startEcho(t).URL + `/planted-path?q=planted-query"},"headers":{"X-Plain":"planted-plain","X-Auth-Token":"hidden-token"},"payload":{"p":"planted-payload"},"retry":{"max_attempts":1},"pause_on_failure":1}`
	if r := g.ask("operator", "PUT", "/api/v1/jobs/secret", job); r.Status != http.StatusCreated {
		t.Fatalf("put: %d %s", r.Status, r.Body)
	}
	for _, m := range []struct{ caller, method, path string }{{"stranger", "GET", ""}, {"viewer", "POST", "/pause"}, {"operator", "DELETE", ""}} {
		there, away := g.ask(m.caller, m.method, "/api/v1/jobs/secret"+m.path, ""), g.ask(m.caller, m.method, "/api/v1/jobs/nothing"+m.path, "")
		if there.Status != http.StatusForbidden || there.Body != away.Body || there.Status != away.Status {
			t.Errorf("%s by %s: %s of a job that is there, %s of another", m.method, m.caller, there.Body, away.Body)
		}
	}
	if r := g.ask("operator", "POST", "/api/v1/jobs/secret/trigger", "{}"); r.Status != http.StatusOK {
		t.Fatalf("trigger: %d %s", r.Status, r.Body)
	}
	testkit.Until(t, "the run is dead", func() bool {
		return strings.Contains(g.ask("viewer", "GET", "/api/v1/jobs/secret/runs", "").Body, `"dead"`)
	})
	const paused = `"status_reason":"1 runs in a row failed; the last: HTTP 500: `
	testkit.Until(t, "the job is paused", func() bool {
		return strings.Contains(g.ask("viewer", "GET", "/api/v1/jobs/secret", "").Body, paused+`********"`)
	})
	if body := g.ask("operator", "GET", "/api/v1/jobs/secret", "").Body; !strings.Contains(body, paused) || strings.Contains(body, paused+`********"`) {
		t.Errorf("an operator sees as the reason of the pause %s", body)
	}
	for _, path := range []string{
		"/api/v1/jobs/secret", "/api/v1/jobs", "/api/v1/audit", "/api/v1/jobs/secret/runs?attempts=true", "/api/v1/runs?status=dead&attempts=true",
		"/job?tenant=billing&name=secret", "/jobs?tenant=billing", "/audit?tenant=billing", "/runs?tenant=billing",
	} {
		if r := g.ask("viewer", "GET", path, ""); r.Status != http.StatusOK || strings.Contains(r.Body, "planted") || strings.Contains(r.Body, "hidden-token") {
			t.Errorf("%s shows a viewer %d %s", path, r.Status, r.Body)
		}
	}
	const runs = "/api/v1/jobs/secret/runs?attempts=true"
	if body := g.ask("viewer", "GET", runs, "").Body; strings.Count(body, `"HTTP 500: ********"`) != 2 {
		t.Errorf("a viewer sees of errors %s", body)
	}
	if body := g.ask("operator", "GET", runs, "").Body; !strings.Contains(body, "plain=planted-plain") {
		t.Errorf("an operator sees of errors %s", body)
	}
	for _, path := range []string{"/job/edit?tenant=billing&name=secret", "/new?tenant=billing"} {
		if r := g.ask("viewer", "GET", path, ""); r.Status != http.StatusForbidden || strings.Contains(r.Body, "planted") || !strings.Contains(r.Body, "may not use jobs.put in the tenant billing") {
			t.Errorf("%s shows a viewer %d %s", path, r.Status, r.Body)
		}
	}
	if body := g.ask("operator", "GET", "/api/v1/jobs/secret", "").Body; !strings.Contains(body, "planted-plain") || !strings.Contains(body, "planted-payload") || strings.Contains(body, "hidden-token") {
		t.Errorf("an operator sees %s", body)
	}
	if body := g.ask("admin", "GET", "/api/v1/jobs/secret?with_credentials=true", "").Body; !strings.Contains(body, "hidden-token") {
		t.Errorf("an admin sees %s", body)
	}
	var log client.AuditPage
	if err := json.Unmarshal([]byte(g.ask("viewer", "GET", "/api/v1/audit", "").Body), &log); err != nil || len(log.Entries) != 3 || log.Entries[2].By != "token:operator" || strings.Contains(fmt.Sprint(log), "planted") {
		t.Errorf("the audit log is %+v, %v", log, err)
	}
}

// TestKeysOverNATS: a key counts with a signature, and a client whose rights end is disconnected.
func TestKeysOverNATS(t *testing.T) {
	g := startGuarded(t)
	public, _ := g.key.PublicKey()
	other, _ := nkeys.CreateUser()
	signs := func(pair nkeys.KeyPair) nats.Option { return nats.Nkey(public, pair.Sign) }
	if nc, err := nats.Connect(g.NATS(), signs(other)); err == nil {
		nc.Close()
		t.Error("a key with the signature of another is admitted")
	}
	keyed, err := nats.Connect(g.NATS(), signs(g.key))
	if err != nil {
		t.Fatal(err)
	}
	defer keyed.Close()
	gone := make(chan error, 1)
	token, err := nats.Connect(g.NATS(), nats.Token("cluster"), nats.NoReconnect(), nats.ClosedHandler(func(nc *nats.Conn) { gone <- nc.LastError() }))
	if err != nil {
		t.Fatal(err)
	}
	defer token.Close()
	g.write("viewer")
	g.Reload()
	testkit.Receive(t, gone)
	if _, err := keyed.RTT(); err != nil {
		t.Errorf("a client whose rights stay: %v", err)
	}
	if r := g.ask("operator", "GET", "/api/v1/jobs", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("a token that is removed: %d", r.Status)
	}
	if err := os.WriteFile(g.path, []byte("principals: [{nam: x}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Reload()
	if body := g.ask("viewer", "GET", "/api/v1/status", "").Body; !strings.Contains(body, "the file of rights is bad") || strings.Contains(body, g.path) {
		t.Errorf("the status has no warning of a bad file: %s", body)
	}
}
