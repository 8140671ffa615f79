package api

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Engine is what the API serves; [*scheduler.Engine] implements it. Its methods are safe for concurrent use. An error
// that is an [*apierr.Error] is returned to the caller as it is; any other is internal. Changes return when their
// commit counts, or with the error that prevented it; an error of ctx leaves it unknown whether the change took
// effect. Reads return copies, which the API may change and mask.
type Engine interface {
	// Put registers or updates one job; created is true if there was none. ifVersion is nil for any version.
	Put(ctx context.Context, def *job.Definition, ifVersion *uint32) (v scheduler.JobView, created bool, err error)
	// Prepare compiles a definition for PutMany without proposing anything, on the goroutine of the caller. Its
	// result can be proposed once. It gives up with ctx.
	Prepare(ctx context.Context, def *job.Definition) (*scheduler.Put, error)
	// PutMany returns one result for each item, in their order. An item with an error gets that error back.
	PutMany(ctx context.Context, items []scheduler.PutItem) []scheduler.PutResult
	Get(ctx context.Context, tenant, name string) (scheduler.JobView, error)
	// List, Runs and Audit may return fewer entries than the limit although more follow, because each call reads a
	// bounded number of rows. Only the place to continue says whether the list has ended.
	List(ctx context.Context, q scheduler.ListQuery) (scheduler.JobPage, error)
	Delete(ctx context.Context, tenant, name string, ifVersion *uint32) (scheduler.DeleteResult, error)
	Pause(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (scheduler.JobView, error)
	Resume(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (scheduler.JobView, error)
	Trigger(ctx context.Context, req scheduler.TriggerRequest) (scheduler.RunView, error)
	// Backfill may take several commits. If it fails between them, some runs are started; the same request again
	// leaves those out.
	Backfill(ctx context.Context, q scheduler.BackfillRequest) (scheduler.BackfillResult, error)
	Runs(ctx context.Context, q scheduler.RunQuery) (scheduler.RunPage, error)
	Run(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	Report(ctx context.Context, req scheduler.ReportRequest) (scheduler.RunView, error)
	// Extend returns the deadline that is in force, which is never before the one that was.
	Extend(ctx context.Context, tenant string, id job.RunID, fence uint64, by time.Duration) (instant.Millis, error)
	CancelRun(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	RetryRun(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	// RetryDead changes run after run. An error means that some may have been retried; more means that some may be
	// left.
	RetryDead(ctx context.Context, q scheduler.RunQuery) (retried int, more bool, err error)
	// DismissRun succeeds without a change if the run is dismissed already.
	DismissRun(ctx context.Context, tenant string, id job.RunID, reason string) (scheduler.RunView, error)
	// DismissDead changes run after run, like RetryDead.
	DismissDead(ctx context.Context, q scheduler.RunQuery, reason string) (dismissed int, more bool, err error)
	// PutCalendar returns before the jobs that refer to the calendar follow it.
	PutCalendar(ctx context.Context, c *job.Calendar) (now job.Calendar, created bool, err error)
	Calendar(ctx context.Context, tenant, name string) (job.Calendar, error)
	// Calendars returns fewer than limit only at the end of the list, which is how the API finds the end.
	Calendars(ctx context.Context, tenant, after string, limit int) ([]job.Calendar, error)
	DeleteCalendar(ctx context.Context, tenant, name string) error
	Audit(ctx context.Context, q scheduler.AuditQuery) (scheduler.AuditPage, error)
	// Status does not wait for a step, so that it answers while a disk or a cluster is stuck.
	Status() scheduler.Status
}

var _ Engine = (*scheduler.Engine)(nil)
