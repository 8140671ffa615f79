package oidc

import (
	"encoding/base64"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	referee "github.com/coreos/go-oidc/v3/oidc"

	"github.com/carillon-io/carillon/oidc/oidctest"
)

// TestAlgorithms: tokens of each permitted algorithm are good, and another implementation agrees.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rsa := oidctest.NewKey(t, "RS256", "rsa")
	keys := map[string]*oidctest.Key{}
	for name := range algorithms {
		switch name[:2] {
		case "RS", "PS":
			keys[name] = rsa.As(name)
		default:
			keys[name] = oidctest.NewKey(t, name, name)
		}
	}
	w.Keys(append(slices.Collect(maps.Values(keys)), rsa)...)
	other, err := referee.NewProvider(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	verifier := other.Verifier(&referee.Config{ClientID: oidctest.ClientID, SupportedSigningAlgs: slices.Collect(maps.Keys(algorithms))})
	for name, key := range keys {
		token := key.Sign(t, map[string]any{"kid": key.ID, "typ": "JWT"}, w.Claims("alice", nil))
		if p := w.accepts(name, token); p.Name != "alice" || !slices.Equal(p.Groups, []string{"sre"}) || time.Until(p.Until) > time.Hour {
			t.Errorf("%s: the token is that of %+v", name, p)
		}
		if _, err := verifier.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: the referee: %v", name, err)
		}
		w.accepts(name+" without the id of a key", key.Sign(t, nil, w.Claims("alice", nil)))
		head, rest, _ := strings.Cut(token, ".")
		body, _, _ := strings.Cut(rest, ".")
		signature, err := base64.RawURLEncoding.DecodeString(token[len(head)+len(body)+2:])
		if err != nil {
			t.Fatal(err)
		}
		for at := range signature {
			changed := slices.Clone(signature)
			changed[at] ^= 4
			w.refuses(name+" with another signature", head+"."+body+"."+base64.RawURLEncoding.EncodeToString(changed), "signature")
		}
		w.refuses(name+" with no signature", head+"."+body+".", "signature")
		w.refuses(name+" with twice the signature", head+"."+body+"."+base64.RawURLEncoding.EncodeToString(slices.Concat(signature, signature)), "signature")
	}
}

