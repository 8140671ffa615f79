package server

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/testkit"
)

// writeOperator writes a file of rights with an operator, whose token is its name.
func writeOperator(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "auth.yaml")
	text := "principals: [{name: operator, token_sha256: " + access.HashToken("operator") + ", grants: [{tenant: default, role: operator}]}]"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// signInAt signs in at a node, once it has the key of the sessions, and returns the cookie.
func signInAt(t *testing.T, s *Server) (cookie string) {
	t.Helper()
	testkit.Until(t, "the node has the key of the sessions", func() bool { _, err := s.sessionKey.get(); return err == nil })
	r := visitNode(t, s, http.MethodPost, "/sign-in", url.Values{"token": {"operator"}}.Encode(), "")
	cookie, _, _ = strings.Cut(r.Header.Get("Set-Cookie"), ";")
	if r.Status != http.StatusSeeOther || !strings.HasPrefix(cookie, "__Host-carillon=") {
		t.Fatalf("sign in at %s: %d %s", s.opts.Node, r.Status, r.Body)
	}
	return cookie
}

// visitNode sends a request as the browser of a reader with a session does.
func visitNode(t *testing.T, s *Server, method, path, form, cookie string) testkit.Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.Ready().HTTP+path, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.Ready().HTTP)
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return testkit.Do(t, once, req)
}

// takesSession checks that each node takes a session, also for a change, which a standby passes on.
func takesSession(t *testing.T, cookie string, nodes ...*Server) {
	t.Helper()
	for _, s := range nodes {
		r := onceLed(t, func() testkit.Reply { return visitNode(t, s, http.MethodGet, "/jobs", "", cookie) })
		if r.Status != http.StatusOK || !strings.Contains(r.Body, "token:operator") {
			t.Errorf("%s does not take the session: %d", s.opts.Node, r.Status)
		}
		r = onceLed(t, func() testkit.Reply {
			form := url.Values{"name": {rand.Text()}, "schedule": {"@yearly"}, "target_kind": {"nats"}, "target_address": {"a"}}
			return visitNode(t, s, http.MethodPost, "/new", form.Encode(), cookie)
		})
		if r.Status != http.StatusSeeOther {
			t.Errorf("a change at %s: %d %s", s.opts.Node, r.Status, r.Body)
		}
	}
}

// TestSessionInACluster: who has signed in at one node of a cluster with a password is known at each.
func TestSessionInACluster(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	path := writeOperator(t)
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	cookie := signInAt(t, servers[0])
	takesSession(t, cookie, servers...)
	for i, s := range servers {
		if entries, err := os.ReadDir(nodes[i].Dir); err != nil || strings.Contains(strings.Join(namesOf(entries), " "), "SESSION-KEY") {
			t.Errorf("%s keeps a key of its own, which another node does not have: %v, %v", s.opts.Node, entries, err)
		}
	}
}

func namesOf(entries []os.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSessionKeyInNATS: the nodes of a cluster without a password share a key by NATS, which keeps it: a later node has it
// too, and a bucket that is lost gets it back.
func TestSessionKeyInNATS(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	path := writeOperator(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Auth = path
		return p.startWith(o)
	}
	a, b := start("a"), start("b")
	cookie := signInAt(t, a)
	_ = signInAt(t, b)
	takesSession(t, cookie, a, b)
	const bucket = "CARILLON_SESSIONS_carillon"
	if err := p.js.DeleteKeyValue(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	if err := b.readSessionKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := start("c")
	_ = signInAt(t, c)
	takesSession(t, cookie, a, b, c)
	kv, err := p.js.KeyValue(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := kv.Get(t.Context(), sessionKeyName)
	if own, _ := a.sessionKey.get(); err != nil || !bytes.Equal(entry.Value(), own) {
		t.Errorf("the bucket does not hold the key of the nodes: %v", err)
	}
	if _, err := kv.Put(t.Context(), sessionKeyName, []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	if err := a.readSessionKey(t.Context()); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("garbage in the bucket: %v", err)
	}
	takesSession(t, cookie, a)
	if err := kv.Delete(t.Context(), sessionKeyName); err != nil {
		t.Fatal(err)
	}
	if err := a.readSessionKey(t.Context()); err != nil {
		t.Errorf("after the key was deleted: %v", err)
	}
	takesSession(t, cookie, a)
}
