package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// keepsDeleted reports whether the definition of a deleted job is kept for its notices: there are notices, and every node of
// the cluster reads such rows.
func (e *Engine) keepsDeleted() bool {
	most, _ := e.rowsMax()
	return e.opts.Announcer != nil && max(most, byte(e.rows.Load())) >= job.RowsVersionOfDeleted
}

// recordToKeep returns the row of a job that is to be deleted, for the notices of the job that are still to be published;
// nothing if none is kept.
func (e *Engine) recordToKeep(id job.ID) ([]byte, error) {
	if !e.keepsDeleted() {
		return nil, nil
	}
	record, _, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindJob, id))
	return record, err
}

// readDescribed reads the definition of a job that notices are about, also if the job is deleted. A record without a name
// means that nothing was kept. A deletion moves the record in one commit, so this order of the reads finds it in either
// place.
func (e *Engine) readDescribed(id job.ID) (*job.Record, error) {
	rec, ok, err := e.readRecord(id)
	if err != nil || ok {
		return &rec, err
	}
	value, ok, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindDeleted, id))
	if err != nil || !ok {
		return &rec, err
	}
	rec, err = job.DecodeDeleted(id, value)
	return &rec, err
}

// dropDeleted deletes what is kept of deleted jobs, when no notices wait. It ends as soon as it gets nowhere: a notice that
// has come meanwhile must be published first, which is for the caller.
func (e *Engine) dropDeleted(ctx context.Context) error {
	for left := e.droppable.Load(); left > 0; {
		if err := e.submit(ctx, new(core.Published)); err != nil {
			return err
		}
		before := left
		if left = e.droppable.Load(); left >= before {
			return nil
		}
	}
	return nil
}
