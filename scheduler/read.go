package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Get returns a job. Like every read it sees what is applied: a caller that was answered finds its change. On a
// standby it may be behind.
func (e *Engine) Get(ctx context.Context, tenant, name string) (JobView, error) {
	id, ok, err := e.lookUp(tenant, name)
	if err != nil {
		return JobView{}, err
	}
	if !ok {
		return JobView{}, core.UnknownJob(name)
	}
	v, ok, err := e.view(ctx, id)
	if err == nil && !ok {
		err = core.UnknownJob(name)
	}
	return v, err
}

// lookUp returns the id of the job with a name; false if there is none.
func (e *Engine) lookUp(tenant, name string) (job.ID, bool, error) {
	value, ok, err := e.opts.Store.Get(job.AppendNameKey(nil, tenant, name))
	if err != nil || !ok {
		return 0, false, err
	}
	id, err := job.DecodeName(value)
	return id, err == nil, err
}

// readRows reads the cold and the hot row of a job; ok is false if the job was deleted meanwhile. The timer is read
// first. If the job changes between the two reads, its version is the older one, and a proposal that is prepared from
// the rows is refused as stale.
func (e *Engine) readRows(id job.ID) (rec job.Record, timer job.Timer, ok bool, err error) {
	if timer, ok, err = e.readTimer(id); err != nil || !ok {
		return rec, timer, false, err
	}
	rec, ok, err = e.readRecord(id)
	return rec, timer, ok, err
}

// readTimer reads the hot row of a job, as of the newest applied commit.
func (e *Engine) readTimer(id job.ID) (timer job.Timer, ok bool, err error) {
	value, ok, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindTimer, id))
	if err != nil || !ok {
		return timer, false, err
	}
	timer, err = job.DecodeTimer(value)
	return timer, err == nil, err
}

// readRecord reads the cold row of a job: its definition and its stamp.
func (e *Engine) readRecord(id job.ID) (rec job.Record, ok bool, err error) {
	value, ok, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindJob, id))
	if err != nil || !ok {
		return rec, false, err
	}
	rec, err = job.DecodeRecord(id, value)
	return rec, err == nil, err
}

// view reads everything that the owner of a job sees of it; false if the job was deleted.
func (e *Engine) view(ctx context.Context, id job.ID) (JobView, bool, error) {
	return e.viewFor(ctx, id, &ListQuery{})
}

// viewFor is view for a list. Of a job that the query does not select, it reads only what shows that.
func (e *Engine) viewFor(ctx context.Context, id job.ID, q *ListQuery) (JobView, bool, error) {
	timer, ok, err := e.readTimer(id)
	if err != nil || !ok || !q.mayHaveTimer(timer) {
		return JobView{}, false, err
	}
	rec, ok, err := e.readRecord(id)
	if err != nil || !ok || !q.hasRecord(&rec) {
		return JobView{}, false, err
	}
	v := JobView{Record: rec, Status: timer.Flags.JobStatus()}
	v.Version = timer.Version
	v.Def.Paused = timer.Flags.Is(job.FlagPaused)
	if v.Status == "active" {
		v.NextRunAt = timer.Cursor
		if v.NextLaunchAt, err = e.launchAt(ctx, &v); err != nil {
			return JobView{}, false, err
		}
	}
	if err := e.addNote(&v); err != nil {
		return JobView{}, false, err
	}
	err = e.addLastRun(&v, timer)
	return v, err == nil, err
}

// launchAt returns when the next tick of a job is launched: the tick plus its jitter. The error is that of a search that
// ended with ctx.
func (e *Engine) launchAt(ctx context.Context, v *JobView) (instant.Millis, error) {
	if v.Def.Jitter == 0 {
		return v.NextRunAt, nil
	}
	s, err := e.opts.Settings.Zones.Restore(v.Def.Spec(), e.calendarOf)
	if err != nil {
		return v.NextRunAt, nil
	}
	x := schedule.SearchFor(ctx, 0)
	defer x.Done()
	next, ok := s.NextIn(x, v.NextRunAt, v.Anchor)
	if !ok && x.Err() != nil && !errors.Is(x.Err(), schedule.ErrTooLong) {
		return 0, x.Refusal()
	}
	return v.NextRunAt + job.JitterOf(v.ID, instant.MillisUp(v.Def.Jitter), v.NextRunAt, next), nil
}

// addNote adds why a job is in its state. A note is also a change of the job, so it moves UpdatedAt.
func (e *Engine) addNote(v *JobView) error {
	note, err := e.readNote(v.ID)
	v.StatusReason, v.StatusBy = note.Reason, note.By
	v.UpdatedAt = max(v.UpdatedAt, note.At)
	return err
}

// readNote reads why, and since when, a job is in its state; the zero Note if there is none.
func (e *Engine) readNote(id job.ID) (job.Note, error) {
	value, ok, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindNote, id))
	if err != nil || !ok {
		return job.Note{}, err
	}
	return job.DecodeNote(value)
}
