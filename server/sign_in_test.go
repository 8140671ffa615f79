package server_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/oidc/oidctest"
	"github.com/carillon-io/carillon/testkit"
)

// TestSignInByToken: a browser without a session is led to the page to sign in, and from there back to where it wanted.
func TestSignInByToken(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	b := browse(t, l.Ready().HTTP)
	r := b.do("GET", "/jobs?tenant=billing&prefix=a", "")
	want := "/sign-in?next=%2Fjobs%3Ftenant%3Dbilling%26prefix%3Da"
	if r.Status != http.StatusSeeOther || r.Header.Get("Location") != want {
		t.Fatalf("a page without a session: %d to %q", r.Status, r.Header.Get("Location"))
	}
	r = b.do("GET", want, "")
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `value="/jobs?tenant=billing&amp;prefix=a"`) || !strings.Contains(r.Body, "/sign-in/issuer?next=") ||
		strings.Contains(r.Body, `href="/jobs"`) || strings.Contains(r.Body, "leader") || strings.Contains(r.Body, "without TLS") {
		t.Errorf("the page to sign in: %d %s", r.Status, r.Body)
	}
	for _, token := range []string{"", "wrong", "viewer ", strings.Repeat("x", 5000), "a.b.c", "\xff\xfe", strings.Repeat("x", 1<<20)} {
		if r := b.signsIn(token, "/"); token != "viewer " && (r.Status != http.StatusUnauthorized || r.Header.Get("Set-Cookie") != "" || !strings.Contains(r.Body, `role="alert"`)) {
			t.Errorf("the token %.10q: %d %s", token, r.Status, r.Body)
		}
	}
	if r := b.signsIn("prom", "/"); r.Status != http.StatusForbidden || r.Header.Get("Set-Cookie") != "" {
		t.Errorf("who may see no page: %d", r.Status)
	}
	b = browse(t, l.Ready().HTTP)
	r = b.signsIn("viewer", "/jobs?tenant=billing")
	cookie := r.Header.Get("Set-Cookie")
	if r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/jobs?tenant=billing" || strings.Contains(cookie, "viewer") {
		t.Fatalf("a sign-in: %d to %q with %q", r.Status, r.Header.Get("Location"), cookie)
	}
	for _, part := range []string{"__Host-carillon=", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax", "; Max-Age=28800"} {
		if !strings.Contains(cookie, part) || strings.Contains(cookie, "Domain") {
			t.Errorf("the cookie %q lacks %q", cookie, part)
		}
	}
	r = b.do("GET", "/", "")
	for _, text := range []string{`<bdi id="reader">token:viewer</bdi>`, `action="/sign-out"`, `<select id="tenant" name="tenant"><option selected>billing</option></select>`} {
		if r.Status != http.StatusOK || !strings.Contains(r.Body, text) {
			t.Errorf("the first page has no %s: %d", text, r.Status)
		}
	}
	if r := b.do("GET", "/sign-in?next=/audit", ""); r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/audit" {
		t.Errorf("who has signed in, at the page to sign in: %d to %q", r.Status, r.Header.Get("Location"))
	}
	if r := b.do("POST", "/sign-out", ""); r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/sign-in" {
		t.Errorf("a sign-out: %d", r.Status)
	}
	if r := b.do("GET", "/", ""); r.Status != http.StatusSeeOther {
		t.Errorf("a page after the sign-out: %d", r.Status)
	}
}

// TestNextIsAnOwnPage: a sign-in leads to no other site.
func TestNextIsAnOwnPage(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	for next, want := range map[string]string{
		"/run?id=1": "/run?id=1", "": "/", "https://evil.example/": "/", "//evil.example/": "/", `/\evil.example`: "/", `\\evil.example`: "/", "/%5cevil": "/%5cevil",
		"javascript:alert(1)": "/", "evil": "/", "/\n/evil.example": "/", "///evil.example": "/", "/sign-out": "/", "/sign-in": "/", "/api/v1/jobs": "/",
		"/live?page=/": "/", "/" + strings.Repeat("a", 2000): "/", "/%zz": "/", "http:/evil": "/",
	} {
		if r := browse(t, l.Ready().HTTP).signsIn("viewer", next); r.Status != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Errorf("next=%q leads to %q", next, r.Header.Get("Location"))
		}
	}
}

