package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// fragment is what a stream sends of a page.
type fragment struct{ ID, HTML string }

// stream is a page that is being watched.
type stream struct {
	t         *testing.T
	response  *http.Response
	fragments chan fragment // closed when the stream ends
}

// watch opens the stream of a page.
func (w *world) watch(t *testing.T, page string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", w.base+"/live?page="+url.QueryEscape(page), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{t, res, make(chan fragment, 1000)}
	go s.read()
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
	})
	return s
}

func (s *stream) read() {
	defer close(s.fragments)
	lines := bufio.NewScanner(s.response.Body)
	lines.Buffer(nil, pageBytesMax)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var f fragment
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			s.t.Errorf("the stream sent %q", text)
		}
		s.fragments <- f
	}
}

// until waits for a fragment that contains a text.
func (s *stream) until(id, contains string) {
	s.t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case f, ok := <-s.fragments:
			if !ok {
				s.t.Fatalf("the stream ended before %s had %q", id, contains)
			}
			if !strings.HasPrefix(f.HTML, "<") || !strings.Contains(f.HTML, `id="`+f.ID+`"`) || !strings.Contains(f.HTML, "data-live") {
				s.t.Errorf("the fragment %s is %.80q", f.ID, f.HTML)
			}
			if f.ID == id && strings.Contains(f.HTML, contains) {
				return
			}
		case <-end:
			s.t.Fatalf("in vain: %s with %q", id, contains)
		}
	}
}

// TestStream watches a job that is paused by someone else. The stream of another job says nothing of it, and
// that of a job that is deleted ends.
func TestStream(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "watched"})
	s := w.watch(t, "/job?name=watched")
	if kind := s.response.Header.Get("Content-Type"); s.response.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("the stream: %d %s", s.response.StatusCode, kind)
	}
	s.until("job-head", "active")
	if _, err := w.client.Pause(t.Context(), "watched", "by someone else"); err != nil {
		t.Fatal(err)
	}
	s.until("job-head", "by someone else")
	if _, err := w.client.Delete(t.Context(), "watched"); err != nil {
		t.Fatal(err)
	}
	for range s.fragments { // until it ends
		continue
	}
	for _, page := range []string{"/nowhere", "//evil.example/", "https://evil.example/", "%zz", ""} {
		if got := w.get("/live?page=" + url.QueryEscape(page)); got.status != 404 {
			t.Errorf("the stream of %q: %d", page, got.status)
		}
	}
}

// TestStreamsAreBounded opens as many streams as there may be. One more is refused, and the page works
// without; a shutdown ends all of them.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t)
	streams := make([]*stream, 64)
	for i := range streams {
		streams[i] = w.watch(t, "/")
	}
	more := w.get("/live?page=%2F")
	if more.status != http.StatusServiceUnavailable || more.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d %v", more.status, more.header)
	}
	w.check("/", 200, `data-stream="/live?page=%2F`)
	streams[0].until("engine", "leader")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := w.server.Close(ctx); err != nil {
		t.Errorf("the server was not closed with streams open: %v", err)
	}
	for _, s := range streams {
		for range s.fragments { // until it ends
			continue
		}
	}
}
