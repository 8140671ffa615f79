package server_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// guarded is a server with a principal of each role in the tenant billing. The token of each is its name.
type guarded struct {
	t    *testing.T
	path string // of the file of rights
	key  nkeys.KeyPair
	*server.Server
}

// rank orders the roles of a tenant; a verb may be used from its rank on.
var rank = map[string]int{"viewer": 1, "operator": 2, "admin": 3, "cluster": 4}

// callers are the principals of the matrix; "" and "unknown" are none.
var callers = []string{"", "unknown", "metrics", "stranger", "viewer", "operator", "admin", "cluster"}

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{t: t, path: filepath.Join(t.TempDir(), "auth.yaml")}
	var err error
	if g.key, err = nkeys.CreateUser(); err != nil {
		t.Fatal(err)
	}
	g.write(callers[2:]...)
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = g.path
	g.Server = startWith(t, o)
	return g
}

// write writes the file of rights with some of the principals.
func (g *guarded) write(names ...string) {
	g.t.Helper()
	public, err := g.key.PublicKey()
	if err != nil {
		g.t.Fatal(err)
	}
	text := "tenants: {billing: }\nprincipals:\n  - {name: keyed, nkey: " + public + ", grants: [{tenant: \"*\", role: admin}]}\n"
	for _, name := range names {
		grant := map[string]string{"metrics": "role: metrics", "stranger": "tenant: default, role: admin", "cluster": `tenant: "*", role: admin`}[name]
		if grant == "" {
			grant = "tenant: billing, role: " + name
		}
		text += "  - {name: " + name + ", token_sha256: " + access.HashToken(name) + ", grants: [{" + grant + "}]}\n"
	}
	if err := os.WriteFile(g.path+".new", []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(g.path+".new", g.path); err != nil {
		g.t.Fatal(err)
	}
}

// ask sends a request for the tenant billing with the token of a caller.
func (g *guarded) ask(caller, method, path, body string) testkit.Reply {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.Ready().HTTP+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	switch {
	case strings.HasPrefix(path, "/api/"):
		req.Header.Set("Carillon-Tenant", "billing")
		req.Header.Set("Content-Type", "application/json")
	case method == http.MethodPost:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if caller != "" {
		req.Header.Set("Authorization", "Bearer "+caller)
	}
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return testkit.Do(g.t, once, req)
}

// matrix has each verb with the least role for it, a path of HTTP, and a page that needs it; "": no page does.
var matrix = []struct{ verb, role, method, path, page string }{
	{"jobs.get", "viewer", "GET", "jobs/a", "GET /job?tenant=billing&name=a"},
	{"jobs.list", "viewer", "GET", "jobs", "GET /jobs?tenant=billing"},
	{"runs.get", "viewer", "GET", "runs/x", "GET /run?tenant=billing&id=x"},
	{"runs.list", "viewer", "GET", "runs?status=dead", "GET /runs?tenant=billing"},
	{"calendars.get", "viewer", "GET", "calendars/a", ""},
	{"calendars.list", "viewer", "GET", "calendars", ""},
	{"audit.list", "viewer", "GET", "audit", "GET /audit?tenant=billing"},
	{"schedules.next", "viewer", "GET", "schedules/next?schedule=@daily", "GET /playground?tenant=billing&schedule=@daily"},
	{"jobs.put", "operator", "PUT", "jobs/a", ""},
	{"jobs.put_many", "operator", "POST", "jobs/bulk", ""},
	{"jobs.pause", "operator", "POST", "jobs/a/pause", "POST /job/pause?tenant=billing"},
	{"jobs.resume", "operator", "POST", "jobs/a/resume", "POST /job/resume?tenant=billing"},
	{"jobs.trigger", "operator", "POST", "jobs/a/trigger", "POST /job/trigger?tenant=billing"},
	{"jobs.backfill", "operator", "POST", "jobs/a/backfill", ""},
	{"runs.report", "operator", "POST", "runs/x/report", ""},
	{"runs.extend", "operator", "POST", "runs/x/extend", ""},
	{"runs.cancel", "operator", "POST", "runs/x/cancel", "POST /run/cancel?tenant=billing"},
	{"runs.retry", "operator", "POST", "runs/x/retry", "POST /run/retry?tenant=billing"},
	{"runs.retry_many", "operator", "POST", "runs/retry", "POST /runs/retry?tenant=billing"},
	{"jobs.delete", "admin", "DELETE", "jobs/a", "POST /job/delete?tenant=billing"},
	{"calendars.put", "admin", "PUT", "calendars/a", ""},
	{"calendars.delete", "admin", "DELETE", "calendars/a", ""},
	{"credentials.read", "admin", "GET", "jobs?with_credentials=true", ""},
}

// outcome returns what a request without the right is refused with; 0 if it is not.
func outcome(status int) int {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return status
	}
	return 0
}

// wanted is the outcome for a caller of a verb that needs a role.
func wanted(caller, role string) int {
	switch {
	case caller == "" || caller == "unknown":
		return http.StatusUnauthorized
	case rank[caller] >= rank[role]:
		return 0
	}
	return http.StatusForbidden
}

// TestRightsMatrix tries each role at each verb, over HTTP, on the pages and over NATS.
func TestRightsMatrix(t *testing.T) {
	g := startGuarded(t)
	covered := map[string]bool{"status": true, "metrics": true, "backup": true, "restore": true, "handover": true, "nodes": true, "shards": true}
	for _, m := range matrix {
		covered[m.verb] = true
		for _, caller := range callers {
			want := wanted(caller, m.role)
			r := g.ask(caller, m.method, "/api/v1/"+m.path, "")
			if got := outcome(r.Status); got != want || r.Status >= 500 {
				t.Errorf("%s by %q over HTTP: %d %s; want %d", m.verb, caller, r.Status, r.Body, want)
			}
			// Who asks for credentials without even the right to read is refused that.
			if want == http.StatusForbidden && (!strings.Contains(r.Body, m.verb) && m.verb != "credentials.read" || !strings.Contains(r.Body, "billing")) {
				t.Errorf("%s by %q is refused with %s", m.verb, caller, r.Body)
			}
			if want == http.StatusUnauthorized && r.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s by %q is refused with %v", m.verb, caller, r.Header)
			}
			if m.page == "" {
				continue
			}
			method, path, _ := strings.Cut(m.page, " ")
			if r := g.ask(caller, method, path, "name=a&id=x"); outcome(r.Status) != want {
				t.Errorf("%s by %q at %s: %d; want %d", m.verb, caller, m.page, r.Status, want)
			}
		}
	}
	for _, verb := range access.Verbs() {
		if !covered[verb] {
			t.Errorf("the matrix does not have %s", verb)
		}
	}
	for _, caller := range callers {
		g.matrixOverNATS(caller)
	}
}