// TestSessionsEnd: a session ends with its principal and with its token, at once, and serves on no other server.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	b, by := browse(t, l.Ready().HTTP), browse(t, l.Ready().HTTP)
	b.signsIn("viewer", "/")
	l.issuer.Person("1234", map[string]any{"groups": []string{"viewer", "operator", "unknown"}})
	if r := by.travels("/sign-in/issuer?next=/jobs"); r.Status != http.StatusOK || !strings.Contains(r.Body, `<bdi id="reader">oidc:1234</bdi>`) || !strings.Contains(r.Body, ">New job<") {
		t.Fatalf("signed in by the issuer: %d %s", r.Status, r.Body)
	}
	other := newLobby(t)
	for what, cookie := range map[string]string{"of another server": cookieOf(b), "of nobody": "x", "an empty one": "", "a large one": strings.Repeat("A", 8000), "its end cut off": cookieOf(b)[:40]} {
		r := browse(t, other.Ready().HTTP).do("GET", "/", "", "Cookie: __Host-carillon="+cookie)
		if r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, "the session has ended, or was not begun here") {
			t.Errorf("a cookie %s: %d %s", what, r.Status, r.Body)
		}
		r = browse(t, other.Ready().HTTP).do("GET", "/api/v1/jobs?tenant=billing", "", "Cookie: __Host-carillon="+cookie, "Accept: */*")
		if r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, `"unauthenticated"`) {
			t.Errorf("a cookie %s at the API: %d %s", what, r.Status, r.Body)
		}
	}
	if r := b.do("GET", "/", "", "Cookie: __Host-carillon="+cookieOf(b)+"; __Host-carillon="+cookieOf(b)); r.Status != http.StatusUnauthorized {
		t.Errorf("two cookies: %d", r.Status)
	}
	l.write("operator")
	l.Reload()
	if r := b.do("GET", "/", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("a principal that is removed: %d", r.Status)
	}
	if r := by.do("GET", "/jobs", ""); r.Status != http.StatusOK || !strings.Contains(r.Body, "oidc:1234") {
		t.Errorf("a person of whom a principal is left: %d", r.Status)
	}
	l.write()
	l.Reload()
	if r := by.do("GET", "/jobs", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("a person of whom no principal is left: %d", r.Status)
	}
}

// TestSessionChangesNothingForOthers: what a session does needs the word of the browser that the request is its own.
func TestSessionChangesNothingForOthers(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	b := browse(t, l.Ready().HTTP)
	b.signsIn("operator", "/")
	const job = `{"name":"a","schedule":"@yearly","target":{"kind":"nats","subject":"a"}}`
	for what, headers := range map[string][]string{
		"another site": {"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, "a neighbour": {"Sec-Fetch-Site: same-site"}, "no word": {"Origin: ", "Sec-Fetch-Site: "},
	} {
		for _, path := range []string{"/api/v1/jobs?tenant=billing", "/new?tenant=billing", "/sign-out", "/sign-in"} {
			if r := b.do("POST", path, job, append(headers, "Content-Type: application/json")...); r.Status != http.StatusForbidden || !strings.Contains(r.Body, `"cross_origin"`) {
				t.Errorf("%s at %s: %d %s", what, path, r.Status, r.Body)
			}
		}
	}
	if r := b.do("POST", "/api/v1/jobs?tenant=billing", job, "Content-Type: application/json"); r.Status != http.StatusCreated {
		t.Errorf("its own change over the API: %d %s", r.Status, r.Body)
	}
	if r := b.do("GET", "/api/v1/audit?tenant=billing", "", "Accept: */*"); !strings.Contains(r.Body, `"by":"token:operator"`) {
		t.Errorf("the audit log: %s", r.Body)
	}
	// A header goes before the session, whether it is good or not.
	if r := b.do("GET", "/api/v1/jobs?tenant=billing", "", "Authorization: Bearer wrong"); r.Status != http.StatusUnauthorized {
		t.Errorf("a wrong token beside a session: %d", r.Status)
	}
	if r := b.do("DELETE", "/api/v1/jobs/a?tenant=billing", "", "Authorization: Bearer admin"); r.Status != http.StatusOK {
		t.Errorf("a good token beside a session: %d %s", r.Status, r.Body)
	}
	if r := b.do("GET", "/jobs", "", "Authorization: Bearer wrong"); r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, `"unauthenticated"`) {
		t.Errorf("a page for a program: %d %s", r.Status, r.Body)
	}
}

