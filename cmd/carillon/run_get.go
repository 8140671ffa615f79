package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// runGetCmd shows a run.
type runGetCmd struct {
	RunID string `arg:"" name:"run-id" help:"The run's id, as run list shows it." complete:"@runs"`
	remoteFlags
	outputFlag
	watchFlag
}

// Help is what `carillon run get --help` says besides the flags.
func (*runGetCmd) Help() string {
	return `Examples:

  carillon run get 0k5s0v8s2m1q4-1764576000000
  carillon run get 0k5s0v8s2m1q4-1764576000000 -o json
  carillon run get 0k5s0v8s2m1q4-1764576000000 --watch=500ms`
}

// Run implements the command.
func (c *runGetCmd) Run(ctx context.Context, con *console) error {
	return c.lookAt(ctx, con, &c.remoteFlags, c.Output, func(con *console, r *remote) error {
		run, err := r.Run(ctx, c.RunID)
		if err != nil {
			return err
		}
		if c.isDocument() {
			return c.print(con, client.RunReply{Run: run})
		}
		ranges := skippedRanges{remote: r, job: run.Job}
		return con.printRun(&run, ranges.show(ctx, &run))
	})
}

// printRun prints a run with the text about a skipped range, and a table of its attempts if it has any. A run that a
// caller started has no lateness: its scheduled time is the moment of the request.
func (c *console) printRun(r *client.Run, skipped string) error {
	t := c.table()
	t.Row("run", r.RunID)
	t.Row("job", r.Job)
	t.Row("scheduled", showTime(r.ScheduledAt))
	if skipped != "" {
		t.Row("stands for", skipped)
	}
	t.Row("status", strings.TrimSuffix(r.Status+", "+r.Reason, ", "))
	if !r.DueAt.IsZero() {
		t.Row("due", showTime(r.DueAt))
	}
	// The fence is shown because a report by hand needs it.
	if !r.Deadline.IsZero() {
		t.Row("report by", fmt.Sprintf("%s (%s), attempt %d with fence %d",
			showTime(r.Deadline), showDistance(time.Until(r.Deadline.Time)), r.Attempt, r.Fence))
	}
	t.Row("finished", showTime(r.FinishedAt))
	// Before the first launch there is no lateness to show.
	if !r.Manual && !r.LaunchedAt.IsZero() {
		t.Row("late", showMillis(r.LatenessMS))
	}
	for _, p := range [][2]string{{"result", r.Result}, {"error", r.Error}} {
		if p[1] != "" {
			t.Row(p[0], p[1])
		}
	}
	if !r.DismissedAt.IsZero() {
		t.Row("dismissed", dismissalText(r))
	}
	if r.StaleReports > 0 {
		t.Row("refused", plural(int(r.StaleReports), "report")+" with another fence")
	}
	// A run that was never launched has no attempts, and gets no empty table.
	if err := t.Flush(); err != nil || len(r.Attempts) == 0 {
		return err
	}
	c.printf("\n")
	t = c.table("ATTEMPT", "LAUNCHED", "TOOK", "FENCE", "ERROR")
	for _, a := range r.Attempts {
		t.Row(fmt.Sprint(a.Number), showTime(a.LaunchedAt), showMillis(a.DurationMS), fmt.Sprint(a.Fence), a.Error)
	}
	return t.Flush()
}
