package api

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// timeOf returns an instant as callers see it; the zero value, which is null in JSON, for none.
func timeOf(m instant.Millis) client.Time {
	if m == 0 {
		return client.Time{}
	}
	return client.Time{Time: m.Time()}
}

// runOf returns a run as callers see it, without its attempts. Errors are masked here again, because rows of releases
// that did not mask them when they were stored may still be in the history. Due and deadline are shown only while the
// run is not over.
func runOf(v *scheduler.RunView) client.Run {
	run := client.Run{
		RunID: v.ID.String(), Job: v.Job, Tenant: v.Tenant, ScheduledAt: timeOf(v.ID.At), Until: timeOf(v.Until),
		Status: v.Status.String(), Reason: v.Reason.String(), Attempt: v.Attempt, Fence: v.Fence,
		LaunchedAt: timeOf(v.LaunchedAt), FinishedAt: timeOf(v.FinishedAt),
		LatenessMS: millis(v.Lateness), DurationMS: millis(v.Duration),
		Result: v.Result, Error: job.MaskText(v.Error), Manual: v.Manual,
	}
	if !v.Status.IsFinal() {
		run.DueAt, run.Deadline = timeOf(v.Due), timeOf(v.Deadline)
	}
	run.StaleReports = v.Stale
	run.DismissedAt, run.DismissedBy, run.DismissReason = timeOf(v.Dismissal.At), v.Dismissal.By, v.Dismissal.Reason
	return run
}

// attemptsOf returns the finished attempts of a run. If the first attempt succeeded, the row keeps no separate
// attempt, so it is derived from the run.
func attemptsOf(v *scheduler.RunView) []client.Attempt {
	attempts := v.Attempts
	if len(attempts) == 0 && v.Status == job.StatusSucceeded {
		attempts = []job.Attempt{{Number: v.Attempt, Fence: v.Fence, LaunchedAt: v.LaunchedAt, Duration: v.Duration}}
	}
	var list []client.Attempt
	for _, a := range attempts {
		list = append(list, client.Attempt{
			Number: a.Number, Fence: a.Fence, LaunchedAt: timeOf(a.LaunchedAt), DurationMS: millis(a.Duration), Error: job.MaskText(a.Error),
		})
	}
	return list
}

// statusInfo returns the status of an engine as callers see it. In a cluster, role and lag are those of the
// cluster, because the engine alone does not know what it lacks.
func statusInfo(st scheduler.Status, version string, cluster func() *client.Cluster) *client.Status {
	info := &client.Status{
		Role: st.Role, Version: version, Shard: st.Shard, Epoch: st.Epoch,
		LSN: st.LSN, AppliedLSN: st.AppliedLSN, Lag: st.LSN - min(st.LSN, st.AppliedLSN),
		Jobs: st.Jobs, Armed: st.Armed, Live: st.Live, Waiting: st.Waiting, Scheduled: st.Scheduled,
		Retrying: st.Retrying, Backlog: st.Backlog, Queued: st.Queued, InFlight: st.InFlight,
		Fired: st.Fired, Skipped: st.Skipped, Succeeded: st.Succeeded, Failed: st.Failed, Dead: st.Dead,
		Cancelled: st.Cancelled, Retried: st.Retried, StaleReports: st.Stale, Commits: st.Commits,
		SkippedBy: skippedBy(&st), Reporting: st.Reporting, Notices: st.Notices, NoticesLost: st.NoticesLost,
		CatchUp: client.CatchUp{
			Jobs: st.CatchUp.Jobs, Rate: st.CatchUp.Rate, Left: client.Duration(st.CatchUp.Left.Round(time.Millisecond)),
		},
		Lateness: latenessOf(st.Lateness), Waited: waitedOf(&st), DecisionLateness: latenessOf(st.DecisionLateness),
		StartedAt: client.At(st.StartedAt), TZData: tzdataOf(&st.Zones), ClockBehindMS: millis(st.ClockBehind),
	}
	warnLost(info)
	warnClock(info)
	if cluster != nil {
		info.Cluster = cluster()
		info.Role, info.Lag = info.Cluster.Role, info.Cluster.Lag
	}
	return info
}

// tzdataOf returns what the engine knows of its rules of timezones, as callers see it.
func tzdataOf(z *scheduler.Zones) client.TZData {
	return client.TZData{
		Source: z.Source, Version: z.Version, Digest: fmt.Sprintf("%016x", z.Digest),
		Zones: z.Count, Differing: z.Differs, Changed: z.Changed, Moved: z.Moved,
	}
}

// skippedBy returns how often each reason for skips occurred. Reasons that have not occurred are left out, so a new
// reason does not change the replies of a server without it.
func skippedBy(st *scheduler.Status) map[string]uint64 {
	counts := make(map[string]uint64)
	for reason, n := range st.SkippedBy {
		if n > 0 && reason > 0 {
			counts[job.Reason(reason).String()] = n
		}
	}
	return counts
}

// waitedOf returns how long attempts waited, by what for.
func waitedOf(st *scheduler.Status) client.Waited {
	return client.Waited{
		Overlap: latenessOf(st.Waited[scheduler.WaitOverlap]), CatchUp: latenessOf(st.Waited[scheduler.WaitCatchUp]),
		Target: latenessOf(st.Waited[scheduler.WaitTarget]), Retry: latenessOf(st.Waited[scheduler.WaitRetry]),
	}
}

// latenessOf returns a distribution in milliseconds, with fractions. Percentiles come from the buckets of a
// histogram, with an error of at most 12.5 %; the count and the maximum are exact.
func latenessOf(l scheduler.Lateness) client.Lateness {
	return client.Lateness{
		Count: l.Count, P50MS: millis(l.P50), P90MS: millis(l.P90), P99MS: millis(l.P99), P999MS: millis(l.P999), MaxMS: millis(l.Max),
	}
}
