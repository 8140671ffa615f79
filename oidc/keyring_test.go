package oidc

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/oidc/oidctest"
	"github.com/carillon-io/carillon/testkit"
)

func mustJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNewKeys: a token with a new key makes the keys be read again, at a bounded rate, and a key that the issuer has
// withdrawn serves no longer.
func TestNewKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.Token(t, "alice", nil)
	w.accepts("the first key", first)
	next := oidctest.NewKey(t, "ES256", "second")
	w.Keys(next)
	second := w.Token(t, "alice", nil)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { w.refuses("a key that is new just after", second, "no such key") })
	}
	all.Wait()
	if n := w.Asked.Load(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
	w.clock.move(askEvery)
	for range 50 {
		all.Go(func() { w.accepts("a new key", second) })
	}
	all.Wait()
	if n := w.Asked.Load(); n != 2 {
		t.Errorf("the issuer was asked %d times", n)
	}
	w.clock.move(askEvery)
	w.refuses("a key that is withdrawn", first, "no such key")
	w.clock.move(refreshAfter + time.Second)
	w.Keys(oidctest.NewKey(t, "ES256", "third"))
	w.accepts("an old key while it is read again", second)
	testkit.Until(t, "the keys are read in the background", func() bool { return w.Asked.Load() == 4 })
	testkit.Until(t, "the key is withdrawn", func() bool {
		_, err := w.client.Verify(t.Context(), second)
		return err != nil
	})
}

// TestKeyReplacedUnderItsID: a token by a key that has the id of another one is accepted once the keys are read again, and
// those of the key before are not; tokens that nobody has signed make the issuer be asked at a bounded rate.
func TestKeyReplacedUnderItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Keys(oidctest.NewKey(t, "ES256", "same"))
	first := w.Token(t, "alice", nil)
	w.accepts("the first key", first)
	w.Keys(oidctest.NewKey(t, "ES256", "same"))
	second := w.Token(t, "alice", nil)
	w.refuses("another key, just after", second, "its signature is not that of the issuer")
	w.clock.move(askEvery)
	w.accepts("another key", second)
	w.refuses("the first key", first, "its signature is not that of the issuer")
	asked := w.Asked.Load()
	for range 50 {
		w.refuses("the first key, again", first, "its signature is not that of the issuer")
	}
	if n := w.Asked.Load(); n != asked {
		t.Errorf("the issuer was asked %d times more", n-asked)
	}
}

// TestIssuerIsAway: an issuer that does not answer, or not as it should, is asked at a bounded rate, and a caller hears so
// in bounded time. Known keys go on to serve.
func TestIssuerIsAway(t *testing.T) {
	t.Parallel()
	down := oidctest.Start(t)
	down.Close()
	bad := map[string]http.HandlerFunc{
		"fails":   func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) },
		"no JSON": func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "<html>") },
		"endless": func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(rw, zeros{}) },
		"another": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(rw, `{"issuer":"https://evil.example"}`)
		},
		"redirects": func(rw http.ResponseWriter, req *http.Request) {
			http.Redirect(rw, req, "http://192.0.2.1/", http.StatusFound)
		},
		"circles": func(rw http.ResponseWriter, req *http.Request) {
			http.Redirect(rw, req, req.URL.Path, http.StatusFound)
		},
	}
	for what, h := range bad {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Fail(h)
			token := w.Token(t, "alice", nil)
			w.refuses(what, token, "cannot be asked now")
			w.Fail(nil)
			w.refuses(what+", just after", token, "cannot be asked now")
			w.clock.move(askEvery)
			w.accepts("after it has come back", token)
			w.Fail(h)
			w.clock.move(refreshAfter + time.Minute)
			w.accepts("while it is away again", token)
		})
	}
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.Fail(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			<-req.Context().Done()
		}))
		begun := time.Now()
		w.refuses("silent", w.Token(t, "alice", nil), "cannot be asked now")
		if took := time.Since(begun); took > 2*askMax {
			t.Errorf("a caller waits for %s", took)
		}
		begun = time.Now()
		w.refuses("silent, again", w.Token(t, "alice", nil), "cannot be asked now")
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the next caller waits for %s", took)
		}
	})
	t.Run("down", func(t *testing.T) {
		i := newIssuer(configOf(down.URL), time.Now)
		_, err := i.Verify(t.Context(), down.Token(t, "alice", nil))
		if _, ok := errors.AsType[*UnavailableError](err); !ok {
			t.Errorf("an issuer that is down: %v", err)
		}
	})
	t.Run("keys that nobody renews", func(t *testing.T) {
		w := newWorld(t)
		w.accepts("known keys", w.Token(t, "alice", nil))
		w.Fail(bad["fails"])
		w.clock.move(keysServe + time.Minute)
		until := w.clock.read().Add(time.Hour).Unix()
		w.refuses("after a day", w.Token(t, "alice", map[string]any{"exp": until}), "cannot be asked now")
	})
}

