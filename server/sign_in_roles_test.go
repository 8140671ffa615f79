package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// session returns a browser whose reader has signed in by the token of a role; "": nobody has.
func (l *lobby) session(role string) *browser {
	l.t.Helper()
	b := browse(l.t, l.Ready().HTTP)
	if role != "" {
		b.signsIn(role, "/")
	}
	return b
}

// TestPagesByRole tries each role at each page, in a session: it may do what it may do by a token, and nothing else.
func TestPagesByRole(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	for _, role := range []string{"", "viewer", "operator", "admin", "root"} {
		b := l.session(role)
		rank := map[string]int{"": 0, "viewer": 1, "operator": 2, "admin": 3, "root": 4}[role]
		for _, m := range matrix {
			if m.page == "" {
				continue
			}
			method, path, _ := strings.Cut(m.page, " ")
			want := http.StatusForbidden
			switch {
			case role == "" && method == http.MethodGet:
				want = http.StatusSeeOther
			case role == "":
				want = http.StatusUnauthorized
			case rank >= map[string]int{"viewer": 1, "operator": 2, "admin": 3}[m.role]:
				want = 0
			}
			r := b.do(method, path, "name=a&id=x")
			if got := outcome(r.Status); want == 0 && got != 0 || want != 0 && r.Status != want {
				t.Errorf("%s in a session of %q at %s: %d; want %d", m.verb, role, m.page, r.Status, want)
			}
		}
		for _, page := range []string{"/new?tenant=billing", "/job/edit?tenant=billing&name=a"} {
			if r := b.do("GET", page, ""); role != "" && (r.Status == http.StatusForbidden) != (rank < 2) {
				t.Errorf("%s in a session of %q: %d", page, role, r.Status)
			}
		}
		// Another tenant's pages are refused to all but the admin of all.
		if r := b.do("GET", "/jobs?tenant=shop", ""); role != "" && (r.Status == http.StatusForbidden) != (role != "root") {
			t.Errorf("another tenant in a session of %q: %d", role, r.Status)
		}
	}
}

// TestPagesOffer: a page offers what its reader may do, and masks what they may not see.
func TestPagesOffer(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	const job = `{"name":"a","schedule":"@yearly","target":{"kind":"http","url":"http://127.0.0.1:1/planted-path?q=planted-query"},"headers":{"X-Plain":"planted-plain","X-Auth-Token":"planted-token"},"payload":{"p":"planted-payload"},"retry":{"max_attempts":1}}`
	if r := l.session("operator").do("POST", "/api/v1/jobs?tenant=billing", job, "Content-Type: application/json"); r.Status != http.StatusCreated {
		t.Fatalf("put: %d %s", r.Status, r.Body)
	}
	if r := l.session("operator").do("POST", "/job/trigger?tenant=billing", "name=a&key=k"); r.Status != http.StatusSeeOther {
		t.Fatalf("trigger: %d %s", r.Status, r.Body)
	}
	viewer := l.session("viewer")
	var runs string
	testkit.Until(t, "the run is dead", func() bool {
		runs = viewer.do("GET", "/runs?tenant=billing", "").Body
		return strings.Contains(runs, `data-status="dead"`)
	})
	_, id, _ := strings.Cut(runs, `data-run="`)
	id, _, _ = strings.Cut(id, `"`)
	for _, c := range []struct{ role, page, offers string }{
		{"viewer", "/", ""}, {"viewer", "/jobs?tenant=billing", ""}, {"viewer", "/job?tenant=billing&name=a", ""}, {"viewer", "/runs?tenant=billing", ""},
		{"viewer", "/run?tenant=billing&id=" + id, ""}, {"viewer", "/audit?tenant=billing", ""}, {"viewer", "/playground?tenant=billing&schedule=@daily", ""},
		{"operator", "/jobs?tenant=billing", "new trigger pause"}, {"admin", "/jobs?tenant=billing", "new trigger pause delete"}, {"operator", "/job?tenant=billing&name=a", "new trigger pause edit"}, {"operator", "/runs?tenant=billing", "new retry dismiss"}, {"viewer", "/dead?tenant=billing", ""}, {"operator", "/dead?tenant=billing", "new retry dismiss"},
		{"operator", "/run?tenant=billing&id=" + id, "new retry dismiss"}, {"operator", "/playground?tenant=billing&schedule=@daily", "new"},
		{"admin", "/job?tenant=billing&name=a", "new trigger pause edit delete"},
		{"root", "/job?tenant=billing&name=a", "new trigger pause edit delete"},
	} {
		r := l.session(c.role).do("GET", c.page, "")
		if r.Status != http.StatusOK {
			t.Errorf("%s by %s: %d", c.page, c.role, r.Status)
		}
		for what, mark := range map[string]string{
			"new": `href="/new?`, "trigger": `data-confirm="trigger"`, "pause": `data-confirm="pause"`, "edit": `href="/job/edit?`, "delete": `data-confirm="delete"`, "retry": `data-confirm="retry"`,
			"dismiss": `data-confirm="dismiss"`,
		} {
			if offered, want := strings.Contains(r.Body, mark), strings.Contains(" "+c.offers+" ", " "+what+" "); offered != want {
				t.Errorf("%s by %s: %s is offered: %t", c.page, c.role, what, offered)
			}
		}
		if c.role == "viewer" && strings.Contains(r.Body, "planted") || strings.Contains(r.Body, "planted-token") {
			t.Errorf("%s shows a %s what is masked", c.page, c.role)
		}
	}
	if r := l.session("root").do("GET", "/", ""); !strings.Contains(r.Body, `<datalist id="tenants"><option value="billing"></option><option value="default"></option><option value="shop"></option></datalist>`) {
		t.Errorf("an admin of all is not offered the tenants: %s", r.Body)
	}
	// Who has a role in one tenant alone begins there.
	if r := l.session("viewer").do("GET", "/jobs", ""); r.Status != http.StatusOK || !strings.Contains(r.Body, "/job?name=a&amp;tenant=billing") {
		t.Errorf("a viewer's first list: %d %s", r.Status, r.Body)
	}
}
