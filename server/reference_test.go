package server_test

import (
	"strings"
	"testing"
)

// TestReferenceIsOpen: who has no rights reads about the API, with its style, and nothing of the node; who has some sees
// the page within the others.
func TestReferenceIsOpen(t *testing.T) {
	g := startGuarded(t)
	page := g.ask("", "GET", "/docs", "").Body
	if !strings.Contains(page, `id="jobs.put"`) || strings.Contains(page, `>leader</span>`) {
		t.Errorf("a caller without a token reads %.300s", page)
	}
	_, rest, _ := strings.Cut(page, `rel="stylesheet" href="`)
	style, _, _ := strings.Cut(rest, `"`)
	if r := g.ask("", "GET", style, ""); r.Status != 200 {
		t.Errorf("the style %s: %d", style, r.Status)
	}
	if page := g.ask("viewer", "GET", "/docs", "").Body; !strings.Contains(page, `>leader</span>`) {
		t.Error("a viewer does not see the role of the node")
	}
	if r := g.ask("", "GET", "/docs/more", ""); r.Status != 401 {
		t.Errorf("below the page: %d", r.Status)
	}
}
