// Package oidctest is a small issuer of OpenID Connect for tests: it describes itself, shows its keys, signs persons in
// by the code flow with PKCE, and signs whatever a test wants, good or bad. It shares no code with package oidc.
package oidctest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ClientID is the client that the issuer knows.
const ClientID = "carillon"

// Issuer is an issuer of identities at a loopback address. Its methods are safe for concurrent use.
type Issuer struct {
	URL string

	// Asked counts the requests for its keys.
	Asked atomic.Int64

	server *httptest.Server
	mu     sync.Mutex
	keys   []*Key
	claims map[string]any // of who signs in next
	byHand bool           // a person presses a button
	fails  http.Handler   // answers everything; nil: the issuer does
	secret string         // of the client; "": it is public
	codes  map[string]grant
}

// grant is what a code is good for.
type grant struct{ redirect, challenge, nonce string }

// Start starts an issuer that ends with the test.
func Start(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{keys: []*Key{NewKey(t, "RS256", "first")}, codes: make(map[string]grant)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.describe)
	mux.HandleFunc("GET /keys", i.showKeys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.redeem)
	i.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		i.mu.Lock()
		fails := i.fails
		i.mu.Unlock()
		if fails != nil {
			fails.ServeHTTP(rw, req)
			return
		}
		mux.ServeHTTP(rw, req)
	}))
	i.URL = i.server.URL
	t.Cleanup(i.server.Close)
	return i
}

// Fail lets a handler answer instead of the issuer; nil: the issuer answers again.
func (i *Issuer) Fail(h http.Handler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fails = h
}

// Close ends the issuer: connections to it are refused.
func (i *Issuer) Close() { i.server.Close() }

// Person decides who signs in from now on: the subject, and claims besides.
func (i *Issuer) Person(subject string, claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.claims = map[string]any{"sub": subject}
	for name, value := range claims {
		i.claims[name] = value
	}
}

// ByHand lets the person press a button before they are signed in, as real ones do.
func (i *Issuer) ByHand() { i.byHand = true }

// Secret makes the client a confidential one.
func (i *Issuer) Secret(secret string) { i.secret = secret }

// Keys replaces the keys of the issuer. It signs with the first.
func (i *Issuer) Keys(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Claims returns the claims of a good token for a subject, with others that replace them; nil takes one away.
func (i *Issuer) Claims(subject string, others map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": i.URL, "sub": subject, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "groups": []string{"sre"},
	}
	for name, value := range others {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

// Token returns a token for a subject, signed with the first key.
func (i *Issuer) Token(t testing.TB, subject string, others map[string]any) string {
	t.Helper()
	i.mu.Lock()
	key := i.keys[0]
	i.mu.Unlock()
	return key.Sign(t, map[string]any{"kid": key.ID}, i.Claims(subject, others))
}

func (i *Issuer) describe(rw http.ResponseWriter, _ *http.Request) {
	reply(rw, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"scopes_supported": []string{"openid", "profile", "groups"}, "response_types_supported": []string{"code"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "subject_types_supported": []string{"public"},
	})
}

func (i *Issuer) showKeys(rw http.ResponseWriter, _ *http.Request) {
	i.Asked.Add(1)
	i.mu.Lock()
	defer i.mu.Unlock()
	var list []map[string]any
	for _, key := range i.keys {
		list = append(list, key.Public())
	}
	reply(rw, http.StatusOK, map[string]any{"keys": list})
}

// authorize signs the person in.
func (i *Issuer) authorize(rw http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" ||
		q.Get("scope") != "openid profile groups" || q.Get("state") == "" || q.Get("redirect_uri") == "" {
		http.Error(rw, "the request is not one of the code flow with PKCE: "+req.URL.RawQuery, http.StatusBadRequest)
		return
	}
	if i.byHand && q.Get("pressed") == "" {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(rw, `<!doctype html><title>Issuer</title><link rel="icon" href="data:,"><main><h1>Who are you?</h1><a id="go" href="/authorize?%s&amp;pressed=1">I am alice</a></main>`, html.EscapeString(req.URL.RawQuery))
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = grant{q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce")}
	i.mu.Unlock()
	http.Redirect(rw, req, q.Get("redirect_uri")+"?code="+code+"&state="+q.Get("state"), http.StatusFound)
}

func reply(rw http.ResponseWriter, status int, value any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(value)
}
