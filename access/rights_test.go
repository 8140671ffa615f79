package access

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// rights is a file with a principal of each role, whose token is the name.
func rights(t testing.TB) *Table {
	t.Helper()
	var b strings.Builder
	b.WriteString("tenants: {billing: }\nprincipals:\n")
	for name, grant := range map[string]string{
		"metrics": "role: metrics", "viewer": "tenant: billing, role: viewer", "operator": "tenant: billing, role: operator",
		"admin": "tenant: billing, role: admin", "all": `tenant: "*", role: admin`, "views": `tenant: "*", role: viewer`,
		"both": "tenant: billing, role: admin}, {tenant: billing, role: viewer",
	} {
		b.WriteString("  - {name: " + name + ", token_sha256: " + HashToken(name) + ", grants: [{" + grant + "}]}\n")
	}
	b.WriteString("  - {name: nothing, token_sha256: " + HashToken("nothing") + "}\n")
	table, err := Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// mayUse says for the principals of rights who may use a verb.
func mayUse(name string, n need, tenant string) bool {
	own := tenant == "billing"
	switch {
	case name == "all", n.known:
		return true
	case n.cluster || name == "nothing":
		return false
	case n.anywhere:
		return name != "nothing" && name != "metrics"
	case n.role == Metrics:
		return name == "metrics" || name == "views"
	case name == "views":
		return n.role == Viewer
	case name == "metrics" || !own:
		return false
	}
	return map[string]Role{"viewer": Viewer, "operator": Operator, "admin": Admin, "both": Admin}[name] >= n.role
}

// TestRoles asks for each role, verb and tenant.
func TestRoles(t *testing.T) {
	table := rights(t)
	k := &Keeper{logger: slog.New(slog.DiscardHandler)}
	k.table.Store(table)
	for name, p := range table.byName {
		for _, verb := range Verbs() {
			for _, tenant := range []string{"billing", "default", "unlisted", AnyTenant} {
				want := mayUse(name, needs[verb], tenant)
				err := k.Authorize(table.WhoseToken(name), tenant, verb)
				if got := p.Can(verb, tenant); got != want || (err == nil) != want {
					t.Errorf("%s, %s in %s: %t, %v; want %t", name, verb, tenant, got, err, want)
				}
			}
		}
		if p.Can("jobs.explode", "billing") {
			t.Errorf("%s may use a verb that does not exist", name)
		}
		if err := k.Authorize(table.WhoseToken(name), "", "status"); (err == nil) != (name != "nothing" && name != "metrics") {
			t.Errorf("the status for %s: %v", name, err)
		}
	}
}

// TestRefusals: a refusal says the verb and the tenant, is counted, and is logged at a bounded rate.
func TestRefusals(t *testing.T) {
	var log strings.Builder
	k := &Keeper{logger: slog.New(slog.NewTextHandler(&log, nil))}
	k.table.Store(rights(t))
	for range 100 {
		err := k.Authorize(k.Table().WhoseToken("viewer"), "billing", "jobs.delete")
		if e, ok := err.(*apierr.Error); !ok || e.Code != apierr.Forbidden || e.Error() != "token:viewer may not use jobs.delete in the tenant billing" {
			t.Fatalf("the refusal is %v", err)
		}
		err = k.Authorize(k.Table().WhoseToken("wrong"), "billing", "jobs.get")
		if e, ok := err.(*apierr.Error); !ok || e.Code != apierr.Unauthenticated || strings.Contains(e.Error(), "wrong") {
			t.Fatalf("the refusal is %v", err)
		}
	}
	if unknown, forbidden, _ := k.Denied(); unknown != 100 || forbidden != 100 {
		t.Errorf("counted %d and %d", unknown, forbidden)
	}
	if lines := strings.Count(log.String(), "\n"); lines == 0 || lines > 5*deniedPerSecond {
		t.Errorf("%d lines were logged of 100 refusals", lines)
	}
}

// TestOfTenant: who comes by a tenant's subjects may do everything there, and nothing else.
func TestOfTenant(t *testing.T) {
	k := &Keeper{logger: slog.New(slog.DiscardHandler)}
	k.table.Store(rights(t))
	w := Who{Tenant: "billing", Means: "nats:billing"}
	if !k.May(w, "billing", "jobs.delete") || k.May(w, "default", "jobs.get") || k.May(w, "billing", "backup") || k.May(w, "billing", "metrics") {
		t.Error("the rights are not those of its tenant")
	}
}

// TestNoKeeper: without rights everything is permitted.
func TestNoKeeper(t *testing.T) {
	var k *Keeper
	if k.Authorize(Who{}, "any", "jobs.delete") != nil || k.Authorize(Who{}, "", "status") != nil || !k.May(Who{}, "a", "backup") || !k.Sees(Who{}, "a", Admin) {
		t.Error("a server without rights refuses something")
	}
	if unknown, forbidden, logins := k.Denied(); k.Table() != nil || k.Warnings() != nil || k.Refused() != 0 || unknown+forbidden+logins != 0 {
		t.Error("a server without rights counts something")
	}
}

// TestTokens: the form of tokens, and whose they are.
func TestTokens(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		token, hash := NewToken()
		if len(token) != len(tokenPrefix)+tokenDigits || !strings.HasPrefix(token, tokenPrefix) || hash != HashToken(token) || seen[token] {
			t.Fatalf("the token %q with the hash %s", token, hash)
		}
		seen[token] = true
	}
	if HashToken("abc") != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error("the hash is not SHA-256")
	}
	table := rights(t)
	if w := table.WhoseToken("viewer"); w.By() != "token:viewer" || w.Name != "viewer" {
		t.Errorf("the token is that of %q", w.By())
	}
	for _, token := range []string{"", "Viewer", " viewer", "viewer\x00", HashToken("viewer"), strings.Repeat("x", tokenBytesMax+1)} {
		if w := table.WhoseToken(token); w.Principal != nil || w.By() != "" {
			t.Errorf("%.20q is the token of %s", token, w.By())
		}
	}
	large, begun := strings.Repeat("x", 1<<20), time.Now()
	for range 1000 {
		table.WhoseToken(large)
	}
	if d := time.Since(begun); d > time.Second {
		t.Errorf("a thousand tokens of a million bytes took %v", d)
	}
}

// TestOtherMeans: a principal is known by its key.
func TestOtherMeans(t *testing.T) {
	public, _ := userKey(t)
	table, err := Parse([]byte("principals: [{name: ci, nkey: " + public + "}]"))
	if err != nil {
		t.Fatal(err)
	}
	if w := table.WhoHas("", public); w.By() != "nkey:"+public {
		t.Errorf("the key is that of %q", w.By())
	}
	if w := table.WhoHas("any", "U"+public[1:55]+"A"); w.Principal != nil {
		t.Errorf("another key is that of %q", w.By())
	}
}
