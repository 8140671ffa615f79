package api

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// desk is an engine whose runs, calendars and audit log are canned. It keeps what it was asked for, and
// leaves the rest to a real engine.
type desk struct {
	Engine
	asked     any // the newest request
	calendars []job.Calendar
	entries   []job.AuditEntry // newest first
}

func newDesk(t testing.TB) *desk { return &desk{Engine: startEngine(t)} }

// deskAt is the time of all that a desk has.
const deskAt = instant.Millis(1_764_576_000_123)

// deskRun is the one run that a desk knows. Every member of it is set.
var deskRun = scheduler.RunView{
	Tenant: "default", Job: "reports/daily", Manual: true,
	Run: job.Run{
		ID: job.RunID{Job: 7, At: deskAt, Seq: 1}, Status: job.StatusRunning, Attempt: 2, Base: 1, Fence: 4711,
		Due: deskAt + 1, Deadline: deskAt + 60_000, Stale: 3, LaunchedAt: deskAt + 2, Error: "the last one",
		Lateness: time.Millisecond, Duration: time.Second, Reason: job.ReasonRequested, Until: deskAt + 3, Result: "5 rows",
		Attempts: []job.Attempt{{Number: 1, Fence: 4700, LaunchedAt: deskAt + 1, Duration: time.Second, Error: "the last one"}},
	},
}

func (d *desk) answer(id job.RunID, asked any) (scheduler.RunView, error) {
	d.asked = asked
	if id != deskRun.ID {
		return scheduler.RunView{}, apierr.Errorf(apierr.NotFound, "run_id", "there is no run %s", id)
	}
	return deskRun, nil
}

func (d *desk) Report(_ context.Context, req scheduler.ReportRequest) (scheduler.RunView, error) {
	return d.answer(req.Run, req)
}

// deskExtension is what an Extend was asked for.
type deskExtension struct {
	tenant string
	run    job.RunID
	fence  uint64
	by     time.Duration
}

func (d *desk) Extend(_ context.Context, tenant string, id job.RunID, fence uint64, by time.Duration) (instant.Millis, error) {
	v, err := d.answer(id, deskExtension{tenant, id, fence, by})
	return v.Deadline, err
}

func (d *desk) CancelRun(_ context.Context, tenant string, id job.RunID) (scheduler.RunView, error) {
	return d.answer(id, "cancel for "+tenant)
}

func (d *desk) RetryRun(_ context.Context, tenant string, id job.RunID) (scheduler.RunView, error) {
	return d.answer(id, "retry for "+tenant)
}

func (d *desk) RetryDead(_ context.Context, q scheduler.RunQuery) (int, bool, error) {
	d.asked = q
	if q.Job != "" && q.Job != deskRun.Job {
		return 0, false, apierr.Errorf(apierr.NotFound, "name", "there is no job %s", q.Job)
	}
	return 5, true, nil
}

// Runs answers the queries for all jobs, which find the one run.
func (d *desk) Runs(ctx context.Context, q scheduler.RunQuery) (scheduler.RunPage, error) {
	if q.Job != "" {
		return d.Engine.Runs(ctx, q)
	}
	d.asked = q
	return scheduler.RunPage{Runs: []scheduler.RunView{deskRun}, Next: deskRun.ID}, nil
}

func (d *desk) PutCalendar(_ context.Context, c *job.Calendar) (job.Calendar, bool, error) {
	d.asked = *c
	now := *c
	now.Version, now.UpdatedAt = 1, deskAt
	d.calendars = append(d.calendars, now)
	return now, true, nil
}

func (d *desk) Calendar(_ context.Context, tenant, name string) (job.Calendar, error) {
	for _, c := range d.calendars {
		if c.Tenant == tenant && c.Name == name {
			return c, nil
		}
	}
	return job.Calendar{}, apierr.Errorf(apierr.NotFound, "name", "there is no calendar %s", name)
}

func (d *desk) Calendars(_ context.Context, tenant, after string, limit int) (page []job.Calendar, _ error) {
	for _, c := range d.calendars {
		if c.Tenant == tenant && c.Name > after && len(page) < limit {
			page = append(page, c)
		}
	}
	return page, nil
}

func (d *desk) DeleteCalendar(ctx context.Context, tenant, name string) error {
	_, err := d.Calendar(ctx, tenant, name)
	return err
}

func (d *desk) Audit(_ context.Context, q scheduler.AuditQuery) (page scheduler.AuditPage, _ error) {
	d.asked = q
	for i := range d.entries {
		if place := placeOf(&d.entries[i]); q.After == (scheduler.AuditPlace{}) || place.ID.LSN < q.After.ID.LSN {
			if len(page.Entries) == q.Limit {
				page.Next = placeOf(&page.Entries[q.Limit-1])
				break
			}
			page.Entries = append(page.Entries, d.entries[i])
		}
	}
	return page, nil
}

func placeOf(e *job.AuditEntry) scheduler.AuditPlace {
	return scheduler.AuditPlace{Day: job.Day(e.At), ID: e.ID}
}