// TestClaims: what a token must say, and when it is good.
func TestClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.read()
	for _, c := range []struct {
		what   string
		claims map[string]any
		why    string // "": it is good
	}{
		{"a good one", nil, ""},
		{"several audiences", map[string]any{"aud": []string{"other", oidctest.ClientID}, "azp": oidctest.ClientID}, ""},
		{"several audiences, and made for nobody", map[string]any{"aud": []string{"other", oidctest.ClientID}}, "several audiences"},
		{"several audiences, and made for another", map[string]any{"aud": []string{"other", oidctest.ClientID}, "azp": "other"}, "several audiences"},
		{"several audiences, and made for no text", map[string]any{"aud": []string{"other", oidctest.ClientID}, "azp": []string{oidctest.ClientID}}, "azp is no text"},
		{"one audience, and made for a number", map[string]any{"azp": 3}, "azp is no text"},
		{"one audience, and made for an empty text", map[string]any{"azp": ""}, "azp is no text"},
		{"one audience, and azp left out by null", map[string]any{"azp": nil}, ""},
		{"one audience, got by another", map[string]any{"azp": "other"}, ""},
		{"another audience", map[string]any{"aud": "other"}, "audience"},
		{"no audience", map[string]any{"aud": nil}, "audience"},
		{"part of the audience", map[string]any{"aud": "carillo"}, "audience"},
		{"an audience that is no text", map[string]any{"aud": 7}, "audience"},
		{"another issuer", map[string]any{"iss": "https://evil.example"}, "another issuer"},
		{"the issuer with a slash", map[string]any{"iss": w.URL + "/"}, "another issuer"},
		{"expired", map[string]any{"exp": now.Add(-time.Minute).Unix()}, "expired"},
		{"expired within the skew", map[string]any{"exp": now.Add(-5 * time.Second).Unix()}, ""},
		{"never expires", map[string]any{"exp": nil}, "never expires"},
		{"expires after all calendars", map[string]any{"exp": 1e300}, "no instant"},
		{"expires at a text", map[string]any{"exp": "2030-01-01"}, "no instant"},
		{"fractions of a second", map[string]any{"exp": float64(now.Add(time.Minute).Unix()) + 0.5}, ""},
		{"not yet", map[string]any{"nbf": now.Add(time.Hour).Unix()}, "nbf lies in the future"},
		{"from the future", map[string]any{"iat": now.Add(time.Hour).Unix()}, "iat lies in the future"},
		{"from the near future", map[string]any{"iat": now.Add(5 * time.Second).Unix()}, ""},
		{"no subject", map[string]any{"sub": nil}, "no claim sub"},
		{"a subject of two lines", map[string]any{"sub": "a\nb"}, "no name"},
		{"a subject that turns the line", map[string]any{"sub": "a\u202eb"}, "no name"},
		{"a long subject", map[string]any{"sub": strings.Repeat("a", nameBytesMax+1)}, "no name"},
		{"the longest subject", map[string]any{"sub": strings.Repeat("a", nameBytesMax)}, ""},
		{"the end of a session", map[string]any{"events": map[string]any{"logout": map[string]any{}}}, "event"},
		{"one group as a text", map[string]any{"groups": "sre"}, ""},
		{"groups that are none", map[string]any{"groups": []int{1}}, ""},
	} {
		token := w.Token(t, "alice", c.claims)
		if c.why != "" {
			w.refuses(c.what, token, c.why)
			continue
		}
		if p := w.accepts(c.what, token); c.claims["groups"] != nil && fmt.Sprint(c.claims["groups"]) == "sre" && !slices.Equal(p.Groups, []string{"sre"}) {
			t.Errorf("%s: %v", c.what, p.Groups)
		}
	}
	w.client.config.NameClaim = "email"
	if p := w.accepts("by mail", w.Token(t, "1", map[string]any{"email": "alice@example.com", "email_verified": true})); p.Name != "alice@example.com" {
		t.Errorf("by mail: %q", p.Name)
	}
	w.refuses("by a mail that is not verified", w.Token(t, "1", map[string]any{"email": "alice@example.com", "email_verified": false}), "not verified")
	w.refuses("without a mail", w.Token(t, "1", nil), "claim email")
}

// TestHeaders: what a header must not say.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accepts("a good one", w.Token(t, "alice", nil))
	key := oidctest.NewKey(t, "RS256", "first")
	own := oidctest.NewKey(t, "ES256", "own")
	for _, c := range []struct {
		what   string
		key    *oidctest.Key
		header map[string]any
		why    string
	}{
		{"no algorithm", key, map[string]any{"alg": "none"}, "algorithm"},
		{"none in capitals", key, map[string]any{"alg": "NONE"}, "algorithm"},
		{"an empty algorithm", key, map[string]any{"alg": ""}, "algorithm"},
		{"a shared secret", key, map[string]any{"alg": "HS256"}, "algorithm"},
		{"an algorithm that is a number", key, map[string]any{"alg": 5}, "no signed JWT"},
		{"the key of another", key, map[string]any{"kid": "first"}, "signature"},
		{"the key of another, unnamed", key, nil, "signature"},
		{"a key in the token", own, map[string]any{"jwk": own.Public()}, "no such key"},
		{"a key at an address", key, map[string]any{"jku": "https://evil.example/keys", "x5u": "https://evil.example"}, "signature"},
		{"what must be understood", key, map[string]any{"crit": []string{"exp"}}, "crit"},
		{"the end of a session", key, map[string]any{"typ": "logout+jwt"}, "type"},
		{"the algorithm of another key", key, map[string]any{"alg": "ES256"}, "no such key"},
	} {
		w.refuses(c.what, c.key.Sign(t, c.header, w.Claims("alice", nil)), c.why)
	}
	good := w.Token(t, "alice", nil)
	for what, token := range map[string]string{
		"nothing": "", "two dots": "..", "a word": "word", "two parts": "a.b", "four parts": good + ".a", "padding": strings.Replace(good, ".", "=.", 1),
		"a line end": good[:10] + "\n" + good[10:], "a space": " " + good, "another alphabet": strings.NewReplacer("-", "+", "_", "/").Replace(good) + "+",
		"no UTF-8": "\xff\xfe." + good, "arrays": "W10.W10.W10",
	} {
		w.refuses(what, token, "no signed JWT")
	}
	for what, texts := range map[string][2]string{
		"an algorithm twice": {`{"alg":"none","alg":"RS256"}`, `{}`},
		"a claim twice":      {`{"alg":"RS256"}`, `{"sub":"alice","sub":"bob"}`},
		"more than JSON":     {`{"alg":"RS256"} `, `{"sub":"alice"}{}`},
	} {
		token, err := key.SignText(texts[0], texts[1])
		if err != nil {
			t.Fatal(err)
		}
		w.refuses(what, token, "")
	}
}

