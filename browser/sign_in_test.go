package browser

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/oidc/oidctest"
	"github.com/carillon-io/carillon/server"
)

// guarded starts a server with rights: a viewer and an operator of two tenants each, by token and by a group of the issuer.
func guarded(t *testing.T, issuer *oidctest.Issuer) (s *server.Server, rights string) {
	t.Helper()
	rights = filepath.Join(t.TempDir(), "auth.yaml")
	text := fmt.Sprintf("oidc: {issuer: %q, client_id: carillon}\ntenants: {billing: , shop: , other: }\nprincipals:\n", issuer.URL)
	for _, role := range []string{"viewer", "operator"} {
		text += fmt.Sprintf("  - {name: %[1]s, token_sha256: %[2]s, oidc_group: %[1]s, grants: [{tenant: billing, role: %[1]s}, {tenant: shop, role: %[1]s}]}\n", role, access.HashToken(role))
	}
	if err := os.WriteFile(rights, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Options{
		Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Auth: rights, Logger: slog.New(slog.DiscardHandler), Version: "v1.0.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, rights
}

// offered returns the condition that the tenants to choose from are these.
func offered(tenants string) string {
	return `[...document.querySelectorAll("#tenant option")].map(o => o.innerText).join(" ") === ` + quote(tenants)
}

// TestSignIn is a day of a reader: a wrong token, a good one, another tenant, and the way out; then the same by the issuer,
// until the rights end.
func TestSignIn(t *testing.T) {
	issuer := oidctest.Start(t)
	issuer.ByHand()
	s, rights := guarded(t, issuer)
	p := visitor(t, s.Ready().HTTP, issuer.URL)
	p.tab.Pardon("status of 401")

	// The page that was wanted comes after the sign-in.
	p.opens("/playground?schedule=@daily")
	p.sees(`location.pathname === "/sign-in"`)
	for _, eye := range []Eye{EyeContrast, EyeOverflow, EyeOrder} {
		p.inspects(eye)
	}
	p.types("token", "wrong")
	p.clicks("[data-action=sign-in]")
	p.reads("[role=alert]", "no principal of the file of rights has this token")
	p.types("token", "operator")
	p.clicks("[data-action=sign-in]")
	p.sees(`location.pathname === "/playground"`)
	p.reads("#reader", "token:operator")
	p.sees(offered("billing shop"))
	for _, view := range []View{Phone, {Width: 1280, Height: 800, Dark: true}, Desk} {
		p.must(p.tab.Look(view))
		for _, eye := range []Eye{EyeContrast, EyeOverflow, EyeOrder} {
			p.inspects(eye)
		}
	}

	// A job of one tenant is not in the other, and no script has the session.
	p.opens("/new?tenant=shop")
	p.types("name", "sweep")
	p.types("schedule", "@yearly")
	p.chooses("target_kind", "nats")
	p.types("target_address", "sweep")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.sees(`location.pathname === "/job"`)
	p.opens("/jobs?tenant=billing")
	p.sees(count("#jobs tr") + " === 0")
	p.must(p.tab.Choose("footer [name=tenant]", "shop"))
	p.clicks("[data-action=tenant]")
	p.sees(`new URLSearchParams(location.search).get("tenant") === "shop"`)
	p.sees(`document.cookie === ""`)
	p.opens("/jobs?tenant=shop")
	p.rows("#jobs tr[data-job=sweep]", 1)

	// Who has signed out comes in no more.
	p.clicks("[data-action=sign-out]")
	p.sees(`location.pathname === "/sign-in"`)
	p.opens("/jobs?tenant=shop")
	p.sees(`location.pathname === "/sign-in"`)

	// The issuer says who it is, and the page offers what a viewer may do.
	issuer.Person("alice", map[string]any{"groups": []string{"viewer"}})
	p.clicks("[data-action=issuer]")
	p.sees(`location.origin === ` + quote(issuer.URL))
	p.clicks("#go")
	p.sees(`location.pathname === "/jobs"`)
	p.reads("#reader", "oidc:alice")
	p.opens("/job?tenant=shop&name=sweep")
	p.reads("#status", "active")
	p.sees(count("[data-confirm]") + " === 0")
	if err := os.WriteFile(rights, []byte("principals: [{name: other, token_sha256: "+access.HashToken("other")+"}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.tab.Pardon("/live?page=%2Fjob") // the page that is open may ask once more before the next one opens
	s.Reload()
	p.opens("/job?tenant=shop&name=sweep")
	p.sees(`document.title.startsWith("Sign in")`)
}
