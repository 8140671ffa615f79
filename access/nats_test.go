package access

import (
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// TestPlaceOf: to which account of the embedded NATS server a caller belongs.
func TestPlaceOf(t *testing.T) {
	key, _ := nkeys.CreateUser()
	public, _ := key.PublicKey()
	table, err := Parse([]byte("tenants: {billing: , stock: }\nprincipals:\n" +
		"  - {name: one, token_sha256: " + HashToken("one") + ", grants: [{tenant: billing, role: viewer}]}\n" +
		"  - {name: two, token_sha256: " + HashToken("two") + ", grants: [{tenant: billing, role: operator}, {tenant: stock, role: admin}]}\n" +
		"  - {name: any, nkey: " + public + ", grants: [{tenant: \"*\", role: operator}]}\n" +
		"  - {name: all, token_sha256: " + HashToken("all") + ", grants: [{tenant: \"*\", role: admin}]}\n" +
		"  - {name: prom, token_sha256: " + HashToken("prom") + ", grants: [{role: metrics}]}\n" +
		"  - {name: none, token_sha256: " + HashToken("none") + "}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		token, chosen string
		want          Place
		err           string
	}{
		{"", "", Place{}, "no credentials"},
		{"wrong", "billing", Place{}, "no credentials"},
		{"one", "", Place{"billing", Viewer}, ""},
		{"one", "billing", Place{"billing", Viewer}, ""},
		{"one", "stock", Place{}, "no role in the tenant"},
		{"one", "default", Place{}, "no role in the tenant"},
		{"one", "a b", Place{}, "no tenant under tenants"},
		{"one", "$G", Place{}, "no tenant under tenants"},
		{"two", "", Place{}, "several tenants"},
		{"two", "stock", Place{"stock", Admin}, ""},
		{public, "", Place{}, "several tenants"},
		{public, "stock", Place{"stock", Operator}, ""},
		{public, "unlisted", Place{}, "under tenants"},
		{"all", "", Place{}, ""},
		{"all", "billing", Place{"billing", Admin}, ""},
		{"all", "unlisted", Place{}, "under tenants"},
		{"prom", "", Place{}, "no role in a tenant"},
		{"prom", "billing", Place{}, "no role in the tenant"},
		{"none", "", Place{}, "no role in a tenant"},
	} {
		who := table.WhoseToken(tc.token)
		if tc.token == public {
			who = table.WhoseNKey(public)
		}
		got, err := table.PlaceOf(who, tc.chosen)
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%q as %q: %v, %v; want %v, %q", tc.token, tc.chosen, got, err, tc.want, tc.err)
		}
	}
	for by, want := range map[string]string{"token:one": "one", "nkey:" + public: "any", "token:any": "any", "token:gone": "", "nkey:one": "", "cert:one": "", "one": "", "": "", "token:": ""} {
		who := table.Named(by)
		if name := ""; who.Principal != nil {
			if name = who.Name; name != want {
				t.Errorf("%q is %q, want %q", by, name, want)
			}
		} else if want != "" {
			t.Errorf("%q is nobody, want %q", by, want)
		}
		if by == "token:gone" && !strings.Contains(who.Refusal, "no principal for token:gone in its file of rights") {
			t.Errorf("%q is refused with %q", by, who.Refusal)
		}
	}
}

// TestReadNATS: what a tenant has on the embedded NATS server.
func TestReadNATS(t *testing.T) {
	table, err := Parse([]byte("tenants: {a: {nats: {storage: 1GiB, connections: 10, shared: true}}, b: {nats: }, c: }"))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Tenant("a").NATS; got != (NATS{1 << 30, 10, true}) {
		t.Errorf("a has %+v", got)
	}
	if got := table.Tenant("b").NATS; got != (NATS{}) {
		t.Errorf("b has %+v", got)
	}
	if got := strings.Join(table.TenantNames(), " "); got != "a b c default" {
		t.Errorf("the tenants are %s", got)
	}
	for text, want := range map[string]string{
		"{storage: 0}": "number of bytes", "{storage: much}": "number of bytes", "{connections: 0}": "at least 1", "{connections: 9999999}": "at most 1048576",
		"{shared: yes please}": "true or false", "{shared: [true]}": "true or false", "{stream: 1}": "is unknown", "1": "want a mapping",
	} {
		if _, err := Parse([]byte("tenants: {a: {nats: " + text + "}}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