// TestLargeTokens: a token of any size is refused at once, and takes no memory of its size.
func TestLargeTokens(t *testing.T) {
	w := newWorld(t)
	tokens := []string{
		strings.Repeat("a", 1<<20), strings.Repeat(".", 1<<20), strings.Repeat("a", 1<<19) + ".a." + strings.Repeat("a", 1<<19),
		w.Token(t, "alice", map[string]any{"pad": strings.Repeat("x", TokenBytesMax)}),
		"eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("[", 10_000))) + ".AA",
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 200
	for range rounds {
		for _, token := range tokens {
			if _, err := w.client.Verify(t.Context(), token); err == nil {
				t.Fatal("it is good")
			}
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds / uint64(len(tokens)); each > 64<<10 {
		t.Errorf("each takes %d bytes", each)
	}
	if w.Asked.Load() != 0 {
		t.Error("the issuer is asked because of them")
	}
}

// FuzzToken: whatever is accepted here, another implementation accepts as well.
func FuzzToken(f *testing.F) {
	keys := map[string]*oidctest.Key{"EdDSA": oidctest.NewKey(f, "EdDSA", "e"), "ES256": oidctest.NewKey(f, "ES256", "p"), "RS256": oidctest.NewKey(f, "RS256", "r")}
	const issuer = "https://id.example.com"
	i := newIssuer(configOf(issuer), time.Now)
	for _, key := range keys {
		text := fmt.Sprintf(`{"keys":[%s]}`, mustJSON(f, key.Public()))
		parsed, err := parseKeys([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		i.ring.keys = append(i.ring.keys, parsed...)
	}
	i.ring.at, i.ring.got, i.ring.asked = &addresses{}, time.Now(), time.Now()
	set := &referee.StaticKeySet{}
	for _, k := range i.ring.keys {
		set.PublicKeys = append(set.PublicKeys, k.public)
	}
	other := referee.NewVerifier(issuer, set, &referee.Config{ClientID: oidctest.ClientID, SkipExpiryCheck: true, SupportedSigningAlgs: slices.Collect(maps.Keys(algorithms))})
	claims := fmt.Sprintf(`{"iss":%q,"aud":["carillon"],"sub":"alice","exp":%d,"groups":["a"]}`, issuer, time.Now().Add(time.Hour).Unix())
	for name := range keys {
		f.Add(name, `{"alg":"`+name+`"}`, claims, 0, byte(0))
		f.Add(name, `{"alg":"`+name+`","crit":[]}`, claims, 3, byte(1))
		f.Add(name, `{"alg":"none"}`, claims, 40, byte(255))
	}
	f.Fuzz(func(t *testing.T, name, header, claims string, at int, flip byte) {
		key := keys[name]
		if key == nil {
			return
		}
		token, err := key.SignText(header, claims)
		if err != nil {
			t.Skip()
		}
		changed := []byte(token)
		changed[max(at, -at-1)%len(changed)] ^= flip
		p, err := i.Verify(t.Context(), string(changed))
		if err != nil {
			return
		}
		if got, err := other.Verify(t.Context(), string(changed)); err != nil || got.Subject != p.Name {
			t.Errorf("%s is accepted for %q, and the referee says %v", changed, p.Name, err)
		}
	})
}