// matrixOverNATS tries a caller at each verb over the embedded NATS server. A caller with a role in a tenant may connect.
func (g *guarded) matrixOverNATS(caller string) {
	nc, err := nats.Connect(g.NATS(), nats.Token(caller))
	if has := rank[caller] > 0 || caller == "stranger"; (err == nil) != has || err != nil && !errors.Is(err, nats.ErrAuthorization) {
		g.t.Errorf("%q connects to NATS: %v", caller, err)
	}
	if err != nil {
		return
	}
	defer nc.Close()
	for _, m := range matrix {
		if m.verb == "credentials.read" {
			continue
		}
		reply, err := nc.Request("carillon.v1.billing."+m.verb, nil, 10*time.Second)
		if caller == "stranger" {
			if !errors.Is(err, nats.ErrNoResponders) {
				g.t.Errorf("%s over NATS in a tenant of others: %v", m.verb, err)
			}
			continue
		}
		isRefused := err == nil && bytes.Contains(reply.Data, []byte(`"forbidden"`)) && bytes.Contains(reply.Data, []byte(m.verb))
		if err != nil || bytes.Contains(reply.Data, []byte(`"unauthenticated"`)) || isRefused != (wanted(caller, m.role) == http.StatusForbidden) {
			g.t.Errorf("%s by %q over NATS: %v", m.verb, caller, err)
			if err == nil {
				g.t.Errorf("the reply is %s", reply.Data)
			}
		}
	}
}

// NATS returns the URL of the embedded server.
func (g *guarded) NATS() string { return g.Ready().NATS }

// TestRightsOfPaths: what is no verb: probes are open, figures need a role.
func TestRightsOfPaths(t *testing.T) {
	g := startGuarded(t)
	for path, may := range map[string]string{
		"/healthz": "all", "/readyz": "all", "/api/v1/openapi.json": "all", "/metrics": "metrics cluster",
		"/api/v1/status": "stranger viewer operator admin cluster", "/": "stranger viewer operator admin cluster",
		"/live?page=/": "",
	} {
		for _, caller := range callers {
			if path == "/live?page=/" && wanted(caller, "") == 0 {
				continue // it would stay open
			}
			want := 0
			if may != "all" && (caller == "" || !strings.Contains(" "+may+" ", " "+caller+" ")) {
				want = http.StatusForbidden
				if wanted(caller, "viewer") == http.StatusUnauthorized {
					want = http.StatusUnauthorized
				}
			}
			if path == "/live?page=/" && want != http.StatusUnauthorized {
				continue
			}
			if r := g.ask(caller, "GET", path, ""); outcome(r.Status) != want {
				t.Errorf("%s by %q: %d %s; want %d", path, caller, r.Status, r.Body, want)
			}
		}
	}
	text := g.ask("metrics", "GET", "/metrics", "").Body
	if !strings.Contains(text, `carillon_auth_refused_total{reason="unauthenticated"}`) || strings.Contains(text, `carillon_auth_refused_total{reason="forbidden"} 0`) {
		t.Error("the metrics do not have the refusals")
	}
}
