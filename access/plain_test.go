package access

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// shape is what this package looks at in a node, with a line for each.
func shape(n *node) string {
	var b strings.Builder
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		fmt.Fprintf(&b, "%*s%d %q line %d null %t\n", depth, "", n.kind, n.value, n.line, n.isNull)
		for _, c := range n.content {
			add(c, depth+1)
		}
	}
	add(n, 0)
	return b.String()
}

// checkPlain: what is read as plain is what the library reads. It reports whether it is plain.
func checkPlain(t *testing.T, text string) bool {
	t.Helper()
	got := readPlain([]byte(text))
	if got == nil {
		return false
	}
	want, err := readYAML([]byte(text))
	if err != nil {
		t.Fatalf("%q is read as\n%sand the library refuses it: %v", text, shape(got), err)
	}
	if shape(got) != shape(want) {
		t.Fatalf("%q is read as\n%sthe library reads\n%s", text, shape(got), shape(want))
	}
	return true
}

// plainTexts are files in the plain form, and odd ones next to it.
var plainTexts = []string{
	"principals:\n- name: ci\n  token_sha256: 0a1b\n  grants:\n  - tenant: billing\n    role: operator\n  - {tenant: \"*\", role: admin}\n- name: b\n",
	"tenants:\n    billing: {quota: {jobs: 10, bytes: 1 GiB, rate: 500/s}}\n    crm:\n\n    # comment: – ü\nprincipals: []  # none",
	"tenants: {a: , b: {}, }\nprincipals:\n  -\n    name: ci\n    grants: [\n      {tenant: a, role: viewer},\n\n      {tenant: b,\n role: admin} ]\n",
	"oidc: {issuer: https://id.example.com:8443/x, client_id: 'a b'}\n", "a:\n  b\n", "a:\n- b\n- c: d\n  e: f\ng: h\n", "- a\n- b: c\n-\n-\n  - d\n", "a: null\nb: ~\nc:\nd: \"\"\n",
	"a: b\n  c\n", "a: \"b\n  c\"\n", "a: b # c\nd: e#f\n", "a: &x b\nc: *x\n", "---\na: b\n", "a: b\n...\n", "a: b\n---\nc: d\n", "a: b: c\n", "a\n", "[a, b]", "{a: b}\n", "a: |\n  b\n", "? a\n: b\n",
	"a: b\r\nc: d\r\n", "\ufeffa: b\n", "a: b\u2028c: d\n", "#\u0085a: b\n", "\ta: b\n", "a:\tb\n", "a: 'it''s'\n", "a: \"\\x41\"\n", "- - a\n", "a:\n - b\n- c\n", "  a: b\n  c: d\n", "  a: b\nc: d\n", "a: {b: c}: d\n", "{a: {b: c}\n", "a: [b, c\n]\nd: e\n",
	"\"null\": a\nb: {null: c}\n", "'-x': a\n-x: b\n", "'...': a\n...: b\n", "x: a\ny: {x: b, x : c}\nx: d\n", "a: {\"b\":c}\n", "a: {b:c}\n", "a: {b, c}\n", "a: [b: c]\n", "a: [b c, d]\n", "a: {b: c\n  d}\n", "a: -\n", "a: - b\n", "-a: b\n", "- a: b\n   c: d\n", "- a: b\n c: d\n", "a: b\nb:\n", "a:#b\n", "a: #b\n", "!!str a: b\n", "%YAML 1.2\n---\na: b\n", "<<: a\n", "a: {b: c,, d: e}\n", "",
	strings.Repeat("k", 2000) + ": v\n", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n", "a: \"\x00\"\n", "a: \"\xff\"\n", "# \x07\na: b\n",
}

// TestPlainForm: the usual forms of a file are read as plain, and each text that is read so as the library reads it.
func TestPlainForm(t *testing.T) {
	for i, text := range plainTexts {
		if isPlain := checkPlain(t, text); !isPlain && i < 4 {
			t.Errorf("%q is not read as plain", text)
		}
	}
	if !checkPlain(t, string(many(3))) || !checkPlain(t, block(3)) {
		t.Error("a large file is not read as plain")
	}
}

