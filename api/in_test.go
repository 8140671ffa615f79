package api

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestIn registers jobs that count from their acceptance: alone, again, in bulk, and in a preview.
func TestIn(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{}, 0)
	c, ctx := apitest.NewClient(t, url, client.Options{}), t.Context()
	isIn := func(what string, at time.Time, after, before time.Time, d time.Duration) {
		t.Helper()
		if at.Before(after.Add(d).Truncate(time.Millisecond)) || at.After(before.Add(d+time.Millisecond)) {
			t.Errorf("%s is at %s; want %s after a moment from %s to %s", what, at, d, after, before)
		}
	}
	j := apitest.Yearly("remind")
	j.Schedule = client.In(10 * time.Minute)

	began := time.Now()
	first, _, err := c.PutIfVersion(ctx, j, 0)
	if err != nil {
		t.Fatal(err)
	}
	isIn("the run", first.NextRunAt.Time, began, time.Now(), 10*time.Minute)
	if want := first.NextRunAt.Schedule(); first.Schedule != want {
		t.Errorf("the reply has the schedule %q; want %q", first.Schedule, want)
	}
	// The reply was lost, and the same request comes again: the first instant stays.
	if _, _, err := c.PutIfVersion(ctx, j, 0); !errors.Is(err, client.CodeAlreadyExists) {
		t.Errorf("the repeated put returns %v", err)
	}
	kept, err := c.Get(ctx, j.Name)
	if err != nil || kept.Schedule != first.Schedule || !kept.NextRunAt.Equal(first.NextRunAt.Time) {
		t.Errorf("after the repeated put: %+v, %v; want %s", kept, err, first.Schedule)
	}
	// Without a version it counts anew.
	began = time.Now()
	moved, _, err := c.Put(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	isIn("the moved run", moved.NextRunAt.Time, began, time.Now(), 10*time.Minute)

	several := apitest.Yearly("several")
	several.Schedule, several.Schedules = "", []string{"@in 1h", "CRON_TZ=Europe/Berlin @in 2h", "@yearly"}
	bad := apitest.Yearly("bad")
	bad.Schedule = "@in soon"
	began = time.Now()
	bulk, err := c.PutMany(ctx, []client.Job{several, bad})
	if err != nil || len(bulk.Results) != 2 || bulk.Results[0].Error != nil || !errors.Is(bulk.Results[1].Error, client.CodeInvalidSchedule) {
		t.Fatalf("in bulk: %+v, %v", bulk, err)
	}
	if got, err := c.Get(ctx, "several"); err != nil || len(got.Schedules) != 3 {
		t.Errorf("of several schedules: %+v, %v", got, err)
	} else {
		isIn("the first of several", got.NextRunAt.Time, began, time.Now(), time.Hour)
	}

	began = time.Now()
	next, err := c.Next(ctx, client.NextRequest{Schedule: "@in 90s", Count: 2})
	if err != nil || len(next.Times) != 1 {
		t.Fatalf("a preview: %+v, %v", next, err)
	}
	isIn("the preview", next.Times[0].Time, began, time.Now(), 90*time.Second)
}
