package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// runCmd groups the commands on runs.
type runCmd struct {
	List runListCmd `cmd:"" help:"List the runs of a job, newest first."`
	Get  runGetCmd  `cmd:"" help:"Show a run with its attempts."`
}

// runListCmd lists the runs of a job.
type runListCmd struct {
	Job    string  `arg:"" help:"Name of the job."`
	From   instant `help:"Scheduled at or after this time." placeholder:"TIME"`
	To     instant `help:"Scheduled before this time." placeholder:"TIME"`
	Status string  `help:"Only runs in this state: pending, running, retrying, succeeded, failed, dead, skipped or cancelled." placeholder:"STATUS"`
	Limit  int     `help:"Stop after so many; 0 is no limit." default:"50" placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon run list --help` says besides the flags.
func (*runListCmd) Help() string {
	return `Examples:

  carillon run list reports/daily
  carillon run list reports/daily --status dead --limit 0 -o json
  carillon run list reports/daily --from 2026-11-01 --to 2026-11-08`
}

// Run implements the command.
func (c *runListCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	runs := atMost(r.Runs(ctx, client.RunListRequest{
		Job: c.Job, From: c.From.Time, To: c.To.Time, Status: c.Status, Limit: pageSize(c.Limit),
	}), c.Limit)
	if c.isJSON() {
		return printList(con, "runs", runs)
	}
	return printRows(con, runs, []string{"RUN", "SCHEDULED", "STATUS", "ATTEMPT", "LATE", "TOOK", "WHY"}, runRow)
}

// pageSize is how many to ask for at once when so many are wanted in all; 0 is all.
func pageSize(limit int) int {
	const most = 1000
	if limit > 0 && limit < most {
		return limit
	}
	return most
}

func runRow(r *client.Run) []string {
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
		r.RunID, showTime(r.ScheduledAt), r.Status, fmt.Sprint(r.Attempt), late, took,
		strings.TrimSpace(r.Reason + " " + r.Error),
	}
}

// runGetCmd shows a run.
type runGetCmd struct {
	RunID string `arg:"" name:"run-id" help:"The run's id, as run list shows it."`
	remoteFlags
	outputFlag
}

// Help is what `carillon run get --help` says besides the flags.
func (*runGetCmd) Help() string {
	return `Examples:

  carillon run get 0k5s0v8s2m1q4-1764576000000
  carillon run get 0k5s0v8s2m1q4-1764576000000 -o json`
}

// Run implements the command.
func (c *runGetCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	run, err := r.Run(ctx, c.RunID)
	if err != nil {
		return err
	}
	if c.isJSON() {
		return con.printJSON(client.RunReply{Run: run})
	}
	return con.printRun(&run)
}

func (c *console) printRun(r *client.Run) error {
	t := newTable(c.out)
	t.pair("run", r.RunID)
	t.pair("job", r.Job)
	t.pair("scheduled", showTime(r.ScheduledAt))
	if !r.Until.IsZero() {
		t.pair("until", showTime(r.Until))
	}
	t.pair("status", strings.TrimSuffix(r.Status+", "+r.Reason, ", "))
	if !r.DueAt.IsZero() {
		t.pair("due", showTime(r.DueAt))
	}
	t.pair("finished", showTime(r.FinishedAt))
	if !r.Manual && !r.LaunchedAt.IsZero() {
		t.pair("late", showMillis(r.LatenessMS))
	}
	for _, p := range [][2]string{{"result", r.Result}, {"error", r.Error}} {
		if p[1] != "" {
			t.pair(p[0], p[1])
		}
	}
	if err := t.flush(); err != nil || len(r.Attempts) == 0 {
		return err
	}
	c.printf("\n")
	t = newTable(c.out, "ATTEMPT", "LAUNCHED", "TOOK", "FENCE", "ERROR")
	for _, a := range r.Attempts {
		t.row(fmt.Sprint(a.Number), showTime(a.LaunchedAt), showMillis(a.DurationMS), fmt.Sprint(a.Fence), a.Error)
	}
	return t.flush()
}