// TestPlainAsTheLibrary makes texts of the parts of which files consist, and changes single characters: each that is read
// as plain is what the library reads.
func TestPlainAsTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b: ", "c:", ":", " ", "  ", "\n", "\n  ", "\n- ", "- ", "-", "a: ", "'a': ", "{", "}", "[", "]", ", ", ",", "\"x\"", "'y'", "\"", "#", " # z\n", "null", "d: {e: f}", "\n    ", "g: [h, i]\n", "k:\n", "0", "~", "é", "\\", "---\n", "?", "*", "&", "!", "|", "\t"}
	plain := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		if checkPlain(t, b.String()) {
			plain++
		}
	}
	for _, text := range []string{plainTexts[0], plainTexts[1], plainTexts[2], string(many(2)), block(2)} {
		for range 1_000 {
			changed := []byte(text)
			for range 1 + random.IntN(3) {
				part := parts[random.IntN(len(parts))]
				at := random.IntN(len(changed))
				changed = slices.Replace(changed, at, min(len(changed), at+random.IntN(3)), []byte(part)...)
			}
			if checkPlain(t, string(changed)) {
				plain++
			}
		}
	}
	if plain < 1_000 {
		t.Errorf("only %d texts were plain", plain)
	}
}

// TestPlainErrors: an error of a file has the same text and line, whether the file is read as plain or by the library.
func TestPlainErrors(t *testing.T) {
	files, err := os.ReadFile("testdata/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	plain := 0
	for one := range strings.SplitSeq(string(files), "\n\n") {
		_, text, _ := strings.Cut(one, "\n")
		text, _, _ = strings.Cut(text, "----\n")
		if readPlain([]byte(text)) == nil {
			continue
		}
		plain++
		_, want := Parse([]byte(text + "# \u200b\n")) // a character that the plain form does not have, so that the library reads it
		if _, got := Parse([]byte(text)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s\nis refused as plain with %v; by the library with %v", text, got, want)
		}
	}
	if plain < 20 {
		t.Errorf("only %d files were plain", plain)
	}
}

// block returns a file like that of many, by indentation.
func block(n int) string {
	var b strings.Builder
	b.WriteString("tenants:\n  billing:\n\nprincipals:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: p%d\n    token_sha256: %s\n    grants:\n      - tenant: billing\n        role: operator\n      - tenant: default # all of them\n        role: viewer\n", i, HashToken(fmt.Sprint("token", i)))
	}
	return b.String()
}

// TestPlainIsLean: a principal in a file of the plain form costs few allocations, on which most of the time goes.
func TestPlainIsLean(t *testing.T) {
	const principals, most = 1000, 22
	for name, text := range map[string][]byte{"flow": many(principals), "block": []byte(block(principals))} {
		allocations := testing.AllocsPerRun(1, func() {
			if _, err := Parse(text); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > most*principals {
			t.Errorf("%s: %.0f allocations for %d principals; want at most %d each", name, allocations, principals, most)
		}
	}
}

// FuzzPlain looks for texts that are read as plain, and otherwise by the library.
func FuzzPlain(f *testing.F) {
	for _, text := range plainTexts {
		f.Add(text)
	}
	f.Add(block(1))
	f.Fuzz(func(t *testing.T, text string) { checkPlain(t, text) })
}

// BenchmarkParse reads a file of 10,000 principals: in the plain form, and in another one, which the library reads.
func BenchmarkParse(b *testing.B) {
	flow, blocks := many(10_000), []byte(block(10_000))
	for name, text := range map[string][]byte{
		"form=flow": flow, "form=block": blocks, "form=flow/by=library": append([]byte("---\n"), flow...), "form=block/by=library": append([]byte("---\n"), blocks...),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
