package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/rungroup"
)

// runListCmd lists runs. The newest come first, so a limit shows the latest.
type runListCmd struct {
	Job    string   `arg:"" optional:"" help:"Name of the job; may be left out with --dead." complete:"@jobs"`
	Dead   bool     `help:"Only runs that exhausted their attempts."`
	From   timeFlag `help:"Scheduled at or after this time." placeholder:"TIME"`
	To     timeFlag `help:"Scheduled before this time." placeholder:"TIME"`
	Status string   `help:"Only runs in this state: pending, running, retrying, succeeded, failed, dead, skipped or cancelled." placeholder:"STATUS" complete:"pending,running,retrying,succeeded,failed,dead,skipped,cancelled"`
	Group  string   `help:"Count the runs by job and error, or by job: a row for each group, the largest first. Errors that differ only in numbers are one." enum:",error,job" default:"" placeholder:"error|job" complete:"error,job"`
	Limit  int      `help:"Largest number to print; 0 is no limit." default:"50" placeholder:"N"`
	remoteFlags
	outputFlag
	watchFlag
}

// Help is what `carillon run list --help` says besides the flags.
func (*runListCmd) Help() string {
	return `Examples:

  carillon run list reports/daily
  carillon run list --dead
  carillon run list --dead --group error
  carillon run list reports/daily --limit 10 --watch
  carillon run list reports/daily --status skipped --limit 0 -o json
  carillon run list reports/daily --from 2026-11-01 --to 2026-11-08`
}

// Run implements the command.
func (c *runListCmd) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.lookAt(ctx, con, &c.remoteFlags, c.Output, func(con *console, r *remote) error { return c.list(ctx, con, r) })
}

// list prints the present runs once.
func (c *runListCmd) list(ctx context.Context, con *console, r *remote) error {
	if c.Group != "" {
		return c.listGroups(ctx, con, r)
	}
	most := c.rows(c.Limit)
	runs := atMost(r.Runs(ctx, client.RunListRequest{
		Job: c.Job, From: c.From.Time, To: c.To.Time, Status: c.Status, Limit: pageSize(most),
	}), most)
	if c.isDocument() {
		return r.orSimilar(ctx, c.Job, printList(con, c.Output, "runs", runs))
	}
	// Of several jobs, each row needs the name of its own.
	if c.Job == "" {
		return printRows(con, runs, append([]string{"JOB"}, runTitles...), func(r *client.Run) []string {
			return append([]string{r.Job}, runRow(r, "")...)
		})
	}
	ranges := skippedRanges{remote: r, job: c.Job}
	return r.orSimilar(ctx, c.Job, printRows(con, runs, runTitles, func(one *client.Run) []string {
		return runRow(one, ranges.show(ctx, one))
	}))
}

// check refuses flags that contradict --dead, and translates it to a status.
func (c *runListCmd) check() error {
	const dead = "dead"
	if c.Dead {
		if c.Status != "" && c.Status != dead {
			return usagef("--dead is --status dead, and excludes another status")
		}
		c.Status = dead
	}
	if c.Job == "" && c.Status != dead {
		return usagef("want the name of a job, or --dead for the dead runs of all jobs")
	}
	return nil
}

// runTitles are the columns of a table of runs, which runRow fills.
var runTitles = []string{"RUN", "SCHEDULED", "STATUS", "ATTEMPT", "LATE", "TOOK", "WHY"}

// pageSize returns the size of a page of a request that wants limit values in all; 0 wants all. Larger pages save
// requests; 1,000 is the most that the server gives.
func pageSize(limit int) int {
	const most = 1000
	if limit > 0 && limit < most {
		return limit
	}
	return most
}

// runStatus returns the status of a run, and that it was dismissed.
func runStatus(r *client.Run) string {
	if r.DismissedAt.IsZero() {
		return r.Status
	}
	return r.Status + ", dismissed"
}

// runRow returns the row of a run under runTitles, with the text about a skipped range. A run that a caller triggered has
// no lateness.
func runRow(r *client.Run, skipped string) []string {
	late, took := "-", "-"
	if !r.FinishedAt.IsZero() {
		took = showMillis(r.DurationMS)
	}
	switch {
	case r.Manual:
		late = "manual"
	case !r.LaunchedAt.IsZero():
		late = showMillis(r.LatenessMS)
	}
	return []string{
		r.RunID, showTime(r.ScheduledAt), runStatus(r), fmt.Sprint(r.Attempt), late, took,
		strings.TrimSuffix(rungroup.Why(r)+", "+skipped, ", "),
	}
}
