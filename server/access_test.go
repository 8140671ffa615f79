package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// NATS returns the URL of the embedded server.
func (g *guarded) NATS() string { return g.Ready().NATS }

// TestRightsOfPaths: what is no verb: probes are open, figures need a role.
func TestRightsOfPaths(t *testing.T) {
	g := startGuarded(t)
	for path, may := range map[string]string{
		"/healthz": "all", "/readyz": "all", "/api/v1/openapi.json": "all", "/docs": "all", "/metrics": "metrics cluster",
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
	if !strings.Contains(text, "\ncarillon_auth_principals 7\n") || !strings.Contains(text, "\ncarillon_auth_tenants 2\n") || !strings.Contains(text, "\ncarillon_auth_file_read_timestamp_seconds 1.") {
		t.Error("the metrics do not say what is in force")
	}
}

// TestRightsOfNobody: a server with an embedded NATS server does not start with a file without principals, and keeps what is in
// force when the file becomes one.
func TestRightsOfNobody(t *testing.T) {
	g := startGuarded(t)
	nobody := []byte("tenants: {billing: }\n")
	if err := os.WriteFile(g.path, nobody, 0o600); err != nil {
		t.Fatal(err)
	}
	g.Reload()
	if r := g.ask("viewer", http.MethodGet, "/api/v1/jobs", ""); r.Status != http.StatusOK {
		t.Errorf("a viewer of the file that was in force got %d", r.Status)
	}
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = g.path
	_, err := server.Start(t.Context(), o)
	testkit.Refuses(t, err, "auth.yaml: the file has no principals")
}
