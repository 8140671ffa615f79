package scheduler

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// deadRuns returns a page of the dead runs of all jobs of a tenant, newest scheduled time first.
func (e *Engine) deadRuns(q RunQuery) (RunPage, error) {
	if q.Status != job.StatusDead {
		return RunPage{}, apierr.Errorf(apierr.InvalidField, "job", `is missing; only runs of status "dead" are listed over all jobs`)
	}
	l := runLister{engine: e, query: q}
	d := deadLister{runLister: &l, records: make(map[job.ID]*job.Record)}
	for day, oldest := l.days(); day >= oldest && !l.isFull(); day-- {
		if err := d.readDay(uint32(day)); err != nil {
			return RunPage{}, err
		}
	}
	if l.isFull() {
		l.page.Next = l.last
	}
	return l.page, nil
}

// deadLister finds dead runs by the index rows that they have in addition to their history. An index row may be of a
// run that was retried or dismissed since, or of another tenant with the same hash: the row of the run and of the job
// decide.
type deadLister struct {
	*runLister
	records map[job.ID]*job.Record // jobs read so far; nil: deleted, or of another tenant
}

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
		d.seen++
		d.last = id
		err = d.takeDead(id)
		return !d.isFull(), err
	})
}

// takeDead adds the run of an index row to the page, if it is still listed as dead and the query selects it.
func (d *deadLister) takeDead(id job.RunID) error {
	rec, met := d.records[id.Job]
	if !met {
		got, _, ok, err := d.engine.readRows(id.Job)
		if err != nil {
			return err
		}
		if ok && got.Def.Tenant == d.query.Tenant {
			rec = &got
		}
		d.records[id.Job] = rec
	}
	q := &d.query
	if rec == nil || q.From != 0 && id.At < q.From || q.To != 0 && id.At >= q.To {
		return nil
	}
	run, ok, err := d.engine.readRun(id)
	if err == nil && ok && run.IsListedDead() {
		d.page.Runs = append(d.page.Runs, d.engine.runView(run, rec))
	}
	return err
}
