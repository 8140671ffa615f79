package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestLogsKeepSecrets runs jobs whose targets fail in every way, and whose payloads, headers and URLs have a secret.
// The log of the server, with all that it can say, has none of it.
func TestLogsKeepSecrets(t *testing.T) {
	const secret = "hunter2"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no use for "+r.URL.String()+" "+r.Header.Get("X-Token"), http.StatusInternalServerError)
	}))
	defer echo.Close()
	log := new(testkit.Buffer)
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := startWith(t, opts)
	_, c := connect(t, s)

	failing := map[string]client.Target{
		"answers":   {Kind: "http", URL: echo.URL + "/hooks/" + secret + "?token=" + secret},
		"away":      {Kind: "http", URL: "http://127.0.0.1:1/" + secret},
		"unknown":   {Kind: "http", URL: "http://nowhere.invalid/" + secret},
		"nobody":    {Kind: "request", Subject: "nobody.there"},
		"no-stream": {Kind: "jetstream", Subject: "no.stream"},
	}
	for name, target := range failing {
		def := client.Job{
			Name: name, Schedule: "@every 1h", Target: target, Payload: []byte(`{"password":"` + secret + `"}`),
			Headers: map[string]string{"X-Token": secret}, Retry: client.Retry{MaxAttempts: 1},
		}
		if _, _, err := c.Put(t.Context(), def); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	user := client.Job{Name: "user", Schedule: "@every 1h", Target: client.Target{Kind: "http", URL: "http://me:" + secret + "@example.com/"}}
	if _, _, err := c.Put(t.Context(), user); err == nil {
		t.Error("a password in a URL was taken")
	}
	testkit.Until(t, fmt.Sprintf("%d runs are dead", len(failing)), func() bool {
		st, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Dead == uint64(len(failing))
	})
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, "level=DEBUG") {
		t.Errorf("the log has the secret, or nothing at all:\n%s", text)
	}
}
