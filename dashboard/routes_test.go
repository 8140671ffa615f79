package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/server"
)

// guard is a server with a file of rights.
type guard struct {
	*world
	table *access.Table
}

func newGuard(t *testing.T, roles []string) *guard {
	t.Helper()
	text := "tenants: {billing: }\nprincipals:\n  - {name: metrics, token_sha256: " + access.HashToken("metrics") + ", grants: [{role: metrics}]}\n"
	for _, role := range roles {
		text += fmt.Sprintf("  - {name: %s, token_sha256: %s, grants: [{tenant: billing, role: %s}]}\n", role, access.HashToken(role), role)
	}
	table, err := access.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "auth.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Version: "v9.9.9", Auth: path,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	hold := &http.Transport{ExpectContinueTimeout: time.Minute} // a body is sent if the server asks for it, and not before
	t.Cleanup(hold.CloseIdleConnections)
	client := &http.Client{Transport: hold, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &guard{&world{t: t, server: s, base: s.Ready().HTTP, http: client}, table}
}

// TestRightsOfPages walks the table of pages and actions as each role: who lacks the right is refused it, whatever there
// is, and however large the form would be; who has it gets past the rights.
func TestRightsOfPages(t *testing.T) {
	roles := []string{"viewer", "operator", "admin"}
	g := newGuard(t, roles)
	for route, verb := range dashboard.Needs() {
		method, path, _ := strings.Cut(route, " ")
		if verb != "everyone" && api.VerbNamed(verb) == nil && !slices.Contains(access.Verbs(), verb) {
			t.Fatalf("%s needs %q, which is no verb", route, verb)
		}
		for _, role := range append(roles, "", "metrics") {
			for what, size := range map[string]int{"a form": 40, "too large a form": 3 << 20} {
				if method == http.MethodGet && size > 40 {
					continue
				}
				got := g.open(method, path+"?tenant=billing&name=none&id=none", role, size)
				p := g.table.Principal(role)
				want := http.StatusForbidden
				switch {
				case verb == "everyone", p.Can(verb, "billing"):
					want = 0
				case role == "":
					want = http.StatusUnauthorized
				}
				isRefused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
				if isRefused != (want != 0) || want != 0 && got.status != want {
					t.Errorf("%s by %q with %s: %d %s; want %d", route, role, what, got.status, alertOf(got.body), want)
				}
				if want == 403 && role != "metrics" && api.VerbNamed(verb) != nil && !strings.Contains(alertOf(got.body), verb+" in the tenant billing") {
					t.Errorf("%s by %q with %s is refused with %s", route, role, what, alertOf(got.body))
				}
			}
		}
	}
}

// open asks as a principal, with a form of a size.
func (g *guard) open(method, path, token string, size int) answer {
	g.t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("name=none&id=none&json={}&p=" + strings.Repeat("x", size))
	}
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.base+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Expect", "100-continue")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := g.http.Do(req)
	if err != nil && size > 40 {
		// The server asked for the form, and ended the connection while it came: that was no refusal.
		return answer{status: http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		g.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return answer{reply.StatusCode, reply.Header, string(text)}
}

// TestNoNeedLetsNobodyIn: a page and an action that say no verb are for nobody, and so is a verb that does not exist.
func TestNoNeedLetsNobodyIn(t *testing.T) {
	g := newGuard(t, []string{"admin"})
	for _, verb := range []string{"", "jobs.nothing"} {
		dashboard.WithNeed(t, verb)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if got := g.open(method, "/needy?tenant=billing", "admin", 1); got.status != 403 && got.status != 500 || strings.Contains(got.body, "needy is shown") {
				t.Errorf("%s of a page that needs %q: %d %s", method, verb, got.status, got.body)
			}
		}
	}
}
