package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// columnWidth is the width of a run in its chart, which has a column for each of ledgerShown runs.
const columnWidth = chartWidth / ledgerShown

// runChart is the drawing of a job's last runs: how long each took, how late it was, and what came of it. As with
// [chart], it has coordinates and no markup. Facts say the same in words.
type runChart struct {
	Marks    []mark    // grid lines of the axis of time, the largest first
	Bars     []rectBar // how long the last attempt of each run took
	Late     []string  // polylines of the lateness; a gap is a run that was not launched
	Outcomes []stroke
	Facts    []fact
	About    string
}

// drawRuns draws runs, the newest at the right, with their times by a clock. runs must be newest first, as the API lists
// them. It returns nil without runs. Of more than ledgerShown runs it draws the newest.
func drawRuns(runs []client.Run, by clock) *runChart {
	if len(runs) == 0 {
		return nil
	}
	runs = slices.Clone(runs[:min(len(runs), ledgerShown)])
	outcomes := stripOf(runs, by)
	slices.Reverse(runs)
	s := scaleFor(longest(runs))
	c := &runChart{Marks: s.marks(), Outcomes: outcomes, Facts: sumUp(runs)}
	var late line
	for i := range runs {
		r, column := &runs[i], float64(ledgerShown-len(runs)+i)
		x := columnWidth * column
		c.Outcomes[i].X = strokeStep * column
		if r.LaunchedAt.IsZero() {
			late.lift()
			continue
		}
		late.to(round(x+columnWidth/2), s.y(fromMillis(r.LatenessMS)))
		if r.DurationMS > 0 {
			top := min(s.y(fromMillis(r.DurationMS)), chartHeight-1)
			c.Bars = append(c.Bars, rectBar{X: round(x + columnWidth/8), Y: top, Width: round(columnWidth * 3 / 4), Height: round(chartHeight - top)})
		}
	}
	c.Late = late.done()
	for _, f := range c.Facts {
		c.About += f.Name + ": " + f.Value + ". "
	}
	return c
}

// fromMillis returns the duration of a number of milliseconds.
func fromMillis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// longest returns the longest time that the chart has to show.
func longest(runs []client.Run) (most time.Duration) {
	for i := range runs {
		most = max(most, fromMillis(runs[i].DurationMS), fromMillis(runs[i].LatenessMS))
	}
	return most
}

// sumUp says in words what the chart shows.
func sumUp(runs []client.Run) []fact {
	counts := make(map[string]int)
	var took, late []float64
	repeated := 0
	for i := range runs {
		r := &runs[i]
		counts[r.Status]++
		if r.LaunchedAt.IsZero() {
			continue
		}
		late = append(late, r.LatenessMS)
		if r.DurationMS > 0 {
			took = append(took, r.DurationMS)
		}
		if r.Attempt > 1 {
			repeated++
		}
	}
	var outcomes []string
	for _, status := range runStatuses {
		if n := counts[status]; n > 0 {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", n, status))
		}
	}
	name := "The last run"
	if len(runs) > 1 {
		name = fmt.Sprintf("The last %d runs", len(runs))
	}
	list := []fact{{name, strings.Join(outcomes, ", ")}, {"Took", halfAndMost(took)}, {"Late by", halfAndMost(late)}}
	if repeated > 0 {
		list = append(list, fact{"Repeated", fmt.Sprintf("%d had more than one attempt", repeated)})
	}
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" })
}

// halfAndMost returns the median and the largest of numbers of milliseconds as a text; "" without any. It sorts them.
func halfAndMost(ms []float64) string {
	if len(ms) == 0 {
		return ""
	}
	slices.Sort(ms)
	return fmt.Sprintf("%s at the median, %s at most", millis(ms[(len(ms)-1)/2]), millis(ms[len(ms)-1]))
}
