package api

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// startDesk runs a service in front of a desk.
func startDesk(t *testing.T, maxPayload int32) (*apitest.Desk, *client.Client) {
	t.Helper()
	d := apitest.NewDesk(t)
	_, url := startService(t, d, Options{}, maxPayload)
	return d, apitest.NewClient(t, url, client.Options{By: "alice@ci"})
}

// wholeRun is the run of a desk as callers see it.
func wholeRun() client.Run {
	id := apitest.DeskRun.ID.String()
	return client.Run{
		RunID: id, Job: "reports/daily", Tenant: "default", ScheduledAt: timeOf(apitest.DeskAt), Until: timeOf(apitest.DeskAt + 3),
		Status: "running", Reason: "requested", Attempt: 2, Fence: 4711, DueAt: timeOf(apitest.DeskAt + 1), Deadline: timeOf(apitest.DeskAt + 60_000),
		LaunchedAt: timeOf(apitest.DeskAt + 2), LatenessMS: 1, DurationMS: 1000, Result: "5 rows", Error: "the last one",
		Manual: true, StaleReports: 3, DismissedAt: timeOf(apitest.DeskAt + 4), DismissedBy: "alice@ci", DismissReason: "known",
	}
}

// TestRunVerbs asks for each change of a run: the engine is asked for just that, and the reply is whole.
func TestRunVerbs(t *testing.T) {
	d, c := startDesk(t, 0)
	ctx, id := t.Context(), apitest.DeskRun.ID.String()
	for _, x := range []struct {
		name string
		act  func() (client.Run, error)
		want any
	}{
		{"succeeded", func() (client.Run, error) {
			return c.Report(ctx, client.ReportRequest{RunID: id, Fence: 4711, Status: client.OutcomeSucceeded, Result: "5 rows"})
		}, scheduler.ReportRequest{Tenant: "default", Run: apitest.DeskRun.ID, Fence: 4711, Result: "5 rows"}},
		{"failed", func() (client.Run, error) {
			return c.Report(ctx, client.ReportRequest{RunID: id, Fence: 4711, Status: client.OutcomeFailed, Error: "no rows"})
		}, scheduler.ReportRequest{Tenant: "default", Run: apitest.DeskRun.ID, Fence: 4711, Failed: true, Error: "no rows"}},
		{"cancel", func() (client.Run, error) { return c.CancelRun(ctx, id) }, "cancel for default"},
		{"retry", func() (client.Run, error) { return c.RetryRun(ctx, id) }, "retry for default"},
		{"dismiss", func() (client.Run, error) {
			return c.Dismiss(ctx, client.DismissRequest{RunID: id, Reason: "known"})
		}, "dismiss for default: known"},
	} {
		if run, err := x.act(); err != nil || !reflect.DeepEqual(run, wholeRun()) {
			t.Errorf("%s: %+v, %v; want %+v", x.name, run, err, wholeRun())
		}
		if d.Asked != x.want {
			t.Errorf("%s: the engine was asked for %+v, want %+v", x.name, d.Asked, x.want)
		}
	}
	deadline, err := c.Extend(ctx, id, 4711, 90*time.Second)
	if want := (apitest.DeskExtension{Tenant: "default", Run: apitest.DeskRun.ID, Fence: 4711, By: 90 * time.Second}); err != nil || d.Asked != want || deadline != timeOf(apitest.DeskAt+60_000) {
		t.Errorf("extend: %s, %v; asked for %+v", deadline, err, d.Asked)
	}
}

// TestFinalRunHasNoDeadline shows a run that is over, and so has no report to wait for.
func TestFinalRunHasNoDeadline(t *testing.T) {
	v := apitest.DeskRun
	v.Status = job.StatusSucceeded
	if run := runOf(&v); !run.DueAt.IsZero() || !run.Deadline.IsZero() {
		t.Errorf("%+v", run)
	}
}

func TestDeadRunsOfAllJobs(t *testing.T) {
	d, c := startDesk(t, 0)
	page, err := c.ListRuns(t.Context(), client.RunListRequest{Status: "dead", From: timeOf(apitest.DeskAt), Attempts: true})
	if err != nil || len(page.Runs) != 1 || len(page.Runs[0].Attempts) != 1 || page.NextCursor == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	want := scheduler.RunQuery{Tenant: "default", From: apitest.DeskAt, Status: job.StatusDead, Limit: PageDefault}
	if d.Asked != want {
		t.Errorf("the engine was asked for %+v, want %+v", d.Asked, want)
	}
	// The next page may have another size, and need not have the attempts.
	page, err = c.ListRuns(t.Context(), client.RunListRequest{Status: "dead", From: timeOf(apitest.DeskAt), Limit: 7, Cursor: page.NextCursor})
	want.Limit, want.After = 7, apitest.DeskRun.ID
	if err != nil || d.Asked != want || page.Runs[0].Attempts != nil {
		t.Errorf("the engine was asked for %+v, want %+v (%v)", d.Asked, want, err)
	}
	if _, err := c.ListRuns(t.Context(), client.RunListRequest{Status: "succeeded"}); !errors.Is(err, client.CodeInvalidName) {
		t.Errorf("all that succeeded: %v", err)
	}
}

func TestRetryMany(t *testing.T) {
	d, c := startDesk(t, 0)
	reply, err := c.RetryMany(t.Context(), client.RetryManyRequest{Job: "reports/daily", To: timeOf(apitest.DeskAt)})
	if err != nil || reply != (client.RetryManyReply{Retried: 5, More: true}) {
		t.Errorf("%+v, %v", reply, err)
	}
	want := scheduler.RunQuery{Tenant: "default", Job: "reports/daily", To: apitest.DeskAt, Status: job.StatusDead, Limit: PageDefault}
	if d.Asked != want {
		t.Errorf("the engine was asked for %+v, want %+v", d.Asked, want)
	}
}

func TestDismissMany(t *testing.T) {
	d, c := startDesk(t, 0)
	reply, err := c.DismissMany(t.Context(), client.DismissManyRequest{Job: "reports/daily", To: timeOf(apitest.DeskAt), Reason: "known"})
	if err != nil || reply != (client.DismissManyReply{Dismissed: 5, More: true}) {
		t.Errorf("%+v, %v", reply, err)
	}
	want := scheduler.RunQuery{Tenant: "default", Job: "reports/daily", To: apitest.DeskAt, Status: job.StatusDead, Limit: PageDefault}
	if d.Asked != want {
		t.Errorf("the engine was asked for %+v, want %+v", d.Asked, want)
	}
}
