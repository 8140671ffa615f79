package dashboard_test

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// overviewWith opens the overview until it contains a text, and returns it.
func (w *world) overviewWith(text string) (page string) {
	w.t.Helper()
	testkit.Until(w.t, "the overview has "+text, func() bool {
		page = w.get("/").body
		return strings.Contains(page, text)
	})
	return page
}

// TestAttention: the overview says what needs attention and leads there, and the mark of the node is not green while
// there is something, on every page; with nothing it is one quiet line.
func TestAttention(t *testing.T) {
	w := newWorld(t)
	const green, quiet = `<span class="pill good">leader</span></p>`, `id="quiet"`
	w.check("/", 200, green, quiet)
	run := w.dead("broken")
	w.overviewWith(`data-concern="dead"`)
	w.check("/", 200, `<bdi>broken</bdi></strong> <bdi>has 1 dead run.</bdi>`, `href="/runs?job=broken&amp;status=dead"`, `class="pill bad">leader · 1 concern</span>`)
	if page := w.get("/jobs").body; strings.Contains(page, green) || !strings.Contains(page, `href="/#attention"><span class="pill bad">leader · 1 concern`) {
		t.Error("the mark of the page of jobs is that of a node without a concern")
	}
	w.put(client.Job{Name: "stopped", PauseOnFailure: 1, Target: client.Target{Kind: "request", Subject: "nothing.there"}, Retry: client.Retry{MaxAttempts: 1}})
	if _, err := w.client.Trigger(t.Context(), client.TriggerRequest{Name: "stopped"}); err != nil {
		t.Fatal(err)
	}
	w.put(client.Job{Name: "by-hand"})
	if _, err := w.client.Pause(t.Context(), "by-hand", "on purpose"); err != nil {
		t.Fatal(err)
	}
	page := w.overviewWith(`data-concern="paused"`)
	if !strings.Contains(page, `<bdi>stopped</bdi></strong> <bdi>was paused because its runs failed.`) || !strings.Contains(page, `href="/job?name=stopped"`) || strings.Contains(page, "by-hand") {
		t.Errorf("the paused jobs of the overview: %s", page)
	}
	if _, err := w.client.Resume(t.Context(), "stopped", ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stopped", "broken"} {
		if _, err := w.client.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	w.overviewWith(quiet)
	w.check("/", 200, green)
	if got := w.get("/run?id=" + run.RunID); got.status == 200 && !strings.Contains(got.body, green) {
		t.Error("the mark of another page is still that of a node with a concern")
	}
}

// TestAttentionOfTenants: a reader learns of the jobs of the tenant of the page, and of no others.
func TestAttentionOfTenants(t *testing.T) {
	w := newWorld(t)
	w.dead("broken")
	w.overviewWith(`data-concern="dead"`)
	w.check("/?tenant=other", 200, `id="quiet"`)
	g := newGuard(t, []string{"viewer", "admin"})
	if page := g.open("GET", "/?tenant=foreign", "viewer", 1).body; strings.Contains(page, `data-concern="unread"`) || !strings.Contains(page, `id="quiet"`) {
		t.Errorf("the overview of a tenant in which the reader has no role: %s", page)
	}
}
