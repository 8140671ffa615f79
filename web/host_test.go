package web

import (
	"github.com/carillon-io/carillon/api/apitest"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHosts checks that a server with configured names answers to them and to IP addresses, and to nothing else.
func TestHosts(t *testing.T) {
	h := New(reading{}, Options{Logger: apitest.Quiet, Hosts: []string{"localhost", "jobs.example.com"}}).Handler
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:7272": 200, "jobs.example.com:80": 200, "jobs.example.com.": 200,
		"127.0.0.1:7272": 200, "[::1]:7272": 200, "10.1.2.3": 200,
		"evil.example.com": 421, "localhost.evil.example.com": 421, "": 421,
	} {
		req := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		req.Host = host
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != want {
			t.Errorf("for %q: %d, want %d", host, rec.Code, want)
		}
		if host == "" && !strings.Contains(rec.Body.String(), "want the header Host") {
			t.Errorf("without a host: %s", rec.Body)
		}
	}
}

// TestStartSaysWhenToAskAgain: each 503 of a server that starts has Retry-After.
func TestStartSaysWhenToAskAgain(t *testing.T) {
	f := NewFront(apitest.Quiet)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/v1/jobs": 503, "/": 503} {
		rec := httptest.NewRecorder()
		f.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if got := rec.Header().Get("Retry-After"); rec.Code != want || (got == retryAfter) != (want == 503) {
			t.Errorf("%s: %d, Retry-After %q", path, rec.Code, got)
		}
	}
}
