package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestReadyStays: a program on the port that sends elsewhere does not make the server ready, whoever answers there.
func TestReadyStays(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(`{"status":"ok"}`)) }))
	defer well.Close()
	other := httptest.NewServer(http.RedirectHandler(well.URL, http.StatusFound))
	defer other.Close()
	c := readyCmd{Timeout: span(testkit.Patience)}
	for url, want := range map[string]int{well.URL: http.StatusOK, other.URL: http.StatusFound} {
		status, text, err := c.ask(t.Context(), url+"/readyz")
		if err != nil || status != want || want != http.StatusOK && strings.Contains(text, "ok") {
			t.Errorf("%d %s, %v; want %d", status, text, err, want)
		}
	}
}
