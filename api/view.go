package api

import (
	"encoding/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// jobInfo returns a job as callers see it.
func jobInfo(v *scheduler.JobView) client.JobInfo {
	info := client.JobInfo{
		Job: jobOf(&v.Def), ID: v.ID.String(), Tenant: v.Def.Tenant, Version: v.Version,
		Status: v.Status, StatusReason: v.StatusReason, NextRunAt: timeOf(v.NextRunAt),
		CreatedAt: timeOf(v.CreatedAt), UpdatedAt: timeOf(v.UpdatedAt),
	}
	if run := v.LastRun; run != nil {
		info.LastRun = &client.LastRun{
			ID: run.ID.String(), Status: run.Status.String(),
			ScheduledAt: timeOf(run.ID.At), LatenessMS: millis(run.Lateness),
		}
	}
	return info
}

// jobOf returns a definition as its owner would write it in full.
func jobOf(d *job.Definition) client.Job {
	j := client.Job{
		Name: d.Name, Schedule: d.Schedule, Timezone: d.Timezone,
		StartsAt: timeOf(d.StartsAt), EndsAt: timeOf(d.EndsAt), MaxRuns: d.MaxRuns, Jitter: client.Duration(d.Jitter),
		Target:     client.Target{Kind: d.Target.Kind.String(), Subject: d.Target.Subject, URL: d.Target.URL, Method: d.Target.Method, Name: d.Target.Handler},
		Headers:    mapOf(d.Headers),
		Completion: d.Completion.String(), AttemptTimeout: client.Duration(d.AttemptTimeout),
		Retry: client.Retry{
			MaxAttempts: d.Retry.MaxAttempts, InitialInterval: client.Duration(d.Retry.InitialInterval),
			Multiplier: d.Retry.Multiplier, MaxInterval: client.Duration(d.Retry.MaxInterval), MaxAge: client.Duration(d.Retry.MaxAge),
		},
		OverlapPolicy: d.Overlap.String(), MissedRunPolicy: d.Missed.String(),
		CatchupWindow: new(client.Duration(d.CatchupWindow)), MaxCatchupRuns: new(d.MaxCatchupRuns),
		Paused: d.Paused, Labels: mapOf(d.Labels), Description: d.Description,
	}
	if d.PayloadJSON {
		j.Payload = json.RawMessage(d.Payload)
	} else {
		j.PayloadBase64 = d.Payload
	}
	return j
}

func mapOf(pairs []job.Pair) map[string]string {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}

func timeOf(m job.Millis) client.Time {
	if m == 0 {
		return client.Time{}
	}
	return client.Time{Time: m.Time()}
}

// runOf returns a run as callers see it, without its attempts.
func runOf(v *scheduler.RunView) client.Run {
	run := client.Run{
		RunID: v.ID.String(), Job: v.Job, Tenant: v.Tenant, ScheduledAt: timeOf(v.ID.At), Until: timeOf(v.Until),
		Status: v.Status.String(), Reason: v.Reason.String(), Attempt: v.Attempt, Fence: v.Fence,
		LaunchedAt: timeOf(v.LaunchedAt), FinishedAt: timeOf(v.FinishedAt),
		LatenessMS: millis(v.Lateness), DurationMS: millis(v.Duration),
		Result: v.Result, Error: v.Error, Manual: v.Manual,
	}
	if !v.Status.IsFinal() {
		run.DueAt = timeOf(v.Due)
	}
	return run
}

func attemptsOf(v *scheduler.RunView) []client.Attempt {
	var list []client.Attempt
	for _, a := range v.Attempts {
		list = append(list, client.Attempt{
			Number: a.Number, Fence: a.Fence, LaunchedAt: timeOf(a.LaunchedAt), DurationMS: millis(a.Duration), Error: a.Error,
		})
	}
	return list
}

// statusInfo returns the reading of an engine as callers see it.
func statusInfo(st scheduler.Status, version string) *client.Status {
	l := st.Lateness
	return &client.Status{
		Role: st.Role, Version: version, Shard: st.Shard, Epoch: st.Epoch,
		LSN: st.LSN, AppliedLSN: st.AppliedLSN, Lag: st.LSN - min(st.LSN, st.AppliedLSN),
		Jobs: st.Jobs, Armed: st.Armed, Waiting: st.Waiting, InFlight: st.InFlight, Live: st.Live,
		Fired: st.Fired, Skipped: st.Skipped, Succeeded: st.Succeeded, Failed: st.Failed, Dead: st.Dead, Commits: st.Commits,
		Lateness: client.Lateness{
			Count: l.Count, P50MS: millis(l.P50), P90MS: millis(l.P90), P99MS: millis(l.P99), P999MS: millis(l.P999), MaxMS: millis(l.Max),
		},
		StartedAt: client.At(st.StartedAt),
	}
}
