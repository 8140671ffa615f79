package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
)

// TestProbes: a process without an engine answers its three paths as a node does, and every other path, however it is
// written, with a refusal: no redirect, and no page.
func TestProbes(t *testing.T) {
	var waits atomic.Value
	waits.Store("")
	metrics := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) })
	h := NewProbes(Options{Logger: apitest.Quiet, Metrics: metrics}, "witness", func() string { return waits.Load().(string) }).Handler
	ask := func(method, path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(method, path, nil)
		req.Host = "127.0.0.1"
		h.ServeHTTP(rec, req)
		return rec
	}
	for line, want := range map[string]int{
		"GET /healthz": 200, "HEAD /healthz": 200, "GET /readyz": 200, "GET /metrics": 200,
		"POST /healthz": 405, "DELETE /metrics": 405, "GET //healthz": 404, "GET /metrics/": 404, "GET /x/../metrics": 404, "GET /": 404,
		"GET /api/v1/status": 404, "GET /api/v1/jobs": 404, "PUT /api/v1/jobs/a": 404, "GET /api/v1/openapi.json": 404,
	} {
		method, path, _ := strings.Cut(line, " ")
		rec := ask(method, path)
		if rec.Code != want || rec.Header().Get("Location") != "" {
			t.Errorf("%s: %d %v, want %d", line, rec.Code, rec.Header(), want)
		}
		if want == http.StatusMethodNotAllowed && rec.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", line, rec.Header().Get("Allow"))
		}
		if want >= 400 && (!strings.HasPrefix(rec.Body.String(), `{"error":`) || strings.Contains(rec.Body.String(), "or what")) {
			t.Errorf("%s: %s", line, rec.Body)
		}
	}
	if body := ask("GET", "/readyz").Body.String(); body != `{"ready":true,"role":"witness"}`+"\n" {
		t.Errorf("ready: %s", body)
	}
	waits.Store("a leader")
	if rec := ask("GET", "/readyz"); rec.Code != 503 || rec.Header().Get("Retry-After") != retryAfter || rec.Body.String() != `{"ready":false,"role":"witness","waits":"a leader"}`+"\n" {
		t.Errorf("not ready: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// TestEveryRefusalSaysWhen: a refusal that may pass has Retry-After from each handler, and the value of a handler stays.
func TestEveryRefusalSaysWhen(t *testing.T) {
	for _, status := range []int{200, 404, 429, 500, 503} {
		for _, own := range []string{"", "7"} {
			metrics := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				if own != "" {
					rw.Header().Set("Retry-After", own)
				}
				http.Error(rw, "Limit of concurrent requests reached (8), try again later.", status)
			})
			req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			req.Host = "127.0.0.1"
			rec := httptest.NewRecorder()
			New(reading{}, Options{Logger: apitest.Quiet, Metrics: metrics}).Handler.ServeHTTP(rec, req)
			want := own
			if want == "" && mayPass(status) {
				want = retryAfter
			}
			if got := rec.Header().Get("Retry-After"); rec.Code != status || got != want {
				t.Errorf("%d with %q: %d, Retry-After %q", status, own, rec.Code, got)
			}
		}
	}
}
