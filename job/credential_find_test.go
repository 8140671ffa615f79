package job

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestCredentialForms: a credential is masked in each form in which a target may repeat it, and the text beside it stays.
func TestCredentialForms(t *testing.T) {
	known := CredentialsOf([]Pair{
		{"X-Api-Key", "wJalr/K7MDENG+bPxRfiCY=="}, {"X-Token", `Jalr&K7<b"c'>`}, {"X-Secret", `a\b%41é😀 z`},
	}, Target{})
	for _, echo := range []string{
		"wJalr/K7MDENG+bPxRfiCY==", "wJalr/K7MDENG%2BbPxRfiCY%3D%3D", "wJalr%2fK7MDENG%2bbPxRfiCY%3d%3D", `wJalr\/K7MDENG+bPxRfiCY==`,
		"wJalr/K7MDENG&#43;bPxRfiCY&#61;&#x3d;", `wJalr\u002fK7MDENG\u002BbPxRfiCY==`, "wJalr&sol;K7MDENG&plus;bPxRfiCY&equals;=", `wJalr\x2fK7MDENG+bPxRfiCY==`,
		"wJalr%252FK7MDENG%252BbPxRfiCY%3D=", "wJalr&#x2f;K7MDENG%2B%62PxRfiCY==",
		`Jalr&K7<b"c'>`, "Jalr&amp;K7&lt;b&quot;c&apos;&gt;", "Jalr&AMP;K7&#60;b&#34;c&#39;&#x3E;", `Jalr&K7<b\"c'>`, `Jalr\u0026K7\u003cb\"c\u0027\u003e`,
		`Jalr\u0026amp;K7\u0026lt;b\u0026quot;c&#x27;&gt;`, "Jalr%26K7%3Cb%22c%27%3E",
		`a\b%41é😀 z`, `a\\b%41é😀 z`, `a%5cb%2541%C3%A9%f0%9f%98%80+z`, `a\\b%41\u00e9\ud83d\ude00 z`, `a&#92;b&percnt;41&eacute;&#128512;&#32;z`,
	} {
		if got, want := known.MaskIn("no "+echo+", no"), "no "+Mask+", no"; got != want {
			t.Errorf("%s becomes %s", echo, got)
		}
	}
	for _, cut := range []string{"wJalr", "wJalr%2", "wJalr%", `wJalr\`, `wJalr\u00`, "wJalr&#4", "wJalr%2FK7", "%7", "wJalr%25", "wJalr%252", `a\\b%41\u00e9\ud83d`, `a\\b%41\u00e9\ud83d\ude0`} {
		if got := known.MaskInCut("no "+cut, true); got != "no " && got != "no "+Mask {
			t.Errorf("%s, cut there, becomes %s", cut, got)
		}
	}
	for _, plain := range []string{"wJa-K7MD", `100% & more; a\b + c`, `&amp; %41 \u0041 %`, ""} {
		if got := known.MaskIn(plain); got != plain {
			t.Errorf("%s becomes %s", plain, got)
		}
	}
	if got := known.MaskInCut("no wJalr/K7MDENG+bPxRfiCY==wJ", true); got != "no "+Mask {
		t.Error(got)
	}
}

// TestCredentialInCredential: of credentials that overlap no part stays.
func TestCredentialInCredential(t *testing.T) {
	known := CredentialsOf([]Pair{{"X-Key", "abcdabcd"}, {"X-Token", "cdef"}, {"X-Secret", "abcd"}}, Target{})
	for text, want := range map[string]string{"-abcdabcdef-": "-" + Mask + "-", "abcdabcdabcd": Mask, "cdefcdef": Mask + Mask, "abcabc": "abcabc"} {
		if got := known.MaskIn(text); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestCredentialSearchIsBounded: of a text that may be a credential at each of its places nothing is left, rather than
// that it takes long; a short credential is found in it all the same.
func TestCredentialSearchIsBounded(t *testing.T) {
	for _, unit := range []string{"a", "%25", `\\`, "&amp;"} {
		text := strings.Repeat(unit, 8<<10/len(unit))
		var long, short Credentials
		long.add(strings.Repeat(unit, 4<<10/len(unit)) + "b")
		if got := long.MaskIn(text); got != Mask {
			t.Errorf("%s: %d bytes became %d", unit, len(text), len(got))
		}
		short.add(strings.Repeat(unit, 8))
		if got := short.MaskIn(text + "/z"); strings.TrimSuffix(got, "/z") != Mask {
			t.Errorf("%s: %.50s", unit, got)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, 8<<10)
	for i := range letters {
		letters[i] = byte('a' + random.IntN(26))
	}
	var known Credentials
	for i := range 200 {
		known.add(string(letters[i*30:i*30+sharedLetters-1]) + "!")
	}
	if got := known.MaskIn(string(letters)); got != string(letters) {
		t.Errorf("%d bytes of beginnings became %d", len(letters), len(got))
	}
}

// escapings are the ways to write a character.
var escapings = []func(c rune) string{
	func(c rune) string { return string(c) },
	func(c rune) string { return percent(string(c), "%%%02X") },
	func(c rune) string { return percent(string(c), "%%%02x") },
	func(c rune) string { return percent(percent(string(c), "%%%02x"), "%%%02X") },
	func(c rune) string { return inUTF16(c, `\u%04x`) },
	func(c rune) string { return inUTF16(c, `\u%04X`) },
	func(c rune) string { return fmt.Sprintf("&#%d;", c) },
	func(c rune) string { return fmt.Sprintf("&#x%x;", c) },
	func(c rune) string { return fmt.Sprintf("&#X%04X;", c) },
	func(c rune) string { return html.EscapeString(string(c)) },
	func(c rune) string {
		if strings.ContainsRune(`/"\`, c) {
			return `\` + string(c)
		}
		return string(c)
	},
}

func percent(text, format string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func inUTF16(c rune, format string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune{c}) {
		fmt.Fprintf(&b, format, unit)
	}
	return b.String()
}

// FuzzCredentialEscapes: whatever mix of escapes a credential is written in, the mask takes its place, and a text cut
// in it has no part of it.
func FuzzCredentialEscapes(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		const sharp = `%&\/+="'<>;#?x25uamp0` // what escapes are made of
		alphabet := []rune(sharp + "ABCDEFGHIJKLMNOPqrstvwz-_.~ é߿ﬀ😀")
		secret := make([]rune, credentialBytesMin+random.IntN(40))
		for i := range secret {
			secret[i] = alphabet[random.IntN(len(alphabet))]
		}
		var echo strings.Builder
		var ends []int // of the characters
		mix := escapings[:1+random.IntN(len(escapings))]
		for _, c := range secret {
			echo.WriteString(mix[random.IntN(len(mix))](c))
			ends = append(ends, echo.Len())
		}
		var known Credentials
		known.add(string(secret))
		const before, after = "[", "]" // which no escape ends or begins with
		if got, want := known.MaskIn(before+echo.String()+after), before+Mask+after; got != want {
			t.Fatalf("%q as %q becomes %q", string(secret), echo.String(), got)
		}
		for n := range echo.Len() {
			if got := known.MaskInCut(before+echo.String()[:n], true); got != before && got != before+Mask { // the first byte of the last escape may be its character
				t.Fatalf("%q as %q, cut at %d of %v, becomes %q", string(secret), echo.String(), n, ends, got)
			}
		}
	})
}
