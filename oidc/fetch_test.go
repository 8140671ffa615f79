package oidc

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRedirects: a document may move within the issuer's host. Nothing leads to another host, and what carries a code and
// a secret is not sent on at all.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/within", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, "/document", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/away", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, other.URL+"/document", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/round", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, "/round", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/document", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("{}")) })
	issuer := httptest.NewServer(mux)
	t.Cleanup(issuer.Close)
	i := newIssuer(configOf(issuer.URL), (&clock{}).read)
	t.Cleanup(i.http.CloseIdleConnections)
	for path, want := range map[string]bool{"/document": true, "/within": true, "/away": false, "/round": false} {
		text, err := i.get(t.Context(), issuer.URL+path)
		if (err == nil) != want || want && string(text) != "{}" {
			t.Errorf("GET %s: %q, %v", path, text, err)
		}
		req, err := http.NewRequest(http.MethodPost, issuer.URL+path, strings.NewReader("code=x&client_secret=y"))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = i.ask(t.Context(), req); (err == nil) != (path == "/document") {
			t.Errorf("POST %s: %v", path, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

// TestPublicText: what a caller reads of an error has no word of the issuer, of this machine and of the request.
func TestPublicText(t *testing.T) {
	t.Parallel()
	const inside = "https://id.internal:8443/keys"
	for _, err := range []error{&UnavailableError{errors.New(inside)}, &DeniedError{inside}, errors.New(inside)} {
		if text := PublicText(err); strings.Contains(text, "internal") || len(text) < 20 || !strings.Contains(err.Error(), inside) {
			t.Errorf("%T: %q for callers, %q for the log", err, text, err)
		}
	}
	if text := PublicText(notAccepted(Refusal("it has expired"))); text != "the token of the issuer is not accepted: it has expired" {
		t.Error(text)
	}
}
