package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestClusterDashboard opens the pages of a standby: they show what it has and say who leads, and what a form changes
// is changed by the leader.
func TestClusterDashboard(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	pause := func(s *Server) testkit.Reply {
		t.Helper()
		form := strings.NewReader(url.Values{"name": {"x"}}.Encode())
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.Ready().HTTP+"/job/pause", form)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return testkit.Do(t, http.DefaultClient, req)
	}
	for _, path := range []string{"/", "/jobs", "/job?name=x", "/audit"} {
		page := testkit.Get(t, b.Ready().HTTP+path)
		if page.Status != 200 || !strings.Contains(page.Body, "This node stands by") || !strings.Contains(page.Body, "<bdi>a</bdi>") {
			t.Errorf("%s of the standby: %d %s", path, page.Status, page.Body)
		}
	}
	if page := testkit.Get(t, a.Ready().HTTP+"/").Body; strings.Contains(page, "stands by. It") || !strings.Contains(page, `<bdi>b</bdi></th>`) {
		t.Errorf("the overview of the leader: %s", page)
	}
	if page := pause(b); page.Status != 200 || strings.Contains(page.Body, `role="alert"`) {
		t.Errorf("paused on a page of the standby: %d %s", page.Status, page.Body)
	}
	if j, err := p.client(false).Get(t.Context(), "x"); err != nil || j.Status != "paused" {
		t.Errorf("the leader has %+v, %v", j, err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
