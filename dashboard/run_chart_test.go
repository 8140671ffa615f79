package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// aRun returns a run that was launched, with how long it took and how late it was.
func aRun(status string, tookMS, lateMS float64) client.Run {
	return client.Run{Status: status, LaunchedAt: client.At(start), DurationMS: tookMS, LatenessMS: lateMS, Attempt: 1}
}

// TestRunChart draws runs of each kind: the newest is in the last column, a run that was not launched is a gap, and the
// words say what the drawing shows.
func TestRunChart(t *testing.T) {
	again := aRun("dead", 4000, 0.2)
	again.Attempt = 3
	c := drawRuns([]client.Run{again, {Status: "skipped"}, aRun("succeeded", 100, 2), aRun("succeeded", 200, 8)}, utc)
	if len(c.Bars) != 3 || len(c.Outcomes) != 4 || len(c.Late) != 2 {
		t.Fatalf("%d bars, %d outcomes, %d lines", len(c.Bars), len(c.Outcomes), len(c.Late))
	}
	newest := c.Bars[2]
	if newest.X < chartWidth-columnWidth || newest.X+newest.Width > chartWidth {
		t.Errorf("the newest run is at %+v, want the last column", newest)
	}
	if last := c.Outcomes[3]; last.Tone != "bad" || last.Height <= c.Outcomes[1].Height || last.X != strokeStep*(ledgerShown-1) {
		t.Errorf("the outcome of the newest run is drawn as %+v beside %+v", last, c.Outcomes[1])
	}
	if newest.Height <= c.Bars[0].Height || newest.Height <= c.Bars[1].Height {
		t.Errorf("the longest run is not the highest bar: %+v", c.Bars)
	}
	for _, b := range c.Bars {
		if b.Y < 0 || b.Height < 1 || b.Y+b.Height > chartHeight+0.1 {
			t.Errorf("the bar %+v leaves the chart", b)
		}
	}
	for _, says := range []string{"The last 4 runs: 2 succeeded, 1 dead, 1 skipped.", "Took: 200 ms at the median, 4.00 s at most.", "Late by: 2.00 ms at the median, 8.00 ms at most.", "1 had more than one attempt"} {
		if !strings.Contains(c.About, says) {
			t.Errorf("the words are %q; want %q", c.About, says)
		}
	}
}

// TestRunChartOfOddRuns: no run, one, and more than there are columns.
func TestRunChartOfOddRuns(t *testing.T) {
	if drawRuns(nil, utc) != nil {
		t.Error("there is a chart of no runs")
	}
	if c := drawRuns([]client.Run{{Status: "pending"}}, utc); len(c.Bars) != 0 || c.About != "The last run: 1 pending. " {
		t.Errorf("a run that waits is drawn as %+v", c)
	}
	many := make([]client.Run, 2*ledgerShown)
	for i := range many {
		many[i] = aRun("succeeded", float64(time.Hour.Milliseconds()), 0)
	}
	c := drawRuns(many, utc)
	if len(c.Bars) != ledgerShown || c.Bars[0].X < 0 || len(many) != 2*ledgerShown {
		t.Errorf("%d bars, the first at %+v", len(c.Bars), c.Bars[0])
	}
}
