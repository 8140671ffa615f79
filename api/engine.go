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
	Put(ctx context.Context, def *job.Definition, ifVersion *uint32) (v scheduler.JobView, created bool, err error)
	Prepare(def *job.Definition) (*scheduler.Put, error)
	PutMany(ctx context.Context, items []scheduler.PutItem) []scheduler.PutResult
	Get(ctx context.Context, tenant, name string) (scheduler.JobView, error)
	List(ctx context.Context, q scheduler.ListQuery) (scheduler.JobPage, error)
	Delete(ctx context.Context, tenant, name string, ifVersion *uint32) (scheduler.DeleteResult, error)
	Pause(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (scheduler.JobView, error)
	Resume(ctx context.Context, tenant, name, reason string, ifVersion *uint32) (scheduler.JobView, error)
	Trigger(ctx context.Context, req scheduler.TriggerRequest) (scheduler.RunView, error)
	Backfill(ctx context.Context, q scheduler.BackfillRequest) (scheduler.BackfillResult, error)
	Runs(ctx context.Context, q scheduler.RunQuery) (scheduler.RunPage, error)
	Run(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	Report(ctx context.Context, req scheduler.ReportRequest) (scheduler.RunView, error)
	Extend(ctx context.Context, tenant string, id job.RunID, fence uint64, by time.Duration) (instant.Millis, error)
	CancelRun(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	RetryRun(ctx context.Context, tenant string, id job.RunID) (scheduler.RunView, error)
	RetryDead(ctx context.Context, q scheduler.RunQuery) (retried int, more bool, err error)
	PutCalendar(ctx context.Context, c *job.Calendar) (now job.Calendar, created bool, err error)
	Calendar(ctx context.Context, tenant, name string) (job.Calendar, error)
	Calendars(ctx context.Context, tenant, after string, limit int) ([]job.Calendar, error)
	DeleteCalendar(ctx context.Context, tenant, name string) error
	Audit(ctx context.Context, q scheduler.AuditQuery) (scheduler.AuditPage, error)
	Status() scheduler.Status
}

var _ Engine = (*scheduler.Engine)(nil)
