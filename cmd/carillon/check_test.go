package main

import (
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// TestDryRunFillsIn: the check of a dry run loses no member for schedules and policies.
func TestDryRunFillsIn(t *testing.T) {
	j := client.Job{
		Name: "a", Schedules: []string{"@daily", "@hourly"}, Exclude: []string{"2026-12-25"}, Jitter: client.Duration(5e9),
		Target: client.Target{Kind: "nats", Subject: "a.b"}, Completion: "reported", OverlapPolicy: "allow", MaxConcurrent: 3,
		PauseOnFailure: 5, Retry: client.Retry{Jitter: new(0.0), ClientErrors: true},
	}
	d, err := definitionOf(&j)
	if err != nil || len(d.Schedules) != 2 || len(d.Exclude) != 1 || d.Jitter != 5e9 || d.Completion != job.CompletionReported ||
		d.MaxConcurrent != 3 || d.PauseOnFailure != 5 || d.Retry.Jitter != 0 || !d.Retry.ClientErrors {
		t.Errorf("%+v, %v", d, err)
	}
	j.Retry.Jitter = nil
	if d, err := definitionOf(&j); err != nil || d.Retry.Jitter != job.RetryJitterDefault {
		t.Errorf("jitter of retries %g, %v", d.Retry.Jitter, err)
	}
	j.Schedule = "@daily"
	if e := checkResult(&j, 0).Error; e == nil || e.Code != client.CodeInvalidSchedule || e.Field != "schedules" {
		t.Errorf("schedule and schedules: %v", e)
	}
}
