package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// showNext is when a job runs next, or why it does not.
func showNext(j *client.JobInfo) string {
	if !j.NextRunAt.IsZero() {
		text := showTime(j.NextRunAt) + " (" + showDistance(time.Until(j.NextRunAt.Time)) + ")"
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

// showStatus is the state of a job, why it is in it, and who saw to that.
func showStatus(j *client.JobInfo) string {
	text := strings.TrimSuffix(j.Status+", "+j.StatusReason, ", ")
	if j.StatusBy != "" {
		text += ", by " + j.StatusBy
	}
	return text
}

// schedulesOf returns the schedules of a job, of which most have one.
func schedulesOf(j *client.Job) []string {
	if len(j.Schedules) > 0 {
		return j.Schedules
	}
	return []string{j.Schedule}
}

// showSchedule is the schedules of a job in one cell.
func showSchedule(j *client.Job) string { return strings.Join(schedulesOf(j), " | ") }

// printJob shows a job in full.
func (c *console) printJob(j *client.JobInfo) error {
	t := c.table()
	t.pair("name", j.Name)
	t.pair("status", showStatus(j))
	for _, s := range schedulesOf(&j.Job) {
		t.pair("schedule", strings.TrimSpace(s+" "+j.Timezone))
	}
	for _, line := range j.Exclude {
		t.pair("exclude", line)
	}
	t.pair("next run", showNext(j))
	if last := j.LastRun; last != nil {
		t.pair("last run", fmt.Sprintf("%s, %s, %.1f ms late (%s)", showTime(last.ScheduledAt), last.Status, last.LatenessMS, last.ID))
	}
	t.pair("target", showTarget(j.Target))
	t.pair("payload", showPayload(j))
	for _, p := range pairsOf(j.Headers) {
		t.pair("header", p.Key+": "+p.Value)
	}
	for _, p := range pairsOf(j.Labels) {
		t.pair("label", p.Key+"="+p.Value)
	}
	if j.Description != "" {
		t.pair("description", j.Description)
	}
	printPolicies(t, &j.Job)
	t.pair("id", fmt.Sprintf("%s, version %d", j.ID, j.Version))
	t.pair("created", showTime(j.CreatedAt))
	t.pair("updated", showTime(j.UpdatedAt))
	return t.flush()
}

func printPolicies(t *table, j *client.Job) {
	if !j.StartsAt.IsZero() || !j.EndsAt.IsZero() {
		t.pair("window", showTime(j.StartsAt)+" to "+showTime(j.EndsAt))
	}
	if j.MaxRuns > 0 {
		t.pair("max runs", fmt.Sprint(j.MaxRuns))
	}
	if j.Jitter > 0 {
		t.pair("jitter", j.Jitter.String())
	}
	if j.Completion == "reported" {
		t.pair("completion", "reported by a worker, within "+j.AttemptTimeout.String())
	}
	t.pair("attempts", fmt.Sprintf("%d, first retry after %s, then x%g up to %s, each %s at most",
		j.Retry.MaxAttempts, j.Retry.InitialInterval, j.Retry.Multiplier, j.Retry.MaxInterval, j.AttemptTimeout))
	if j.PauseOnFailure > 0 {
		t.pair("pause", "after "+plural(int(j.PauseOnFailure), "dead run")+" in a row")
	}
	overlap := j.OverlapPolicy
	if j.MaxConcurrent > 0 {
		overlap += fmt.Sprintf(", at most %d at a time", j.MaxConcurrent)
	}
	t.pair("overlap", overlap)
	missed := j.MissedRunPolicy
	if j.CatchupWindow != nil {
		missed += " within " + j.CatchupWindow.String()
	}
	t.pair("missed runs", missed)
}

// showPayload is the beginning of a payload.
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
