package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/oidc/oidctest"
	"github.com/carillon-io/carillon/testkit"
)

// TestPersonsInACluster: a person of the issuer who is as many principals as one may be, with the longest names, changes
// something through each node; the leader decides by its own file.
func TestPersonsInACluster(t *testing.T) {
	t.Parallel()
	issuer := oidctest.Start(t)
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text, groups := fmt.Sprintf("oidc: {issuer: %q, client_id: carillon}\nprincipals:\n", issuer.URL), []string{}
	for i := range 30 {
		role := "viewer"
		if i == 29 {
			role = "operator"
		}
		group := fmt.Sprintf("g%02d", i)
		text += fmt.Sprintf("  - {name: %s%s, oidc_group: %s, grants: [{tenant: default, role: %s}]}\n", group, strings.Repeat("x", 61), group, role)
		groups = append(groups, group)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := nodeOptions(t, 3)
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	ask := func(s *Server, method, path, body string, groups any) testkit.Reply {
		t.Helper()
		return onceLed(t, func() testkit.Reply {
			req, err := http.NewRequestWithContext(t.Context(), method, s.Ready().HTTP+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer "+issuer.Token(t, strings.Repeat("é", 60), map[string]any{"groups": groups}))
			return testkit.Do(t, http.DefaultClient, req)
		})
	}
	for _, s := range servers {
		name := "/api/v1/jobs/of-" + s.opts.Node
		const job = `{"schedule":"@yearly","target":{"kind":"nats","subject":"a"}}`
		if r := ask(s, http.MethodPut, name, job, groups); r.Status != http.StatusCreated {
			t.Errorf("a change at %s: %d %s", s.opts.Node, r.Status, r.Body)
		}
		if r := ask(s, http.MethodPut, name, job, groups[:29]); r.Status != http.StatusForbidden || !strings.Contains(r.Body, "oidc:é") {
			t.Errorf("a change at %s without the right: %d %s", s.opts.Node, r.Status, r.Body)
		}
	}
	if r := ask(servers[0], http.MethodGet, "/api/v1/audit", "", groups); strings.Count(r.Body, `"by":"oidc:`+strings.Repeat("é", 60)+`"`) != 3 {
		t.Errorf("the audit log: %s", r.Body)
	}
}
