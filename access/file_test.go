package access

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/nats-io/nkeys"
)

// userKey returns the public and the private key of a NATS user, the same for each call.
func userKey(t testing.TB) (public, seed string) {
	t.Helper()
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	public, err = pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return public, string(secret)
}

// TestFiles reads files of rights. NKEY and SEED stand for the keys of a NATS user.
func TestFiles(t *testing.T) {
	public, seed := userKey(t)
	datadriven.RunTest(t, "testdata/files.txt", func(t *testing.T, d *datadriven.TestData) string {
		table, err := Parse([]byte(strings.NewReplacer("NKEY", public, "SEED", seed).Replace(d.Input)))
		if err != nil {
			if strings.Contains(err.Error(), seed) {
				t.Error("the error has a private key")
			}
			return strings.ReplaceAll(err.Error(), public, "NKEY")
		}
		return fmt.Sprintf("%d principals, %d tenants", table.Principals(), table.Tenants())
	})
}

// TestDocumentedFile: the file in the documentation is good.
func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	table, err := Parse([]byte(text))
	if err != nil || table.Principals() != 3 {
		t.Errorf("the file of the documentation: %v", err)
	}
	page, err = os.ReadFile("../docs/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	if table, err := Parse([]byte("tenants: {billing: }\n" + text)); err != nil || table.OIDC().ClientID != "carillon" || table.Principals() != 2 {
		t.Errorf("the file of the page on signing in: %v", err)
	}
}

// many returns a file of n principals, each with a token and with a grant in each of two tenants.
func many(n int) []byte {
	var b strings.Builder
	b.WriteString("tenants: {billing: {}}\nprincipals:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: p%d, token_sha256: %q, grants: [{tenant: billing, role: operator}, {tenant: default, role: viewer}]}\n", i, HashToken(fmt.Sprint("token", i)))
	}
	return []byte(b.String())
}

// TestFileBounds: what is too much is refused.
func TestFileBounds(t *testing.T) {
	if _, err := Parse(make([]byte, BytesMax+1)); err == nil || !strings.Contains(err.Error(), "want at most 16777216") {
		t.Errorf("a file that is too large: %v", err)
	}
	var b strings.Builder
	b.WriteString("tenants:\n")
	for i := range TenantsMax {
		fmt.Fprintf(&b, " t%d:\n", i)
	}
	if _, err := Parse([]byte(b.String())); err == nil || err.Error() != "line 10001: the file has more than 10000 tenants" {
		t.Errorf("with too many tenants besides the default one: %v", err)
	}
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{long + ": 1", "principals: [{name: " + long + "}]", "principals: [{name: a, grants: [{role: " + long + "}]}]", "tenants: {" + long + ": }"} {
		if _, err := Parse([]byte(text)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.30s…: the error has %d bytes", text, len(fmt.Sprint(err)))
		}
	}
}

// FuzzParse reads any bytes: that gives a table or an error of one line.
func FuzzParse(f *testing.F) {
	f.Add([]byte("tenants: {a: }\nprincipals: [{name: b, grants: [{tenant: a, role: admin}]}]"))
	f.Add([]byte("principals: [&a {name: *a}]"))
	f.Add([]byte("--- \n..."))
	f.Add(many(3))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("the error %q has several lines", err)
			}
			return
		}
		for sum, p := range table.byToken {
			if table.byName[p.Name] != p || len(hex.EncodeToString(sum[:])) != 64 {
				t.Errorf("the principal %s of a token is not that of its name", p.Name)
			}
		}
	})
}

func BenchmarkWhoseToken(b *testing.B) {
	table, err := Parse(many(10_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if table.WhoseToken("token77").Principal == nil {
			b.Fatal("the token is unknown")
		}
	}
}

// TestNoText: what the parser of YAML refuses by its kind alone is refused by its line, and by what would be right.
func TestNoText(t *testing.T) {
	for text, want := range map[string]string{
		"tenants:\n  a: {}\n  b: \x00\n":             "line 3: a character is a control character, such as NUL; want a text file in UTF-8",
		"a: b\n\n\xff\xfe":                           "line 3: a byte is no UTF-8",
		"tenants:\n\n" + strings.Repeat("- ", 20000): "line 3: lists and mappings are nested too deep; want principals and tenants",
		"tenants:\n a: *x\n":                         "line 2: *x is an alias",
		"%YAML 3.0\n---\na: b":                       "line 1: found incompatible YAML document",
		"tenants: {}\n---\nc: [":                     "line 3: ",
		"\ufefftenants: {\"a\": {}} # \U0001f600":    "",
	} {
		_, err := Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.40q: %v; want %q", text, err, want)
		}
	}
}