// TestSignInByIssuer: what goes wrong between the browser, the issuer and the server.
func TestSignInByIssuer(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	for _, c := range []struct {
		what   string
		claims map[string]any
		status int
		text   string
	}{
		{"in no group", map[string]any{"groups": []string{"other"}}, 401, "no principal of the file of rights has a group of theirs"},
		{"without groups", nil, 401, "no principal"},
		{"without a page", map[string]any{"groups": "prom"}, 403, "may not use status"},
		{"for another client", map[string]any{"groups": "viewer", "aud": "other"}, 401, "another audience"},
		{"a viewer", map[string]any{"groups": "viewer"}, 200, "oidc:alice"},
	} {
		l.issuer.Person("alice", c.claims)
		if r := browse(t, l.Ready().HTTP).travels("/sign-in/issuer?next=/"); r.Status != c.status || !strings.Contains(r.Body, c.text) {
			t.Errorf("%s: %d %s", c.what, r.Status, r.Body)
		}
	}
	b := browse(t, l.Ready().HTTP)
	away := b.do("GET", "/sign-in/issuer", "").Header.Get("Location")
	back := b.do("GET", away, "").Header.Get("Location")
	if r := browse(t, l.Ready().HTTP).do("GET", back, ""); r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, "another window") {
		t.Errorf("the code of another browser: %d %s", r.Status, r.Body)
	}
	if r := b.do("GET", strings.Replace(back, "state=", "state=x", 1), ""); r.Status != http.StatusUnauthorized {
		t.Errorf("another state: %d", r.Status)
	}
	const forged = "/sign-in/callback?error=access_denied&error_description=Call+0800+EVIL&state="
	if r := b.do("GET", forged, ""); r.Status != http.StatusUnauthorized || r.Header.Get("Set-Cookie") != "" || !strings.Contains(r.Body, "another window") || strings.Contains(r.Body, "EVIL") {
		t.Errorf("a forged return: %d %v %s", r.Status, r.Header, r.Body)
	}
	if r := b.do("GET", back, ""); r.Status != http.StatusSeeOther {
		t.Errorf("the return after forged ones: %d %s", r.Status, r.Body)
	}
	if r := b.do("GET", back, ""); r.Status != http.StatusUnauthorized {
		t.Errorf("a second return: %d", r.Status)
	}
	state := func(away string) string {
		u, err := url.Parse(away)
		if err != nil {
			t.Fatal(err)
		}
		return u.Query().Get("state")
	}(b.do("GET", "/sign-in/issuer", "").Header.Get("Location"))
	if r := b.do("GET", forged+state, ""); r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, "the issuer has not signed you in") || strings.Contains(r.Body, "EVIL") || strings.Contains(r.Body, "access_denied") {
		t.Errorf("the issuer says no: %d %s", r.Status, r.Body)
	}
	l.issuer.Close()
	down := newLobby(t)
	down.issuer.Close()
	begun := time.Now()
	if r := browse(t, down.Ready().HTTP).do("GET", "/sign-in/issuer", ""); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, "the issuer cannot be asked now") || strings.Contains(r.Body, strings.TrimPrefix(down.issuer.URL, "http://")) || time.Since(begun) > 8*time.Second {
		t.Errorf("an issuer that is down: %d after %s %s", r.Status, time.Since(begun), r.Body)
	}
	if r := browse(t, down.Ready().HTTP).do("GET", "/api/v1/status", "", "Authorization: Bearer "+down.issuer.Token(t, "a", nil)); r.Status != http.StatusUnauthorized ||
		!strings.Contains(r.Body, "the token is not accepted: the issuer cannot be asked now; try again later") || strings.Contains(r.Body, "127.0.0.1") {
		t.Errorf("a token of an issuer that is down: %d %s", r.Status, r.Body)
	}
	if r := browse(t, down.Ready().HTTP).signsIn("viewer", "/"); r.Status != http.StatusSeeOther {
		t.Errorf("a token while the issuer is down: %d", r.Status)
	}
}

