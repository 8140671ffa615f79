package server

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestClusterDashboard opens the pages of a standby: they show what it has and say who leads, and a form that
// would change something says the same.
func TestClusterDashboard(t *testing.T) {
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	read := func(res *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	for _, path := range []string{"/", "/jobs", "/job?name=x", "/audit"} {
		status, page := read(http.Get(b.Ready().HTTP + path))
		if status != 200 || !strings.Contains(page, "This node stands by") || !strings.Contains(page, "<bdi>a</bdi>") {
			t.Errorf("%s of the standby: %d %s", path, status, page)
		}
	}
	if _, page := read(http.Get(a.Ready().HTTP + "/")); strings.Contains(page, "stands by. It") || !strings.Contains(page, `<bdi>b</bdi></th>`) {
		t.Errorf("the overview of the leader: %s", page)
	}
	status, page := read(http.PostForm(b.Ready().HTTP+"/job/pause", url.Values{"name": {"x"}}))
	if status != 503 || !strings.Contains(page, `role="alert"`) || !strings.Contains(page, "not_leader") || !strings.Contains(page, `id="status"`) {
		t.Errorf("paused by the standby: %d %s", status, page)
	}
	if status, _ := read(http.PostForm(a.Ready().HTTP+"/job/pause", url.Values{"name": {"x"}})); status != 200 {
		t.Errorf("paused by the leader: %d", status)
	}
}
