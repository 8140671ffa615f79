package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// showNext says when a job runs next, or why it does not.
func showNext(j *client.JobInfo) string {
	// A paused job has no next run, and its status is the reason.
	if !j.NextRunAt.IsZero() {
		text := showTime(j.NextRunAt) + " (" + showDistance(time.Until(j.NextRunAt.Time)) + ")"
		// The server gives it only if jitter makes it differ from the scheduled time.
		if !j.NextLaunchAt.IsZero() {
			text += ", leaves at " + showTime(j.NextLaunchAt)
		}
		return text
	}
	if j.StatusReason != "" {
		return "none: " + j.Status + ", " + j.StatusReason
	}
	return "none: " + j.Status
}

// showStatus returns the state of a job, its reason and who caused it.
func showStatus(j *client.JobInfo) string {
	text := strings.TrimSuffix(j.Status+", "+j.StatusReason, ", ")
	if j.StatusBy != "" {
		text += ", by " + j.StatusBy
	}
	return text
}

// schedulesOf returns the schedules of a job; most jobs have one. It returns a slice that may belong to the job,
// and must not be changed.
func schedulesOf(j *client.Job) []string {
	if len(j.Schedules) > 0 {
		return j.Schedules
	}
	return []string{j.Schedule}
}

// showSchedule returns the schedules of a job for one cell of a table.
func showSchedule(j *client.Job) string { return strings.Join(schedulesOf(j), " | ") }

// printJob prints all of a job, with the text about the skipped range that its last run is.
func (c *console) printJob(j *client.JobInfo, skipped string) error {
	t := c.table()
	t.Row("name", j.Name)
	t.Row("status", showStatus(j))
	for _, s := range schedulesOf(&j.Job) {
		t.Row("schedule", strings.TrimSpace(s+" "+j.Timezone))
	}
	for _, line := range j.Exclude {
		t.Row("exclude", line)
	}
	// What the job does comes before what it was told to do.
	t.Row("next run", showNext(j))
	if last := j.LastRun; last != nil {
		t.Row("last run", showLast(last, skipped))
	}
	t.Row("target", showTarget(j.Target))
	if s := j.Target.Sign; s.Name != "" {
		t.Row("signed with", s.String())
	}
	if s := j.Target.ClientCert; s.Name != "" {
		t.Row("client cert", s.String())
	}
	t.Row("payload", showPayload(j))
	for _, p := range pairsOf(j.Headers) {
		t.Row("header", p.Key+": "+showHeader(p.Value))
	}
	for _, p := range pairsOf(j.Labels) {
		t.Row("label", p.Key+"="+p.Value)
	}
	if j.Description != "" {
		t.Row("description", j.Description)
	}
	printPolicies(t, &j.Job)
	t.Row("id", fmt.Sprintf("%s, version %d", j.ID, j.Version))
	t.Row("created", showTime(j.CreatedAt))
	t.Row("updated", showTime(j.UpdatedAt))
	return t.Flush()
}

// showLast returns the last run of a job with the text about the skipped range that it is. A skipped run has no lateness.
func showLast(last *client.LastRun, skipped string) string {
	text := showTime(last.ScheduledAt) + ", " + last.Status
	switch {
	case skipped != "":
		text += ", " + skipped
	case last.Status != "skipped":
		text += fmt.Sprintf(", %.1f ms late", last.LatenessMS)
	}
	return text + " (" + last.ID + ")"
}

// printPolicies adds the rows of a job's limits and policies. A limit that is not set has no row.
func printPolicies(t *terminal.Table, j *client.Job) {
	if !j.StartsAt.IsZero() || !j.EndsAt.IsZero() {
		t.Row("window", showTime(j.StartsAt)+" to "+showTime(j.EndsAt))
	}
	if j.MaxRuns > 0 {
		t.Row("max runs", fmt.Sprint(j.MaxRuns))
	}
	if j.Jitter > 0 {
		t.Row("jitter", j.Jitter.String())
	}
	if j.Completion == "reported" {
		t.Row("completion", "reported by a worker, within "+j.AttemptTimeout.String())
	}
	t.Row("attempts", fmt.Sprintf("%d, first retry after %s, then x%g up to %s, each %s at most",
		j.Retry.MaxAttempts, j.Retry.InitialInterval, j.Retry.Multiplier, j.Retry.MaxInterval, j.AttemptTimeout))
	if j.PauseOnFailure > 0 {
		t.Row("pause", "after "+plural(int(j.PauseOnFailure), "dead run")+" in a row")
	}
	// The policies always have a row, because their defaults matter to a reader who does not know them.
	overlap := j.OverlapPolicy
	if j.MaxConcurrent > 0 {
		overlap += fmt.Sprintf(", at most %d at a time", j.MaxConcurrent)
	}
	t.Row("overlap", overlap)
	missed := j.MissedRunPolicy
	if j.CatchupWindow != nil {
		missed += " within " + j.CatchupWindow.String()
	}
	t.Row("missed runs", missed)
}

// showPayload returns a payload for one cell of a table: its beginning if it is long, its size if it is not JSON. The
// whole payload is in the output of -o json.
func showPayload(j *client.JobInfo) string {
	const most = 200
	switch {
	case j.PayloadOmitted:
		return "too long to show"
	case len(j.PayloadBase64) > 0:
		return formatBytes(int64(len(j.PayloadBase64)))
	case len(j.Payload) > most:
		return fmt.Sprintf("%s… (%s)", strings.ToValidUTF8(string(j.Payload[:most]), ""), formatBytes(int64(len(j.Payload))))
	default:
		return orDash(string(j.Payload))
	}
}
