package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/rungroup"
	"github.com/carillon-io/carillon/testkit"
)

// deadRuns returns how many runs of a job are listed as dead.
func (w *world) deadRuns(name string) int {
	w.t.Helper()
	page, err := w.client.ListRuns(w.t.Context(), client.RunListRequest{Job: name, Status: "dead"})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(page.Runs)
}

// TestDismiss dismisses a dead run on its page, and then all that are left: its page says who did it and why, and offers
// no second dismissal.
func TestDismiss(t *testing.T) {
	w := newWorld(t)
	run := w.dead("broken")
	if page := w.get("/run?id=" + run.RunID); !strings.Contains(page.body, `data-confirm="dismiss"`) {
		t.Error("the page of a dead run offers no dismissal")
	}
	page := w.done("/run/dismiss", "The run is dismissed.", "id", run.RunID, "reason", "sent <by> hand")
	if !strings.Contains(page.body, "sent &lt;by&gt; hand") || strings.Contains(page.body, `data-confirm="dismiss"`) || !strings.Contains(page.body, `data-confirm="retry"`) {
		t.Errorf("the page of a dismissed run: %s", page.body)
	}
	if now, err := w.client.Run(t.Context(), run.RunID); err != nil || now.Status != "dead" || now.DismissReason != "sent <by> hand" || now.DismissedBy != "alice" || now.DismissedAt.IsZero() {
		t.Errorf("the run is %+v, %v", now, err)
	}
	w.dead("broken")
	w.done("/runs/dismiss", "Runs that are dismissed: 1. No other dead run matches.", "job", "broken", "reason", "known")
	if n := w.deadRuns("broken"); n != 0 {
		t.Errorf("%d runs are listed as dead", n)
	}
	if got := w.send("/run/dismiss", "id", "0"); got.status != http.StatusUnprocessableEntity || alertOf(got.body) == "" {
		t.Errorf("dismissed an odd run: %d", got.status)
	}
}

// TestDeadGroups: the page counts dead runs by job and error. Each group leads to its runs, and is retried or dismissed
// without touching another.
func TestDeadGroups(t *testing.T) {
	w := newWorld(t)
	var run client.Run
	for range 2 {
		run = w.dead("broken")
	}
	w.dead("other")
	w.check("/dead", 200, `data-group="broken"`, `data-group="other"`)
	w.check("/dead?job=other", 200, `data-group="other"`)
	w.check("/dead?job=nobody", 404, `role="alert"`)
	cause := rungroup.CauseID(&run)
	ofGroup := "/runs?job=broken&status=dead&cause=" + cause
	w.check(ofGroup, 200, `data-run="`+run.RunID+`"`)
	runs := w.get(ofGroup).body
	if n := strings.Count(runs, "data-run="); n != 2 || strings.Contains(runs, `data-confirm="retry"`) {
		t.Errorf("%d runs of the group are listed, want 2, and no form for all runs of the job", n)
	}
	w.check("/runs?job=broken&status=dead&cause=0", 200, "No dead run matches.")

	w.done("/dead/dismiss", "Runs that are dismissed: 0.", "job", "broken", "cause", "0")
	w.done("/dead/dismiss", "Runs that are dismissed: 2.", "job", "broken", "cause", cause, "reason", "known")
	if broken, other := w.deadRuns("broken"), w.deadRuns("other"); broken != 0 || other != 1 {
		t.Errorf("dead are %d and %d, want 0 and 1", broken, other)
	}
	if now, err := w.client.Run(t.Context(), run.RunID); err != nil || now.DismissReason != "known" {
		t.Errorf("the run is %+v, %v", now, err)
	}

	again := w.dead("broken")
	w.done("/dead/retry", "Runs that begin another attempt: 1.", "job", "broken", "cause", cause)
	testkit.Until(t, "the run is dead again", func() bool {
		now, err := w.client.Run(t.Context(), again.RunID)
		return err == nil && now.Status == "dead" && now.Attempt == 2
	})
	if got := w.send("/dead/retry", "job", "nobody", "cause", cause); got.status != http.StatusNotFound || alertOf(got.body) == "" {
		t.Errorf("retried the runs of no job: %d", got.status)
	}
}

// TestDeadGroupsAreBounded: one click changes a bounded number of runs, the newest first, and says that there are more.
func TestDeadGroupsAreBounded(t *testing.T) {
	w := newWorld(t)
	dashboard.WithChangedMax(t, 1)
	w.dead("broken")
	run := w.dead("broken")
	group := []string{"job", "broken", "cause", rungroup.CauseID(&run)}
	w.done("/dead/dismiss", "Runs that are dismissed: 1. More dead runs match.", group...)
	if now, err := w.client.Run(t.Context(), run.RunID); err != nil || now.DismissedAt.IsZero() || w.deadRuns("broken") != 1 {
		t.Errorf("the newest run is %+v, %v; %d are left, want 1", now, err, w.deadRuns("broken"))
	}
	w.done("/dead/dismiss", "Runs that are dismissed: 1. No other dead run matches.", group...)
	w.dead("broken")
	w.dead("broken")
	w.done("/runs/dismiss", "Runs that are dismissed: 1. More dead runs match.", "job", "broken")
}