// TestIssuersTokens: a token of the issuer is one for HTTP, and what is wrong with another is said.
func TestIssuersTokens(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	ask := func(token string) testkit.Reply {
		return browse(t, l.Ready().HTTP).do("PUT", "/api/v1/jobs/a?tenant=billing", `{"schedule":"@yearly","target":{"kind":"nats","subject":"a"}}`, "Content-Type: application/json", "Authorization: Bearer "+token)
	}
	good := l.issuer.Token(t, "build-7", map[string]any{"groups": []string{"operator"}})
	if r := ask(good); r.Status != http.StatusCreated {
		t.Fatalf("a good token: %d %s", r.Status, r.Body)
	}
	if r := browse(t, l.Ready().HTTP).do("GET", "/api/v1/audit?tenant=billing", "", "Authorization: Bearer admin"); !strings.Contains(r.Body, `"by":"oidc:build-7","from":"http"`) {
		t.Errorf("the audit log: %s", r.Body)
	}
	none := oidctest.NewKey(t, "RS256", "first").Sign(t, map[string]any{"alg": "none"}, l.issuer.Claims("build-7", nil))
	for what, c := range map[string]struct {
		token, text string
		status      int
	}{
		"expired":          {l.issuer.Token(t, "a", map[string]any{"exp": 1}), "it has expired", 401},
		"from the future":  {l.issuer.Token(t, "a", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}), "not valid yet", 401},
		"no algorithm":     {none, "algorithm", 401},
		"another audience": {l.issuer.Token(t, "a", map[string]any{"aud": "b"}), "another audience", 401},
		"in no group":      {l.issuer.Token(t, "a", nil), "no principal", 401},
		"a viewer":         {l.issuer.Token(t, "a", map[string]any{"groups": "viewer"}), "oidc:a may not use jobs.put in the tenant billing", 403},
		"wrong encoding":   {"\x80.\x81.\x82", "no signed JWT", 401},
		"almost too large": {strings.Repeat("a", 15<<10) + ".b.c", "no signed JWT", 401},
	} {
		if r := ask(c.token); r.Status != c.status || !strings.Contains(r.Body, c.text) {
			t.Errorf("%s: %d %s", what, r.Status, r.Body)
		}
	}
	// The server of net/http refuses so large a header by itself, before it is read whole.
	if r := ask(strings.Repeat("a", 1<<20)); r.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a token of 1 MB: %d", r.Status)
	}
	b := browse(t, l.Ready().HTTP)
	if r := b.signsIn(l.issuer.Token(t, "alice", map[string]any{"groups": "viewer", "exp": time.Now().Add(10 * time.Minute).Unix()}), "/"); r.Status != http.StatusSeeOther || !strings.Contains(r.Header.Get("Set-Cookie"), "Max-Age=59") && !strings.Contains(r.Header.Get("Set-Cookie"), "Max-Age=600") {
		t.Errorf("a session by a token of ten minutes: %d %s", r.Status, r.Header.Get("Set-Cookie"))
	}
}

// TestSessionSurvivesARestart: the key of a node alone stays with its data.
func TestSessionSurvivesARestart(t *testing.T) {
	t.Parallel()
	l := &lobby{t: t, path: filepath.Join(t.TempDir(), "auth.yaml"), issuer: oidctest.Start(t)}
	l.write("viewer")
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = l.path
	first := startWith(t, o)
	b := browse(t, first.Ready().HTTP)
	b.signsIn("viewer", "/")
	cookie := cookieOf(b)
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := startWith(t, o)
	if r := browse(t, again.Ready().HTTP).do("GET", "/", "", "Cookie: __Host-carillon="+cookie); r.Status != http.StatusOK {
		t.Errorf("a session after a restart: %d", r.Status)
	}
}
