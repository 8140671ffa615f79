package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"
)

// idle is a scheduler with nothing to tell.
type idle struct{}

func (idle) Ask(context.Context, string, string, string, []byte) ([]byte, error) {
	return []byte(`{"role":"leader"}`), nil
}

// stuck is a reader that takes what there is room for, and then no more.
type stuck struct {
	http.ResponseWriter
	room     int
	deadline time.Time
}

func (s *stuck) SetReadDeadline(time.Time) error { return nil }

func (s *stuck) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *stuck) FlushError() error { return nil }

func (s *stuck) Write(b []byte) (int, error) {
	if s.room -= len(b); s.room < 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

// TestSlowReader: a reader that takes no more has a while, and then loses its stream to others.
func TestSlowReader(t *testing.T) {
	d := New(idle{}, Options{})
	defer func() { _ = d.Close() }()
	for _, room := range []int{0, 100} { // it takes nothing, or the first line
		s := &stuck{ResponseWriter: httptest.NewRecorder(), room: room}
		begun := time.Now()
		d.serveLive(s, httptest.NewRequestWithContext(t.Context(), "GET", "/live?page=%2F", nil))
		if given := s.deadline.Sub(begun); given < streamPatience || given > streamPatience+time.Minute {
			t.Errorf("the reader had %s, want %s", given, streamPatience)
		}
		if n := d.streams.count(); n != 0 {
			t.Errorf("%d streams are open", n)
		}
	}
}

// TestUnchangedIsNotSent: a look at a page that has not changed sends nothing.
func TestUnchangedIsNotSent(t *testing.T) {
	d := New(idle{}, Options{})
	defer func() { _ = d.Close() }()
	s := &stream{
		dashboard: d, req: httptest.NewRequestWithContext(t.Context(), "GET", "/live?page=%2Fjobs", nil),
		page: &url.URL{Path: "/jobs"}, shown: pages["/jobs"], sent: make(map[string]string),
	}
	first, err := s.changes()
	if err != nil || len(first) == 0 {
		t.Fatalf("the first look: %d fragments, %v", len(first), err)
	}
	if second, err := s.changes(); err != nil || len(second) != 0 {
		t.Errorf("the second look: %d fragments, %v", len(second), err)
	}
}
