package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// deadRuns returns a page of the dead runs of all jobs of a tenant, newest scheduled time first.
func (e *Engine) deadRuns(ctx context.Context, q RunQuery) (RunPage, error) {
	if q.Status != job.StatusDead {
		return RunPage{}, apierr.Errorf(apierr.InvalidField, "job", `is missing; only runs of status "dead" are listed over all jobs`)
	}
	l := runLister{engine: e, query: q}
	d := deadLister{runLister: &l, ctx: ctx, records: make(map[job.ID]*job.Record)}
	days, err := l.days(job.KindDead)
	if err != nil {
		return RunPage{}, err
	}
	for i := 0; i < len(days) && !l.isFull(); i++ {
		if err := d.readDay(days[i]); err != nil {
			return RunPage{}, err
		}
	}
	if l.isFull() {
		l.page.Next = l.last
	}
	return l.page, nil
}

// deadLister finds dead runs by the index rows that they have in addition to their history. An index row may be of a
// run that was retried or dismissed since, of a job that was deleted, or of another tenant with the same hash: the row of the run and
// of the job decide.
//
// Only rows of the tenant's jobs count as read, and only they are named by a cursor. So another tenant's dead runs neither show in a page nor end
// it. How many of them are passed over is bounded by the time of the request.
type deadLister struct {
	*runLister
	ctx     context.Context
	records map[job.ID]*job.Record // jobs read of late; nil: deleted, or of another tenant
	passed  int                    // rows of such jobs
}

const (
	// deadRecordsMax bounds the jobs that a lister remembers.
	deadRecordsMax = 4096
	// deadPassed is how many rows of other tenants a lister passes over in one turn.
	deadPassed = 64
)

// readDay reads the index rows of one day of the tenant, newest first, until the page is full.
func (d *deadLister) readDay(day uint32) error {
	low := job.AppendDeadDay(nil, day, job.HashTenant(d.query.Tenant))
	high := job.PrefixEnd(low)
	if after := d.query.After; after.Job != 0 && job.Day(after.At) == day {
		low = append(job.AppendDeadKey(nil, job.HashTenant(d.query.Tenant), after), 0)
	}
	return d.engine.opts.Store.Scan(low, high, func(key, _ []byte) (bool, error) {
		id, err := job.ParseDeadKey(key)
		if err != nil {
			return false, err
		}
		err = d.takeDead(id)
		return !d.isFull(), err
	})
}

// takeDead adds the run of an index row to the page, if it is still listed as dead and the query selects it.
func (d *deadLister) takeDead(id job.RunID) error {
	rec, err := d.record(id.Job)
	if err != nil {
		return err
	}
	if rec == nil {
		return d.pass()
	}
	d.seen++
	d.last = id
	q := &d.query
	if q.From != 0 && id.At < q.From || q.To != 0 && id.At >= q.To {
		return nil
	}
	run, ok, err := d.engine.readRun(id)
	if err == nil && ok && run.IsListedDead() {
		d.page.Runs = append(d.page.Runs, d.engine.runView(run, rec))
	}
	return err
}

// record returns the record of a job of the tenant; nil if there is none.
func (d *deadLister) record(id job.ID) (*job.Record, error) {
	if rec, met := d.records[id]; met {
		return rec, nil
	}
	got, _, ok, err := d.engine.readRows(id)
	if err != nil {
		return nil, err
	}
	if len(d.records) >= deadRecordsMax {
		clear(d.records)
	}
	d.records[id] = nil
	if ok && got.Def.Tenant == d.query.Tenant {
		d.records[id] = &got
	}
	return d.records[id], nil
}

// pass passes over a row that is not of the tenant. It returns the error of the request if its time is over.
func (d *deadLister) pass() error {
	if d.passed++; d.passed%deadPassed != 0 {
		return nil
	}
	return schedule.Turn(d.ctx)
}
