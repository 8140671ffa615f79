package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestNothingSecretComesOut runs a server and commands as processes with secrets of each kind, lets runs die, and looks for
// the secrets in all that comes out. The target, the collector and the store have what each must have.
func TestNothingSecretComesOut(t *testing.T) {
	testkit.NotUnderRace(t, manyCommands)
	t.Parallel()
	o := newOutlet(t)
	o.serve()
	letters := o.listens()
	jobs := o.write("jobs.jsonl", fmt.Sprintf(`{"name":"hook","schedule":"@yearly","target":{"kind":"http","url":"%s/x?token=%s","sign":{"secret":"default/key"}},"headers":{"Authorization":"Bearer %s","X-Auth-Token":"%s","X-Plain":{"secret":"default/plain"}},"retry":{"max_attempts":1}}
{"name":"hidden","schedule":"@yearly","target":{"kind":"http","url":{"secret":"default/url"}},"retry":{"max_attempts":1}}
`, o.target.URL, o.planted["query"], o.planted["Authorization"], o.planted["X-Auth-Token"]))
	bad := o.write("bad.jsonl", fmt.Sprintf(`{"name":"bad","schedule":"@yearly","target":{"kind":"http","url":"https://example.com"},"headers":{"Authorization":"%s\u0000"}}`, o.planted["refused header"]))
	ops := []string{"CARILLON_SERVER=" + o.ready.NATS, "CARILLON_TOKEN=" + o.planted["token of ops"]}
	o.must("import", ops, "", "import", jobs)
	o.mustNot("import of a bad job", ops, "import", bad)
	for _, name := range []string{"hook", "hidden"} {
		o.must("trigger", ops, "", "job", "trigger", name)
		o.hears(name)
		<-letters
	}
	o.commands(ops)
	o.requests()
	o.stop()
	o.compare()
}

// hears waits for what the target gets, which must have the secrets.
func (o *outlet) hears(name string) {
	o.t.Helper()
	got := testkit.Receive(o.t, o.got)
	want := []string{"Authorization", "X-Auth-Token", "query", "secret header"}
	if name == "hidden" {
		want = []string{"secret path"}
	} else if !strings.Contains(got, "Webhook-Signature") {
		o.t.Errorf("the request is not signed: %s", got)
	}
	for _, what := range want {
		if !strings.Contains(got, o.planted[what]) {
			o.t.Errorf("the target did not get the %s of %s: %s", what, name, got)
		}
	}
}

// listens adds events and dead letters, and tells of each dead letter.
func (o *outlet) listens() chan string {
	o.t.Helper()
	nc, err := nats.Connect(o.ready.NATS, nats.Token(o.planted["token of ops"]))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(nc.Close)
	letters := make(chan string, 16)
	for where, subject := range map[string]string{"dead letters": "carillon.dead.>", "events": "carillon.events.>"} {
		_, err := nc.Subscribe(subject, func(m *nats.Msg) {
			o.add(where, fmt.Sprintf("%s %v %s", m.Subject, m.Header, m.Data))
			if where == "dead letters" {
				letters <- string(m.Data)
			}
		})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		o.t.Fatal(err)
	}
	return letters
}

