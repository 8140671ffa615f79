package server_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/oidc/oidctest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// lobby is a server on whose pages people sign in, by the issuer or by the token of their role.
type lobby struct {
	t      *testing.T
	path   string // of the file of rights
	issuer *oidctest.Issuer
	*server.Server
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	l := &lobby{t: t, path: filepath.Join(t.TempDir(), "auth.yaml"), issuer: oidctest.Start(t)}
	l.write("viewer", "operator", "admin")
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = l.path
	l.Server = startWith(t, o)
	return l
}

// write writes the file of rights, with a principal for each role in the tenant billing: its token is its name, and so
// is its group.
func (l *lobby) write(names ...string) {
	l.t.Helper()
	text := fmt.Sprintf("oidc: {issuer: %q, client_id: carillon}\ntenants: {billing: , shop: }\nprincipals:\n", l.issuer.URL)
	text += fmt.Sprintf("  - {name: prom, token_sha256: %s, oidc_group: prom, grants: [{role: metrics}]}\n", access.HashToken("prom"))
	text += fmt.Sprintf("  - {name: root, token_sha256: %s, grants: [{tenant: \"*\", role: admin}]}\n", access.HashToken("root"))
	for _, name := range names {
		text += fmt.Sprintf("  - {name: %s, token_sha256: %s, oidc_group: %s, grants: [{tenant: billing, role: %s}]}\n", name, access.HashToken(name), name, name)
	}
	if err := os.WriteFile(l.path+".new", []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Rename(l.path+".new", l.path); err != nil {
		l.t.Fatal(err)
	}
}

// browser is a browser without JavaScript, with a jar of cookies.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

// secureJar keeps cookies that are for secure connections also for that to this machine, as browsers do.
type secureJar struct{ jar *cookiejar.Jar }

func (j secureJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.jar.SetCookies(secure(u), cookies)
}
func (j secureJar) Cookies(u *url.URL) []*http.Cookie { return j.jar.Cookies(secure(u)) }

// secure returns the URL as it is over TLS. The port tells apart what is another host for the tests.
func secure(u *url.URL) *url.URL {
	return &url.URL{Scheme: "https", Host: strings.ReplaceAll(u.Host, ":", ".") + ".test", Path: u.Path}
}

func browse(t *testing.T, base string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, base, &http.Client{Jar: secureJar{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends a request as a browser does: with what it accepts, and with its own site as the origin.
func (b *browser) do(method, path, body string, headers ...string) testkit.Reply {
	b.t.Helper()
	if !strings.Contains(path, "://") {
		path = b.base + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	return testkit.Do(b.t, b.http, req)
}

// signsIn signs in by a token, and returns the answer.
func (b *browser) signsIn(token, next string) testkit.Reply {
	b.t.Helper()
	return b.do("POST", "/sign-in", url.Values{"token": {token}, "next": {next}}.Encode())
}

// travels follows redirects, also to the issuer and back.
func (b *browser) travels(path string) testkit.Reply {
	b.t.Helper()
	r := b.do("GET", path, "")
	for range 5 {
		if to := r.Header.Get("Location"); to != "" {
			r = b.do("GET", to, "")
		}
	}
	return r
}

// cookieOf returns the session of a browser.
func cookieOf(b *browser) string {
	u, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(u) {
		if c.Name == "__Host-carillon" {
			return c.Value
		}
	}
	return ""
}