// zeros is a text without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestKeysOfIssuers: sets of keys, and which of them serve.
func TestKeysOfIssuers(t *testing.T) {
	t.Parallel()
	good := oidctest.NewKey(t, "RS256", "a").Public()
	with := func(name string, value any) map[string]any {
		j := map[string]any{}
		for k, v := range good {
			j[k] = v
		}
		j[name] = value
		return j
	}
	point := oidctest.NewKey(t, "ES256", "p").Public()
	point["x"] = point["y"]
	for _, c := range []struct {
		what string
		key  any
		want bool
	}{
		{"a good one", good, true}, {"for encryption", with("use", "enc"), false}, {"to verify", with("key_ops", []string{"verify"}), true},
		{"to encrypt", with("key_ops", []string{"encrypt"}), false}, {"a small one", with("n", text("x", 100)), false}, {"a large one", with("n", text("x", 2000)), false},
		{"an even exponent", with("e", "Ag"), false}, {"no exponent", with("e", ""), false}, {"a huge exponent", with("e", "AQAAAAAA"), false},
		{"no point of the curve", point, false}, {"a secret", map[string]any{"kty": "oct", "k": "AAAA"}, false}, {"no object", 7, false},
		{"Ed25519 of another size", map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}, false},
	} {
		keys, err := parseKeys([]byte(`{"keys":[` + mustJSON(t, c.key) + `]}`))
		if (err == nil) != c.want || (len(keys) == 1) != c.want {
			t.Errorf("%s: %d keys, %v", c.what, len(keys), err)
		}
	}
	if _, err := parseKeys([]byte(`{"keys":[` + strings.Repeat("{},", keysMax) + `{}]}`)); err == nil || !strings.Contains(err.Error(), "more than 64") {
		t.Errorf("too many keys: %v", err)
	}
}

func text(b string, n int) string { return strings.Repeat(b, n) }

// TestCurrent: the issuer stays as long as the file of rights says the same, and its keys with it.
func TestCurrent(t *testing.T) {
	t.Parallel()
	var c Current
	if c.Of(access.OIDC{}) != nil {
		t.Error("a file without an issuer has one")
	}
	one := c.Of(configOf("https://id.example.com"))
	if c.Of(configOf("https://id.example.com")) != one || c.Of(configOf("https://other.example.com")) == one {
		t.Error("the issuer is not that of the file")
	}
}

// FuzzKeys: no set of keys makes the reader panic, and what it returns can verify.
func FuzzKeys(f *testing.F) {
	for _, algorithm := range []string{"RS256", "ES256", "ES512", "EdDSA"} {
		f.Add([]byte(`{"keys":[` + mustJSON(f, oidctest.NewKey(f, algorithm, "a").Public()) + `]}`))
	}
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AA","e":"AQAB"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parseKeys(text)
		if err == nil && (len(keys) == 0 || len(keys) > keysMax) {
			t.Errorf("%d keys", len(keys))
		}
		for _, k := range keys {
			for _, a := range algorithms {
				if a.kind == k.kind && a.verify(&a, k.public, []byte("x"), make([]byte, 64)) {
					t.Error("a signature of zeros is good")
				}
			}
		}
	})
}