func (o *outlet) must(name string, env []string, in string, args ...string) string {
	o.t.Helper()
	text, err := o.run(name, env, in, args...)
	if err != nil {
		o.t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return text
}

func (o *outlet) mustNot(name string, env []string, args ...string) {
	o.t.Helper()
	if text, err := o.run(name, env, "", args...); err == nil {
		o.t.Errorf("%v succeeds: %s", args, text)
	}
}

// commands runs what prints something of jobs, runs, credentials and connections.
func (o *outlet) commands(ops []string) {
	o.t.Helper()
	auth := filepath.Join(o.dir, "auth.yaml")
	for _, line := range []string{
		"job get hook", "job get hook -o json", "job list -o json", "run list hook", "run list hook -o json", "audit -o json", "status", "status -o json", "export", "export -o yaml", "export --runs",
		"backup -o b.backup", "backup verify b.backup",
	} {
		o.must(line, ops, "", strings.Fields(line)...)
	}
	o.must("auth check", nil, "", "auth", "check", auth)
	o.must("auth can", nil, "", "auth", "can", "ops", "jobs.put", "--auth", auth)
	ca := "CARILLON_TLS_CA=" + filepath.Join(o.dir, "tls", "ca.crt")
	o.must("login", []string{ca}, o.planted["token of ops"], "login", "here", "--server", o.ready.HTTP)
	o.must("context show", nil, "", "context", "show", "here", "-o", "json")
	o.must("a command with a context", []string{ca}, "", "job", "list")
	o.mustNot("an unknown token", []string{"CARILLON_SERVER=" + o.ready.NATS, "CARILLON_TOKEN=" + o.planted["unknown token"], "CARILLON_TIMEOUT=5s"}, "job", "list")
	o.mustNot("a password", []string{"CARILLON_SERVER=" + strings.Replace(o.ready.NATS, "://", "://default:"+o.planted["password of NATS"]+"@", 1), "CARILLON_TIMEOUT=5s"}, "job", "list")
	o.mustNot("passwords of serve", []string{"CARILLON_NATS=nats://ann:" + o.planted["password of NATS"] + "@127.0.0.1:1", "CARILLON_CLUSTER_PASSWORD=" + o.planted["cluster password"]}, "serve", "--data", "other")
	if text, err := os.ReadFile(filepath.Join(o.dir, "config", "carillon", "context", "here.json")); err != nil || !strings.Contains(string(text), o.planted["token of ops"]) {
		o.t.Errorf("the context has no token: %v", err)
	}
}

// requests reads over HTTP and on the pages, by token and in a session, and makes requests that are refused.
func (o *outlet) requests() {
	o.t.Helper()
	cookie := ""
	send := func(token, method, path, body string) testkit.Reply {
		req, err := http.NewRequestWithContext(o.t.Context(), method, o.ready.HTTP+path, strings.NewReader(body))
		if err != nil {
			o.t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if path == "/sign-in" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else if cookie != "" {
			req.Header.Set("Cookie", cookie)
		}
		r := testkit.Do(o.t, o.http, req)
		if path != "/sign-in" {
			o.add(method+" "+path, fmt.Sprint(r.Header, r.Body))
		}
		return r
	}
	r := send("", "POST", "/sign-in", url.Values{"token": {o.planted["token of ops"]}, "next": {"/"}}.Encode())
	cookie, _, _ = strings.Cut(r.Header.Get("Set-Cookie"), ";")
	name, session, _ := strings.Cut(cookie, "=")
	if o.planted["session"] = session; name != "__Host-carillon" || len(session) < 20 {
		o.t.Fatalf("no session: %d %v", r.Status, r.Header)
	}
	for _, token := range []string{o.planted["token of ops"], o.planted["token of view"], "", o.planted["unknown token"]} {
		for _, path := range []string{"/api/v1/jobs/hook", "/api/v1/jobs", "/api/v1/runs?status=dead&attempts=true", "/api/v1/audit", "/api/v1/status", "/metrics", "/", "/jobs", "/job?name=hook", "/job/edit?name=hook", "/runs", "/audit"} {
			known := token != o.planted["unknown token"]
			if r := send(token, "GET", path, ""); known == (r.Status == http.StatusUnauthorized) {
				o.t.Errorf("%s: %d %.200s", path, r.Status, r.Body)
			}
		}
	}
	if r := send(o.planted["token of view"], "POST", "/api/v1/jobs/hook/trigger", ""); r.Status != http.StatusForbidden {
		o.t.Errorf("a viewer triggers: %d", r.Status)
	}
}

// compare looks for each secret in all that came out, and for those that must be there in the data and at the collector.
func (o *outlet) compare() {
	o.t.Helper()
	for _, where := range []string{"log", "events", "dead letters", "traces", "audit -o json", "export", "GET /metrics", "GET /job?name=hook", "command lines", "a password", "passwords of serve", "context show"} {
		if strings.TrimSpace(o.text(where)) == "" {
			o.t.Errorf("nothing came out as %s", where)
		}
	}
	for where, text := range o.seen {
		for what, value := range o.planted {
			if at := strings.Index(text, value); at >= 0 {
				o.t.Errorf("%s shows the %s:\n%s", where, what, text[max(0, at-300):min(len(text), at+100)])
			}
		}
	}
	data := o.data()
	for what, must := range map[string]bool{
		"Authorization": true, "X-Auth-Token": true, "query": true, "secret header": false, "signing key": false, "secret path": false, "token of ops": false, "token of view": false,
		"client secret": false, "headers of traces": false, "session": false, "a.key": false, "refused header": false,
	} {
		if strings.Contains(data, o.planted[what]) != must {
			o.t.Errorf("the data directory has the %s: %t, want %t", what, !must, must)
		}
	}
	if !strings.Contains(o.traced.String(), o.planted["headers of traces"]) {
		o.t.Error("the collector did not get its header")
	}
}
