package examples

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHooks plays the server for the web hooks that speak HTTP alone. Three runs arrive, each twice, with a body of many
// pieces and characters of three bytes: each is printed once, as it was.
func TestHooks(t *testing.T) {
	text := strings.Repeat("€", 300_000)
	for _, e := range programs {
		if e.scheme != "http" || e.build != "" {
			continue // the client for Go is tested where it is
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
			defer cancel()
			urls := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				var job struct{ Target struct{ URL string } }
				if err := json.NewDecoder(req.Body).Decode(&job); err == nil && req.Method == http.MethodPut {
					urls <- job.Target.URL
				}
				_, _ = io.WriteString(rw, "{}")
			}))
			defer server.Close()
			cmd := e.start(ctx, addresses{HTTP: server.URL}, "")
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() {
				url := <-urls
				for _, run := range []string{"a-1", "a-1", "a-2", "a-2", "a-3"} {
					for _, attempt := range []string{"1", "2"} {
						deliver(t, url, run, attempt, text)
					}
				}
			}()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %.500s", err, &out)
			}
			for id := range e.check(t, out.String()) {
				if !strings.Contains(out.String(), "run "+id+" "+text+"\n") {
					t.Errorf("the body of %s arrived changed", id)
				}
			}
		})
	}
}

// deliver posts an attempt of a run. The program may end before it answers the last one.
func deliver(t *testing.T, url, run, attempt, body string) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Idempotency-Key", run)
	req.Header.Set("Carillon-Attempt", attempt)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		if run != "a-3" {
			t.Error(err)
		}
		return
	}
	_ = answer.Body.Close()
	t.Logf("run %s, attempt %s: %s", run, attempt, answer.Status)
}
