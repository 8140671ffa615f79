package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/session"
)

const sessionRights = `
oidc: {issuer: "https://id.example.com", client_id: carillon}
principals:
  - {name: alice, token_sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad, oidc_group: sre, grants: [{tenant: default, role: viewer}]}
`

// sessionGateway returns a gateway with rights and a key, at a time that stands still.
func sessionGateway(t testing.TB) (w *gateway, key []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	if err := os.WriteFile(path, []byte(sessionRights), 0o600); err != nil {
		t.Fatal(err)
	}
	rights, err := access.Open(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	key = session.NewKey()
	noon := time.Unix(1_800_000_000, 0)
	return &gateway{opts: Options{Access: rights, SessionKey: func() ([]byte, error) { return key, nil }}, now: func() time.Time { return noon }}, key
}

// whoShows returns the caller of a request with cookies.
func (w *gateway) whoShows(cookies ...*http.Cookie) access.Who {
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, c := range cookies {
		req.AddCookie(c)
	}
	return w.recognize(req)
}

// TestSessionTimes: a session lasts as long as it says, and neither longer nor under another name.
func TestSessionTimes(t *testing.T) {
	w, _ := sessionGateway(t)
	rw := httptest.NewRecorder()
	begun := w.now()
	if err := w.setCookie(rw, sessionCookie, &identity{Token: access.HashToken("abc")}, sessionLife); err != nil {
		t.Fatal(err)
	}
	c := rw.Result().Cookies()[0]
	for _, at := range []struct {
		after time.Duration
		good  bool
	}{{0, true}, {sessionLife - time.Second, true}, {sessionLife, false}, {1000 * sessionLife, false}} {
		w.now = func() time.Time { return begun.Add(at.after) }
		if who := w.whoShows(c); (who.By() == "token:alice") != at.good {
			t.Errorf("after %s the reader is %q", at.after, who.By())
		}
	}
	w.now = func() time.Time { return begun }
	if who := w.whoShows(&http.Cookie{Name: flowCookie, Value: c.Value}); who.Principal != nil {
		t.Error("a session counts under the name of another cookie")
	}
	rw = httptest.NewRecorder()
	if err := w.setCookie(rw, flowCookie, &identity{Token: access.HashToken("abc")}, flowLife); err != nil {
		t.Fatal(err)
	}
	if who := w.whoShows(&http.Cookie{Name: sessionCookie, Value: rw.Result().Cookies()[0].Value}); who.Principal != nil {
		t.Error("another cookie counts as a session")
	}
}

// FuzzSession: whatever a session holds, its reader is a principal only by a token or a group that one has, and of the
// issuer in the file.
func FuzzSession(f *testing.F) {
	w, key := sessionGateway(f)
	for _, content := range []string{
		`{"token":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}`, `{"token":"00"}`, `{"issuer":"https://id.example.com","client":"carillon","name":"a","groups":["sre"]}`,
		`{"issuer":"https://evil.example","client":"carillon","name":"a","groups":["sre"]}`, `{"name":"a","groups":["sre"]}`, `{}`, `null`, `[`, "",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		value, err := session.Seal(key, sessionCookie, content, w.now().Add(time.Minute))
		if err != nil {
			t.Skip()
		}
		who := w.whoShows(&http.Cookie{Name: sessionCookie, Value: value})
		if who.Principal == nil {
			return
		}
		var i struct {
			Token, Issuer, Client string
			Groups                []string
		}
		err = json.Unmarshal(content, &i) // another reader than that of the product
		byToken := strings.EqualFold(i.Token, access.HashToken("abc"))
		byGroup := i.Issuer == "https://id.example.com" && i.Client == "carillon" && slices.Contains(i.Groups, "sre")
		if err != nil || who.Name != "alice" || !byToken && !byGroup {
			t.Errorf("%s is a session of %s, %v", content, who.Name, err)
		}
	})
}

// FuzzOwnPath: what a sign-in leads to is a path of this server, however a browser reads it.
func FuzzOwnPath(f *testing.F) {
	for _, next := range []string{"/", "/jobs?tenant=a#b", "//evil.example", `/\evil.example`, "/\t/evil.example", "https://evil.example", "javascript:alert(1)", "/%2f/evil", "/a//b", "/..//evil.example"} {
		f.Add(next)
	}
	base := &url.URL{Scheme: "https", Host: "carillon.example.com", Path: "/sign-in"}
	f.Fuzz(func(t *testing.T, next string) {
		path := ownPath(next)
		u, err := url.Parse(path)
		if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\t\r\n\x00") {
			t.Fatalf("%q leads to %q, %v", next, path, err)
		}
		if to := base.ResolveReference(u); to.Host != base.Host || to.Scheme != base.Scheme {
			t.Errorf("%q leads to %s", next, to)
		}
	})
}
