package apitest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Yearly is a job that does not fire while a test runs.
func Yearly(name string) client.Job {
	return client.Job{Name: name, Schedule: "0 0 1 1 *", Target: client.Target{Kind: "nats", Subject: "out." + name}}
}

// SampleJob is a job of usual size: about 400 bytes. Different numbers give different names and schedules, so a set
// of them is like that of a real tenant.
func SampleJob(i int) string {
	return fmt.Sprintf(`{"name":"customers/%06d/reminder","schedule":"@every %ds","target":{"kind":"nats","subject":"reminders.send"},`+
		`"payload":{"customer":%d,"template":"reminder","lang":"de"},"headers":{"X-Team":"billing"},"attempt_timeout":"30s",`+
		`"retry":{"max_attempts":5,"initial_interval":"1s","multiplier":2,"max_interval":"5m"},"overlap_policy":"skip",`+
		`"missed_run_policy":"fire_once","catchup_window":"1h","labels":{"team":"billing"}}`, i, 60+i%60, i)
}

// WholeJob is a job with every field set. A reply is decoded from it and compared member by member. Some texts need
// escapes, and one is invalid UTF-8.
func WholeJob() scheduler.JobView {
	at := DeskAt
	full := scheduler.JobView{Status: "paused", StatusReason: "because \"x\"\n", StatusBy: "alice@ci", NextRunAt: at, NextLaunchAt: at + 500}
	full.Stamp = job.Stamp{ID: 42, Version: 7, CreatedAt: at - 2, UpdatedAt: at - 1}
	full.LastRun = &job.Run{ID: job.RunID{Job: 42, At: at}, Status: job.StatusSucceeded, Lateness: 1500 * time.Microsecond}
	full.Def = job.Definition{
		Tenant: "acme", Name: "a/b", Schedules: []string{"@every 1h", "0 8 * * *"}, Exclude: []string{"@calendar \"x\""}, Timezone: "Asia/Tokyo", StartsAt: at, EndsAt: at + 1, MaxRuns: 9, Jitter: time.Minute,
		Target:  job.Target{Kind: job.TargetHTTP, URL: "https://example.com/?a=1&b=<2>", Method: "PUT", MaxInFlight: 12},
		Payload: []byte(`{"a" : [1.50, "\u0041"]}`), PayloadJSON: true,
		Headers: []job.Pair{{Key: "X-A", Value: "é"}, {Key: "X-B", Value: `"`}}, Completion: job.CompletionReported,
		AttemptTimeout: 90 * time.Second,
		Retry:          job.Retry{MaxAttempts: 4, InitialInterval: 2 * time.Second, Multiplier: 1.5, MaxInterval: 36 * time.Hour, MaxAge: 7 * 24 * time.Hour, Jitter: 0.25, ClientErrors: true},
		PauseOnFailure: 5, Overlap: job.OverlapAllow, MaxConcurrent: 3, Missed: job.MissedBackfill, CatchupWindow: 48 * time.Hour, MaxCatchupRuns: 20,
		Paused: true, Labels: []job.Pair{{Key: "team", Value: "billing"}}, Description: "bad \xff text",
	}
	return full
}

// JobWith returns a job with some members in place of those of a good one; "-" leaves a member out. Values are
// texts of JSON and are not checked, so that a test can send broken ones. Members come in a fixed order, a new one
// at the end.
func JobWith(members ...string) string {
	good := [][2]string{
		{"name", `"new"`}, {"schedule", `"0 0 1 1 *"`}, {"target", `{"kind":"nats","subject":"out.new"}`},
	}
	for i := 0; i < len(members); i += 2 {
		at := slices.IndexFunc(good, func(m [2]string) bool { return m[0] == members[i] })
		if at < 0 {
			good, at = append(good, [2]string{}), len(good)
		}
		good[at] = [2]string{members[i], members[i+1]}
	}
	var parts []string
	for _, m := range good {
		if m[1] != "-" {
			parts = append(parts, fmt.Sprintf("%q:%s", m[0], m[1]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
