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
		return showTime(j.NextRunAt) + " (" + showDistance(time.Until(j.NextRunAt.Time)) + ")"
	}
	if j.StatusReason != "" {
		return "none: " + j.Status + ", " + j.StatusReason
	}
	return "none: " + j.Status
}

// printJob shows a job in full.
func (c *console) printJob(j *client.JobInfo) error {
	t := newTable(c.out)
	t.pair("name", j.Name)
	t.pair("status", strings.TrimSuffix(j.Status+", "+j.StatusReason, ", "))
	t.pair("schedule", strings.TrimSpace(j.Schedule+" "+j.Timezone))
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
	t.pair("attempts", fmt.Sprintf("%d, first retry after %s, then x%g up to %s, each %s at most",
		j.Retry.MaxAttempts, j.Retry.InitialInterval, j.Retry.Multiplier, j.Retry.MaxInterval, j.AttemptTimeout))
	t.pair("overlap", j.OverlapPolicy)
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
