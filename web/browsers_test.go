package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// simpleTypes are the content types that a browser sends to another site without asking it first.
var simpleTypes = []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", ""}

// TestPagesOfOtherSites walks the table of routes as a browser does for a page of another site. Whatever could
// change something is refused, of any type; no preflight is granted; and nothing says that a reply may be read.
func TestPagesOfOtherSites(t *testing.T) {
	web, w := startBadWorld(t)
	before := w.State(t)
	for i := range routes {
		r := &routes[i]
		path := web.pathOf(r)
		preflight := web.ask(http.MethodOptions, path, "", "Origin: https://evil.example", "Access-Control-Request-Method: "+r.method)
		preflight.refused(t, "preflight of "+path, 405, "method_not_allowed", "")
		preflight.opensNothing(t, "preflight of "+path)
		for _, from := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example", "Origin: null"} {
			if r.method == http.MethodGet {
				web.ask(r.method, path, "", from).opensNothing(t, r.method+" "+path)
				continue
			}
			for _, kind := range simpleTypes {
				got := web.ask(r.method, path, r.example, from, "Content-Type: "+kind)
				got.refused(t, r.method+" "+path+" as "+kind, 403, "cross_origin", "")
				got.opensNothing(t, r.method+" "+path)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		web.ask(http.MethodOptions, path, "", "Origin: https://evil.example").opensNothing(t, "preflight of "+path)
		web.ask(http.MethodGet, path, "", "Origin: https://evil.example").opensNothing(t, path)
	}
	if now := w.State(t); now != before {
		t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
	}
}

// TestFormsOfThisSite: without a browser's word on where it comes from, a form is still no request.
func TestFormsOfThisSite(t *testing.T) {
	web, w := startBadWorld(t)
	before := w.State(t)
	for i := range routes {
		r := &routes[i]
		if !r.hasBody() {
			continue
		}
		for _, kind := range simpleTypes {
			web.ask(r.method, web.pathOf(r), r.example, "Content-Type: "+kind).
				refused(t, r.method+" "+r.path+" as "+kind, 415, "unsupported_media_type", "Content-Type")
		}
	}
	if now := w.State(t); now != before {
		t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
	}
}

// TestGetsChangeNothing asks for all that can be read, by GET and by HEAD.
func TestGetsChangeNothing(t *testing.T) {
	web, w := startBadWorld(t)
	before := w.State(t)
	for i := range routes {
		r := &routes[i]
		if r.method != http.MethodGet {
			continue
		}
		get, head := web.ask(http.MethodGet, web.pathOf(r), ""), web.ask(http.MethodHead, web.pathOf(r), "")
		if get.status >= 500 || head.status != get.status || head.body != "" {
			t.Errorf("%s: GET %d, HEAD %d with %q", r.path, get.status, head.status, head.body)
		}
	}
	if now := w.State(t); now != before {
		t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
	}
}

// TestRebinding asks as a page does whose own name was led to this machine: for its browser the two are one site.
func TestRebinding(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	w := startWeb(t, Options{Executor: s.Executor, Hosts: HostsLocal}, nil)
	for _, host := range []string{"evil.example", "evil.example:7272", "127.0.0.1.evil.example", "localhost.evil.example", "localhost:7272@evil.example", "[::1].evil.example"} {
		for i := range routes {
			r := &routes[i]
			req, err := http.NewRequestWithContext(t.Context(), r.method, w.base+w.pathOf(r), strings.NewReader(r.example))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			req.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {"http://" + host}, "Sec-Fetch-Site": {"same-origin"}}
			res, err := w.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusMisdirectedRequest && res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %s for %s: %d", r.method, r.path, host, res.StatusCode)
			}
		}
	}
}

func startBadWorld(t *testing.T) (*webWorld, *apitest.BadWorld) {
	t.Helper()
	web, natsURL := startWebOf(t, apitest.StartEngine(t), api.Options{})
	w := &apitest.BadWorld{Conn: apitest.Connect(t, natsURL), Client: apitest.NewClient(t, natsURL, client.Options{}), Prefix: "carillon"}
	w.Prepare(t)
	return web, w
}

// pathOf is the path of a route, of a job that is there.
func (w *webWorld) pathOf(r *route) string {
	return apiRoot + strings.NewReplacer("{name}", "bad-input-1", "{job}", "bad-input-1", "{run_id}", apitest.DeskRun.ID.String()).Replace(r.path)
}

// opensNothing checks that a reply lets no page of another site read it.
func (r webReply) opensNothing(t *testing.T, what string) {
	t.Helper()
	for name := range r.header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Timing-Allow-Origin" {
			t.Errorf("%s: %s %s", what, name, r.header.Get(name))
		}
	}
	if r.status != http.StatusNotModified && r.body != "" && r.header.Get("X-Content-Type-Options") != "nosniff" && strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
		t.Errorf("%s: a browser may guess what the reply is", what)
	}
}
