package job

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSharedParts: what a target makes of a credential is masked, and the text beside it stays.
func TestSharedParts(t *testing.T) {
	for _, c := range []struct{ secret, text, want string }{
		{"https://vm:41088/x?SEKBAREQUERY", "bad SEKBAREQUERY", "bad ********"},
		{"https://vm:41088/x", "host vm, and vm:41088 alone", "host ********, and ******** alone"},
		{"https://h.example/qqq/wxyz/pin-4829/ab", "segs qqq wxyz pin-4829 AB of abc", "segs ******** of abc"},
		{"https://h.example/hook;token=SEKSEMI1;x=SEKSEMI2", "bad SEKSEMI2, not SEKSEMI1", "bad ********, not ********"},
		{"https://h.example/x?d=%7B%22t%22%3A%22SEKJSONTOK%22%7D", "bad token SEKJSONTOK", "bad token ********"},
		{"https://h.example/x?t=SEKARR1,SEKARR2", "bad SEKARR1 or SEKARR2", "bad ******** or ********"},
		{"https://h.example/SEKDBL%252FTAILTAIL", "SEKDBL/TAILTAIL, SEKDBL%2FTAILTAIL", "********, ********"},
		{"https://h.example/x?SEKPARAMNAME=1", "unknown parameter SEKPARAMNAME", "unknown parameter ********"},
		{"https://h.example/x?a=12&b=123&p=48291&n=a-b-c", "q 12 123 48291 a-b-c 7", "q ******** ******** ******** ******** 7"},
		{"https://h.example/api/v1/webhook/token/json?format=json", "webhook: no token in json, api v1", "webhook: no token in json, api v1"},
		{"Bearer planted-auth-01", "no planted-auth-0, planted, PLANTED", "no ********, ********, ********"},
		{"Bearer planted-auth-01", "Bearer token: planted-\r\n    auth-01", "Bearer token: ********"},
		{"Bearer planted-auth-01", "invalid token: not authorized", "invalid token: not authorized"},
		{"p\xe4ssw\xf6rd-\xfc\xff", "no pässwörd-üÿ", "no ********"},
		{"p\xe4ssw\xf6rd-\xfc\xff", `no p\u00e4ssw\u00f6rd`, "no ********"},
		{"\xe4\xf6\xfc\xdf\xe4\xf6\xfc", "no äöüßäöü", "no ********"},
		{"pässwörd-ü", "no pÃ¤sswÃ¶rd", "no ********"},
		{"äöüßäöüß", "no Ã¤Ã¶Ã¼ÃŸÃ¤Ã¶Ã¼", "no ********"},
		{"äöüßäöüß", "no \xe4\xf6\xfc\xdf\xe4\xf6", "no ********"},
	} {
		var known Credentials
		known.AddSecret(c.secret)
		if got := known.MaskIn(c.text); got != c.want {
			t.Errorf("of %q, %q becomes %q; want %q", c.secret, c.text, got, c.want)
		}
	}
}

// TestLiteralPartsAreMasked: the same holds for credentials that the definition contains.
func TestLiteralPartsAreMasked(t *testing.T) {
	known := CredentialsOf([]Pair{{"X-Api-Key", "planted-key-01"}, {"X-Team", "billing"}}, Target{Kind: TargetHTTP, URL: "https://h.example/path?token=sesame-opens"})
	const text, want = "planted-key-0 of billing: Sesame\nopens no /path", "******** of billing: ******** no /path"
	if got := known.MaskIn(text); got != want {
		t.Errorf("%q", got)
	}
}

// manglers are what targets make of values that they repeat.
var manglers = []func(text string, at int) string{
	func(text string, at int) string { return text[:at] },
	func(text string, at int) string { return text[at:] },
	func(text string, at int) string { return text[:at] + "\r\n\t" + text[at:] },
	func(text string, at int) string { return text[:at] + `\n ` + text[at:] },
	func(text string, at int) string { return text[:at] + " - " + text[at:] },
	func(text string, _ int) string { return strings.ToUpper(text) },
	func(text string, _ int) string { return url.QueryEscape(text) },
	func(text string, _ int) string { return html.EscapeString(text) },
	func(text string, _ int) string { return percent(text, "%%%02x") },
	func(text string, _ int) string { return fmt.Sprintf("%+q", text) },
	fromLatin1,
}

// fromLatin1 returns a text whose bytes were read as Latin-1.
func fromLatin1(text string, _ int) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// asciiLetters returns the letters and digits of ASCII in a text, in lower case.
func asciiLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (isLetter(byte(r)) || isDigit(byte(r))) {
			return r
		}
		return -1
	}, strings.ToLower(text))
}

// FuzzNothingIsShared: whatever a target makes of a secret, the text shows no sharedLetters letters of it in a row.
func FuzzNothingIsShared(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 2))
		alphabet := []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/+=äöüßé ")
		runes := make([]rune, 8+random.IntN(60))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		secret := string(runes)
		echo := secret
		if random.IntN(4) == 0 {
			secret = latin1(secret)
		}
		for range 1 + random.IntN(3) {
			echo = manglers[random.IntN(len(manglers))](echo, random.IntN(len(echo)+1))
		}
		var known Credentials
		known.AddSecret([]string{"", "Bearer ", "https://h.example/x/", "https://h.example/?k="}[random.IntN(4)] + secret)
		parts := strings.Split(known.MaskIn("no ["+echo+"] here"), Mask)
		letters := asciiLetters(secret)
		for i := range len(letters) - sharedLetters + 1 {
			for _, part := range parts {
				if gram := letters[i : i+sharedLetters]; strings.Contains(asciiLetters(part), gram) {
					t.Fatalf("of %q, repeated as %q, %q stays: %q", secret, echo, gram, parts)
				}
			}
		}
	})
}

// latin1 returns a text, whose characters it has, in Latin-1.
func latin1(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r))
	}
	return string(b)
}

// TestSharingIsBounded: a text and secrets at their limits are searched in a time that no test notices.
func TestSharingIsBounded(t *testing.T) {
	for _, unit := range []string{"a", "ab-", "%2561", "ä", "/q"} {
		var known Credentials
		for i := range 4 {
			known.AddSecret(strings.Repeat(unit, HeadersBytesMax/len(unit)-1-i))
		}
		if got := known.MaskIn(strings.Repeat(unit, 8<<10/len(unit))); strings.Contains(got, unit+unit) {
			t.Errorf("%s: %d bytes stay", unit, len(got))
		}
	}
}
