package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestChosenJobs does with several jobs at a time all that can be done with them. The list that follows has the filter of
// the one before, and says how many jobs were concerned.
func TestChosenJobs(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.put(client.Job{Name: name})
	}
	count := func(status string) int {
		page, err := w.client.List(t.Context(), client.ListRequest{Status: status})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Jobs)
	}
	page := w.done("/jobs/pause?status=active", "Jobs that are paused: 2.", "job", "a", "job", "b", "reason", "why")
	if count("paused") != 2 || !strings.Contains(page.body, `data-job="c"`) || strings.Contains(page.body, `data-job="a"`) {
		t.Errorf("%d are paused, want 2, and then the list of active jobs", count("paused"))
	}
	w.done("/jobs/resume", "Jobs that go on: 2.", "job", "a", "job", "b")
	for range 2 {
		w.done("/jobs/trigger", "Jobs of which a run has begun: 3.", "job", "a", "job", "b", "job", "c", "key", "K")
	}
	runs, err := w.client.ListRuns(t.Context(), client.RunListRequest{Job: "c"})
	if err != nil || len(runs.Runs) != 1 {
		t.Errorf("a form that was sent twice made %d runs, %v", len(runs.Runs), err)
	}
	got := w.send("/jobs/delete", "job", "a", "job", "gone", "job", "b")
	if text := alertOf(got.body); got.status != http.StatusConflict || !strings.Contains(text, "2 of 3") || !strings.Contains(text, "gone") {
		t.Errorf("deleted two of three: %d %s", got.status, text)
	}
	if n := count(""); n != 1 {
		t.Errorf("%d jobs are left, want 1", n)
	}
}

// TestChosenJobsAreBounded refuses a form without jobs, and one with more than a page has; nothing changes.
func TestChosenJobsAreBounded(t *testing.T) {
	w := newWorld(t)
	var many []string
	for i := range 51 {
		name := fmt.Sprint("j", i)
		w.put(client.Job{Name: name})
		many = append(many, "job", name)
	}
	for _, fields := range [][]string{nil, many} {
		if got := w.send("/jobs/pause", fields...); got.status != http.StatusUnprocessableEntity || alertOf(got.body) == "" {
			t.Errorf("paused %d jobs: %d %s", len(fields)/2, got.status, alertOf(got.body))
		}
	}
	page, err := w.client.List(t.Context(), client.ListRequest{Status: "paused"})
	if err != nil || len(page.Jobs) > 0 {
		t.Errorf("%d jobs are paused, %v", len(page.Jobs), err)
	}
}
