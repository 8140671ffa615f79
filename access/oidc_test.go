package access

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// ofGroups is a file with principals by groups.
const ofGroups = `
tenants: {billing: , shop: }
principals:
  - {name: alice, oidc_group: sre, grants: [{tenant: billing, role: viewer}]}
  - {name: prom, oidc_group: sre, grants: [{role: metrics}]}
  - {name: devs, oidc_group: dev, grants: [{tenant: billing, role: operator}, {tenant: shop, role: viewer}]}
  - {name: root, oidc_group: root, grants: [{tenant: "*", role: admin}]}
oidc: {issuer: "https://id.example.com", client_id: carillon}
`

// TestPersons: a person has the grants of each principal with a group of theirs, and no others.
func TestPersons(t *testing.T) {
	table, err := Parse([]byte(ofGroups))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		groups        []string
		name          string // of the principal; "": the person is none
		billing, shop Role
		metrics       bool
	}{
		{nil, "", None, None, false},
		{[]string{"SRE", "sre ", "alice", ""}, "", None, None, false},
		{[]string{"dev"}, "devs", Operator, Viewer, false},
		{[]string{"dev", "other", "dev"}, "devs", Operator, Viewer, false},
		{[]string{"sre"}, "alice,prom", Viewer, None, true},
		{[]string{"sre", "dev"}, "alice,devs,prom", Operator, Viewer, true},
		{[]string{"root", "dev"}, "devs,root", Admin, Admin, true},
	} {
		w := table.WhosePerson("a@example.com", c.groups)
		if (w.Principal == nil) != (c.name == "") || w.RoleIn("billing") != c.billing || w.RoleIn("shop") != c.shop || w.MayReadMetrics() != c.metrics {
			t.Errorf("%q: %+v", c.groups, w.Principal)
		}
		if w.Principal == nil {
			if w.By() != "" || !strings.Contains(w.Refusal, "no principal") {
				t.Errorf("%q: by %q, %q", c.groups, w.By(), w.Refusal)
			}
			continue
		}
		k := &Keeper{logger: slog.New(slog.DiscardHandler)}
		k.table.Store(table)
		if known := k.Known(w.Name, w.Means); w.Name != c.name || w.By() != "oidc:a@example.com" || known.By() != w.By() || known.RoleIn("billing") != c.billing || known.MayReadMetrics() != c.metrics {
			t.Errorf("%q: another node takes %q for %+v", c.groups, w.Name, known.Principal)
		}
	}
	if p := table.Principal("devs"); p.RoleIn("billing") != Operator || p.IsClusterAdmin() {
		t.Error("a union has changed what it is made of")
	}
	if got := table.KnownGroups([]string{"x", "dev", "sre", "dev"}); !slices.Equal(got, []string{"dev", "sre"}) {
		t.Errorf("known are %q", got)
	}
	var none *Table
	if none.OIDC() != (OIDC{}) || table.OIDC().GroupsClaim != "groups" || table.OIDC().NameClaim != "sub" {
		t.Error("the issuer is not that of the file")
	}
}

// TestPersonOfManyGroups: the number of principals that one person is has a bound.
func TestPersonOfManyGroups(t *testing.T) {
	text, groups := "oidc: {issuer: \"https://id.example.com\", client_id: c}\nprincipals:\n", []string{}
	for i := range groupsMax + 1 {
		text += fmt.Sprintf("  - {name: p%d%s, oidc_group: g%d, grants: [{tenant: default, role: viewer}]}\n", i, strings.Repeat("x", nameBytesMax-3), i)
		groups = append(groups, fmt.Sprint("g", i))
	}
	table, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if w := table.WhosePerson("a", groups); w.Principal != nil || w.Refusal == "" {
		t.Errorf("%d principals at once are %+v", len(groups), w)
	}
	if w := table.WhosePerson("a", groups[1:]); w.Principal == nil || len(w.Name) > 2048 || table.named(w.Name, "oidc:a@example.com").Name != w.Name {
		t.Errorf("%d principals at once are %+v", groupsMax, w)
	}
	if table.named(",", "oidc:a@example.com") != nil || table.named(strings.Repeat(",", 1000), "oidc:a@example.com") != nil {
		t.Error("names without a name are a principal")
	}
}

// TestTenantsOfPrincipals: in which tenants a principal has a role.
func TestTenantsOfPrincipals(t *testing.T) {
	table, err := Parse([]byte(ofGroups))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"alice": "[billing] false", "prom": "[] false", "devs": "[billing shop] false", "root": "[] true", "nobody": "[] false"} {
		if names, all := table.Principal(name).Tenants(); fmt.Sprint(names, all) != want {
			t.Errorf("%s has roles in %v, %t; want %s", name, names, all, want)
		}
	}
	if got := table.TenantNames(); !slices.Equal(got, []string{"billing", "default", "shop"}) {
		t.Errorf("the tenants are %q", got)
	}
}

// TestKnownByOtherMeans: whom another node has recognized is nobody here if the principal of that name is shown by other means.
func TestKnownByOtherMeans(t *testing.T) {
	table, err := Parse([]byte(`oidc: {issuer: https://login.example.com, client_id: carillon}
principals:
  - {name: ops, cert: ops.example.com, grants: [{tenant: "*", role: admin}]}
  - {name: ci, token_sha256: "` + strings.Repeat("1", 64) + `", grants: [{tenant: default, role: admin}]}
  - {name: devs, oidc_group: dev, grants: [{tenant: default, role: viewer}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	k := &Keeper{logger: slog.New(slog.DiscardHandler)}
	k.table.Store(table)
	for _, c := range []struct {
		name, means string
		known       bool
	}{
		{"ops", "cert:ops", true}, {"ops", "token:ops", false}, {"ops", "oidc:ann", false}, {"ops", "nkey:UA", false},
		{"ci", "token:ci", true}, {"ci", "cert:ci", false}, {"ci", "oidc:ann", false},
		{"devs", "oidc:ann", true}, {"devs", "token:devs", false}, {"ci,devs", "oidc:ann", true}, {"gone", "token:gone", false},
	} {
		w := k.Known(c.name, c.means)
		if (w.Principal != nil) != c.known || c.name == "ci,devs" && w.Name != "devs" {
			t.Errorf("%s by %s: %+v", c.name, c.means, w.Principal)
		}
	}
}
