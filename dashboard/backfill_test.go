package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestBackfill: a preview changes nothing and says what would fire; what is confirmed is fired, once.
func TestBackfill(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "hourly", Schedule: "0 * * * *", StartsAt: client.At(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))})
	w.check("/job?name=hourly", 200, `href="/job/backfill?name=hourly"`)
	w.check("/job/backfill?name=hourly", 200, "Choose a range in the past", `name="from"`)
	to := time.Now().UTC().Truncate(time.Hour)
	from := to.Add(-3 * time.Hour)
	const form = "2006-01-02T15:04:05"
	preview := "/job/backfill?name=hourly&from=" + from.Format(form) + "&to=" + to.Format(form)
	runs := func() int {
		page, err := w.client.ListRuns(t.Context(), client.RunListRequest{Job: "hourly"})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Runs)
	}
	before := runs()
	w.check(preview, 200, "3 runs would fire", `data-action="backfill"`, from.Format("2006-01-02 15:04:05"))
	w.check(preview+"&limit=1", 200, "1 run would fire", "1 run begins now")
	if after := runs(); after != before {
		t.Errorf("a preview made %d runs", after-before)
	}
	fields := []string{"name", "hourly", "from", from.Format(form), "to", to.Format(form)}
	w.done("/job/backfill", "Runs that were fired: 3.", fields...)
	w.done("/job/backfill", "Runs that were fired: 0.", fields...)
	if after := runs(); after != before+3 {
		t.Errorf("the backfill made %d runs, want 3", after-before)
	}
	w.check(preview, 200, "No run would fire; 3 ticks are left out")
	w.check(preview+"&repeat=yes", 200, "3 runs would fire", `name="repeat" value="yes"`)
	w.check("/job/backfill?name=hourly&from="+to.Format(form)+"&to="+from.Format(form), 422, `role="alert"`, `aria-invalid="true"`)
	w.check("/job/backfill?name=hourly&from=soon&to=later", 422, "is not a time")
	w.check(preview+"&limit=many", 422, "is not a number of runs")
	w.check("/job/backfill?name=unknown", 404, `role="alert"`)
	long := "/job/backfill?name=hourly&to=" + to.Format(form) + "&from=" + to.Add(-200*time.Hour).Format(form)
	if page := w.get(long).body; strings.Count(page, `class="zoned"`) != 50 || !strings.Contains(page, "… up to ") {
		t.Errorf("a long preview lists %d times", strings.Count(page, `class="zoned"`))
	}
	if got := w.send("/job/backfill", "name", "hourly", "from", "", "to", ""); got.status != 422 {
		t.Errorf("a backfill of no range: %d", got.status)
	}
}

// TestNodesPage: a node without a cluster says so, and hands nothing over.
func TestNodesPage(t *testing.T) {
	w := newWorld(t)
	w.check("/nodes", 200, "This node has no cluster", `aria-current="page">Nodes`)
	if got := w.send("/nodes/handover", "to", "b"); got.status != 404 || !strings.Contains(alertOf(got.body), "no cluster") {
		t.Errorf("a hand-over without a cluster: %d %s", got.status, alertOf(got.body))
	}
}
