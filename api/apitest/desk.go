package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Desk is an engine whose runs, calendars and audit log are canned. It keeps what it was asked for, and
// leaves the rest to a real engine. Tests of the codec use it to see exactly what reaches the engine, and to get
// replies whose every member is set. It is for one test at a time: its fields have no lock.
type Desk struct {
	*scheduler.Engine
	Asked any // the newest request
	// Kept grows with each PutCalendar, and is never cut: deletions are only checked for their name.
	Kept    []job.Calendar
	Entries []job.AuditEntry // newest first
}

// NewDesk returns a desk without calendars and entries.
func NewDesk(t testing.TB) *Desk { return &Desk{Engine: StartEngine(t)} }

// DeskAt is the time of all that a desk has. It has milliseconds, so that a codec that drops them is noticed.
const DeskAt = instant.Millis(1_764_576_000_123)

// DeskRun is the one run that a desk knows. Every member of it is set. A member that a new release adds belongs in
// it, or the tests of replies do not see that it is missing.
var DeskRun = scheduler.RunView{
	Tenant: "default", Job: "reports/daily", Manual: true,
	Run: job.Run{
		ID: job.RunID{Job: 7, At: DeskAt, Seq: 1}, Status: job.StatusRunning, Attempt: 2, Base: 1, Fence: 4711,
		Due: DeskAt + 1, Deadline: DeskAt + 60_000, Stale: 3, LaunchedAt: DeskAt + 2, Error: "the last one",
		Lateness: time.Millisecond, Duration: time.Second, Reason: job.ReasonRequested, Until: DeskAt + 3, Result: "5 rows",
		Dismissal: job.Dismissal{At: DeskAt + 4, By: "alice@ci", Reason: "known"},
		Attempts:  []job.Attempt{{Number: 1, Fence: 4700, LaunchedAt: DeskAt + 1, Duration: time.Second, Error: "the last one"}},
	},
}

// answer keeps the request, and returns the one run, or the error of an engine for any other.
func (d *Desk) answer(id job.RunID, asked any) (scheduler.RunView, error) {
	d.Asked = asked
	if id != DeskRun.ID {
		return scheduler.RunView{}, apierr.Errorf(apierr.NotFound, "run_id", "there is no run %s", id)
	}
	return DeskRun, nil
}

// Report implements api.Engine.
func (d *Desk) Report(_ context.Context, req scheduler.ReportRequest) (scheduler.RunView, error) {
	return d.answer(req.Run, req)
}

// DeskExtension is what an Extend was asked for.
type DeskExtension struct {
	Tenant string
	Run    job.RunID
	Fence  uint64
	By     time.Duration
}

// Extend implements api.Engine.
func (d *Desk) Extend(_ context.Context, tenant string, id job.RunID, fence uint64, by time.Duration) (instant.Millis, error) {
	v, err := d.answer(id, DeskExtension{tenant, id, fence, by})
	return v.Deadline, err
}

// CancelRun implements api.Engine.
func (d *Desk) CancelRun(_ context.Context, tenant string, id job.RunID) (scheduler.RunView, error) {
	return d.answer(id, "cancel for "+tenant)
}

// RetryRun implements api.Engine.
func (d *Desk) RetryRun(_ context.Context, tenant string, id job.RunID) (scheduler.RunView, error) {
	return d.answer(id, "retry for "+tenant)
}

// RetryDead implements api.Engine.
func (d *Desk) RetryDead(_ context.Context, q scheduler.RunQuery) (int, bool, error) {
	d.Asked = q
	if q.Job != "" && q.Job != DeskRun.Job {
		return 0, false, apierr.Errorf(apierr.NotFound, "name", "there is no job %s", q.Job)
	}
	return 5, true, nil
}

// DismissRun implements api.Engine.
func (d *Desk) DismissRun(_ context.Context, tenant string, id job.RunID, reason string) (scheduler.RunView, error) {
	return d.answer(id, "dismiss for "+tenant+": "+reason)
}

// DismissDead implements api.Engine.
func (d *Desk) DismissDead(ctx context.Context, q scheduler.RunQuery, _ string) (int, bool, error) {
	return d.RetryDead(ctx, q)
}

// Runs answers the queries for all jobs, which find the one run.
func (d *Desk) Runs(ctx context.Context, q scheduler.RunQuery) (scheduler.RunPage, error) {
	if q.Job != "" {
		return d.Engine.Runs(ctx, q)
	}
	d.Asked = q
	return scheduler.RunPage{Runs: []scheduler.RunView{DeskRun}, Next: DeskRun.ID}, nil
}

// PutCalendar implements api.Engine.
func (d *Desk) PutCalendar(_ context.Context, c *job.Calendar) (job.Calendar, bool, error) {
	d.Asked = *c
	now := *c
	now.Version, now.UpdatedAt = 1, DeskAt
	d.Kept = append(d.Kept, now)
	return now, true, nil
}

// Calendar implements api.Engine.
func (d *Desk) Calendar(_ context.Context, tenant, name string) (job.Calendar, error) {
	for _, c := range d.Kept {
		if c.Tenant == tenant && c.Name == name {
			return c, nil
		}
	}
	return job.Calendar{}, apierr.Errorf(apierr.NotFound, "name", "there is no calendar %s", name)
}

// Calendars implements api.Engine.
func (d *Desk) Calendars(_ context.Context, tenant, after string, limit int) (page []job.Calendar, _ error) {
	for _, c := range d.Kept {
		if c.Tenant == tenant && c.Name > after && len(page) < limit {
			page = append(page, c)
		}
	}
	return page, nil
}

// DeleteCalendar implements api.Engine.
func (d *Desk) DeleteCalendar(ctx context.Context, tenant, name string) error {
	_, err := d.Calendar(ctx, tenant, name)
	return err
}

// Audit implements api.Engine.
func (d *Desk) Audit(_ context.Context, q scheduler.AuditQuery) (page scheduler.AuditPage, _ error) {
	d.Asked = q
	for i := range d.Entries {
		if place := placeOf(&d.Entries[i]); q.After == (scheduler.AuditPlace{}) || place.ID.LSN < q.After.ID.LSN {
			if len(page.Entries) == q.Limit {
				page.Next = placeOf(&page.Entries[q.Limit-1])
				break
			}
			page.Entries = append(page.Entries, d.Entries[i])
		}
	}
	return page, nil
}

// placeOf returns the place at which a page continues after an entry.
func placeOf(e *job.AuditEntry) scheduler.AuditPlace {
	return scheduler.AuditPlace{Day: job.Day(e.At), ID: e.ID}
}

// DeskEntries is an audit log of n entries, the newest first. All have the same day, so a page of them is ordered
// by LSN alone.
func DeskEntries(n int) []job.AuditEntry {
	def := WholeJob().Def
	list := make([]job.AuditEntry, n)
	for i := range list {
		list[i] = job.AuditEntry{
			ID: job.AuditID{LSN: uint64(1000 + n - i), Seq: 3}, At: DeskAt, Actor: job.Actor{By: "alice@ci", From: "nats"},
			Action: job.ActionUpdate, Tenant: "default", Name: def.Name, Job: 42, Detail: "because",
			Before: job.AuditDefinition(&def), After: job.AuditDefinition(&def),
		}
	}
	return list
}
