package web

import (
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRouter finds routes by paths: names keep their slashes, and escapes keep names and actions apart.
func TestRouter(t *testing.T) {
	for _, c := range []struct{ method, path, route, name string }{
		{"GET", "jobs", "jobs", ""},
		{"HEAD", "jobs", "jobs", ""},
		{"GET", "jobs/", "jobs/{name}", ""},
		{"GET", "jobs/a", "jobs/{name}", "a"},
		{"GET", "jobs/a/b/c", "jobs/{name}", "a/b/c"},
		{"GET", "jobs/a//b/", "jobs/{name}", "a//b/"},
		{"GET", "jobs/a/../b", "jobs/{name}", "a/../b"},
		{"GET", "jobs/a%2Fb", "jobs/{name}", "a/b"},
		{"GET", "jobs/100%25", "jobs/{name}", "100%"},
		{"GET", "jobs/%C3%A4%2Fx", "jobs/{name}", "ä/x"},
		{"GET", "jobs/a%3Fb%23c", "jobs/{name}", "a?b#c"},
		{"GET", "jobs/runs", "jobs/{name}", "runs"},
		{"GET", "jobs/a/runs", "jobs/{job}/runs", "a"},
		{"GET", "jobs/a/%72uns", "jobs/{job}/runs", "a"},
		{"GET", "jobs/a/b/runs", "jobs/{job}/runs", "a/b"},
		{"GET", "jobs/a%2Fruns", "jobs/{name}", "a/runs"},
		{"GET", "jobs/a%2Fruns/runs", "jobs/{job}/runs", "a/runs"},
		{"PUT", "jobs/a%2Fpause", "jobs/{name}", "a/pause"},
		{"POST", "jobs/pause/pause", "jobs/{name}/pause", "pause"},
		{"POST", "jobs//pause", "jobs/{name}/pause", ""},
		{"POST", "jobs/bulk", "jobs/bulk", ""},
		{"GET", "jobs/bulk", "jobs/{name}", "bulk"},
		{"PUT", "jobs/bulk", "jobs/{name}", "bulk"},
		{"POST", "jobs/bulk/trigger", "jobs/{name}/trigger", "bulk"},
		{"POST", "runs/retry", "runs/retry", ""},
		{"POST", "runs/dismiss", "runs/dismiss", ""},
		{"POST", "runs/7-1/retry", "runs/{run_id}/retry", "7-1"},
		{"PUT", "calendars/a/pause", "calendars/{name}", "a/pause"},
	} {
		r, name, _ := theRouter.match(c.method, apiRoot+c.path)
		if r == nil || r.path != c.route || name != c.name {
			t.Errorf("%s %s: %+v with %q, want %s with %q", c.method, c.path, r, name, c.route, c.name)
		}
	}
	for path, want := range map[string]string{
		"jobs": "GET HEAD POST", "jobs/a": "DELETE GET HEAD PUT", "jobs/a/pause": "POST", "jobs/a/runs": "GET HEAD",
		"jobs/bulk": "DELETE GET HEAD POST PUT", "runs/retry": "GET HEAD POST", "status": "GET HEAD",
		"nothing": "", "jobsx/a": "", "": "", "schedules": "", "schedules/next/": "", "audit/x": "", "jobs/%zz": "",
	} {
		if r, _, allow := theRouter.match("PATCH", apiRoot+path); r != nil || strings.Join(allow, " ") != want {
			t.Errorf("PATCH %s: %v allows %v, want %s", path, r, allow, want)
		}
	}
}

// TestNamesInPaths puts jobs with every kind of name that jobs may have, and gets, lists and deletes them by
// the paths that replies give.
func TestNamesInPaths(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	for _, name := range []string{
		"a", "a/b", "a/b/runs", "x/pause", "bulk", "runs", ".", "..", "a/../b", "a//b", "/", "//", "a/", "/a", "-_.", strings.Repeat("n/", 64),
	} {
		put := w.ask("PUT", pathTo("jobs", name), apitest.JobWith("name", "-"))
		if put.status != 201 || put.header.Get("Location") != pathTo("jobs", name) {
			t.Errorf("PUT %q: %d %s", name, put.status, put.body)
		}
		if got := w.ask("GET", put.header.Get("Location"), ""); got.status != 200 || !strings.Contains(got.body, `{"job":{"name":"`+name+`",`) {
			t.Errorf("GET %q: %d %s", name, got.status, got.body)
		}
		if got := w.ask("GET", pathTo("jobs", name)+"/runs", ""); got.status != 200 || !strings.HasPrefix(got.body, `{"runs":[]`) {
			t.Errorf("GET the runs of %q: %d %s", name, got.status, got.body)
		}
		if got := w.ask("DELETE", pathTo("jobs", name), ""); got.status != 200 {
			t.Errorf("DELETE %q: %d %s", name, got.status, got.body)
		}
	}
	for _, path := range []string{"", "a%20b", "%C3%A4", "%FF", "%00", "a%25", "a%2A", strings.Repeat("n", 129)} {
		got := w.ask("GET", "/api/v1/jobs/"+path, "")
		got.refused(t, path, 422, "invalid_name", "name")
	}
}

// FuzzRouter takes any method and path: it finds a route or lists methods of those that there are, and the
// path that a name is given leads to that name again.
func FuzzRouter(f *testing.F) {
	for _, r := range routes {
		f.Add(r.method, apiRoot+r.path)
	}
	f.Add("GET", "/api/v1/jobs/a%2Fruns/runs")
	f.Add("POST", "/api/v1/jobs/%zz/%2f/pause")
	f.Add("GET", "/api/v1//\xff%")
	f.Fuzz(func(t *testing.T, method, path string) {
		r, name, allow := theRouter.match(method, path)
		if r != nil && (allow != nil || r.method != method && method != http.MethodHead) {
			t.Fatalf("%q %q: %+v, allows %v", method, path, r, allow)
		}
		if r == nil && slices.Contains(allow, method) {
			t.Fatalf("%q %q is refused, although it is allowed", method, path)
		}
		if r != nil && r.member() != "" {
			head, behind, _ := strings.Cut(r.path, "/")
			_, action, _ := strings.Cut(behind, "}")
			again, same, _ := theRouter.match(method, pathTo(head, name)+action)
			special := again != nil && again.member() == "" // a job called bulk
			if again != r && !special || !special && same != name {
				t.Fatalf("%q became %q of %+v, and that is %q of %+v", path, name, r, same, again)
			}
		}
		u, err := url.ParseRequestURI(path)
		if err != nil || !utf8.ValidString(method) || strings.ContainsAny(method, " \r\n") || method == "" {
			return
		}
		rec := httptest.NewRecorder()
		New(reading{}, Options{Logger: apitest.Quiet}).Handler.ServeHTTP(rec, &http.Request{Method: method, URL: u, Header: http.Header{}, Body: http.NoBody})
		if rec.Code == http.StatusInternalServerError {
			t.Fatalf("%q %q: %s", method, path, rec.Body)
		}
	})
}
