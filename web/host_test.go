package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
)

// TestHosts checks that a server answers to its configured names and to IP addresses, and to nothing else; and to
// addresses alone if it has no names. A process without an API decides the same.
func TestHosts(t *testing.T) {
	for _, names := range [][]string{nil, {"localhost", "jobs.example.com"}} {
		named := http.StatusMisdirectedRequest
		if names != nil {
			named = http.StatusOK
		}
		for what, h := range map[string]http.Handler{
			"gateway": New(reading{}, Options{Logger: apitest.Quiet, Hosts: names}).Handler, "probes": NewProbes(Options{Logger: apitest.Quiet, Hosts: names}, "witness", func() string { return "" }).Handler,
		} {
			for host, want := range map[string]int{
				"localhost": named, "LOCALHOST:7272": named, "jobs.example.com:80": named, "jobs.example.com.": named,
				"127.0.0.1:7272": 200, "[::1]:7272": 200, "10.1.2.3": 200,
				"evil.example.com": 421, "localhost.evil.example.com": 421, "": 421,
				"localhost:abc": 421, "127.0.0.1:abc": 421, "localhost:65536": 421, "localhost:": named,
			} {
				req := httptest.NewRequest(http.MethodGet, "/healthz", nil)
				req.Host = host
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, req)
				if rec.Code != want {
					t.Errorf("%s with the names %q, for %q: %d, want %d", what, names, host, rec.Code, want)
				}
				if host == "" && !strings.Contains(rec.Body.String(), "want the header Host") {
					t.Errorf("%s without a host: %s", what, rec.Body)
				}
			}
		}
	}
}

// TestStartSaysWhenToAskAgain: each 503 of a server that starts has Retry-After.
func TestStartSaysWhenToAskAgain(t *testing.T) {
	f := NewFront(apitest.Quiet)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/v1/jobs": 503, "/": 503} {
		rec := httptest.NewRecorder()
		f.Handler.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if got := rec.Header().Get("Retry-After"); rec.Code != want || (got == retryAfter) != (want == 503) {
			t.Errorf("%s: %d, Retry-After %q", path, rec.Code, got)
		}
	}
}
