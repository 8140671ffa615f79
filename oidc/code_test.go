package oidc

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/oidc/oidctest"
)

const callback = "http://127.0.0.1:7272/sign-in/callback"

// travels lets a person sign in at the issuer, and returns what it sends the browser back with.
func (w *world) travels(f Flow) url.Values {
	w.t.Helper()
	to, err := w.client.Departure(w.t.Context(), f)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := once.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := resp.Location()
	if err != nil || !strings.HasPrefix(back.String(), callback+"?") {
		w.t.Fatalf("the issuer answers %d and leads to %v: %v", resp.StatusCode, back, err)
	}
	return back.Query()
}

// TestCodeFlow: a person signs in, once, in the browser that began.
func TestCodeFlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Person("alice", map[string]any{"groups": []string{"sre", "dev"}})
	f := w.client.NewFlow(callback)
	q := w.travels(f)
	p, err := w.client.Return(t.Context(), f, q)
	if err != nil || p.Name != "alice" || len(p.Groups) != 2 {
		t.Fatalf("the person is %+v, %v", p, err)
	}
	if _, err := w.client.Return(t.Context(), f, q); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("a code that is used twice: %v", err)
	}
	other := w.client.NewFlow(callback)
	for _, c := range []struct {
		what, why string
		change    func(f *Flow, q url.Values)
	}{
		{"another state", "another window", func(_ *Flow, q url.Values) { q.Set("state", other.State) }},
		{"no state", "another window", func(f *Flow, q url.Values) { f.State = ""; q.Del("state") }},
		{"a refusal of another", "another window", func(_ *Flow, q url.Values) { q.Set("state", other.State); q.Set("error", "access_denied") }},
		{"a refusal", "access_denied", func(_ *Flow, q url.Values) { q.Set("error", "access_denied") }},
		{"no code", "no code", func(_ *Flow, q url.Values) { q.Del("code") }},
		{"another verifier", "invalid_grant", func(f *Flow, _ url.Values) { f.Verifier = other.Verifier }},
		{"another nonce", "another sign-in", func(f *Flow, _ url.Values) { f.Nonce = other.Nonce }},
		{"another address", "invalid_grant", func(f *Flow, _ url.Values) { f.Redirect += "x" }},
	} {
		f := w.client.NewFlow(callback)
		q := w.travels(f)
		c.change(&f, q)
		if p, err := w.client.Return(t.Context(), f, q); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %+v, %v; want %q", c.what, p, err, c.why)
		}
	}
	for what, claims := range map[string]map[string]any{
		"another audience": {"aud": "other"}, "made for another": {"azp": "other"}, "expired": {"exp": 1}, "no subject": {"sub": ""},
	} {
		w.Person("alice", claims)
		f := w.client.NewFlow(callback)
		q := w.travels(f)
		if p, err := w.client.Return(t.Context(), f, q); err == nil {
			t.Errorf("%s: %+v is signed in", what, p)
		}
	}
}

// TestClientSecret: a client with a secret shows it, from a file that only its owner reads.
func TestClientSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Secret("s3cret")
	w.Person("alice", nil)
	path := filepath.Join(t.TempDir(), "secret")
	for _, c := range []struct {
		what, file, content string
		mode                os.FileMode
		why                 string
	}{
		{"no secret", "", "", 0, "invalid_client"},
		{"a file that is missing", path, "", 0, "client_secret_file"},
		{"a file for all", path, "s3cret", 0o644, "client_secret_file"},
		{"another secret", path, "other", 0o600, "invalid_client"},
		{"the secret", path, "s3cret\n", 0o600, ""},
	} {
		if c.content != "" {
			if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
		}
		config := configOf(w.URL)
		config.SecretFile = c.file
		w.client = newIssuer(config, w.clock.read)
		f := w.client.NewFlow(callback)
		q := w.travels(f)
		_, err := w.client.Return(t.Context(), f, q)
		if (err == nil) != (c.why == "") || err != nil && (!strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestDeparture: the address of the file of rights goes before that of the browser, and a down issuer is said to be so.
func TestDeparture(t *testing.T) {
	t.Parallel()
	config := configOf(oidctest.Start(t).URL)
	config.RedirectURL = "https://carillon.example.com/sign-in/callback"
	i := newIssuer(config, (&clock{}).read)
	to, err := i.Departure(t.Context(), i.NewFlow(callback))
	if err != nil || !strings.Contains(to, "redirect_uri=https%3A%2F%2Fcarillon.example.com%2Fsign-in%2Fcallback") {
		t.Errorf("the browser leaves to %s: %v", to, err)
	}
}
