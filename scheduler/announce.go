package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The outbox: notices are rows that the commit of a change writes, and that are dropped when the world
// outside has them. So none is lost by a crash, and some may be told twice.

const (
	announceBatch = 256
	// announceRetry is how long the world outside is left alone after it did not take a notice.
	announceRetry = time.Second
)

// announceAll publishes notices until ctx ends. Notices have ascending keys, and it begins each time
// behind those that it dropped, so that it does not walk over what is gone.
func (e *Engine) announceAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	low := []byte{byte(job.KindOutbox)}
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.chores.notices:
		case <-timer.C:
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if low, more, err = e.announceSome(ctx, low); err != nil && ctx.Err() == nil {
				e.opts.Logger.Warn("notices wait: they were not published", "error", err, "again_in", announceRetry)
				timer.Reset(announceRetry)
				break
			}
		}
	}
}

// announceSome publishes a batch of the notices from a key on, and returns where the next batch begins
// and whether there may be one.
func (e *Engine) announceSome(ctx context.Context, low []byte) (next []byte, more bool, err error) {
	batch, err := e.readNotices(low)
	if err != nil || len(batch) == 0 {
		return low, false, err
	}
	n, err := e.tell(ctx, batch)
	if n == 0 {
		return low, false, err
	}
	ids := make([]job.NoticeID, n)
	for i := range ids {
		ids[i] = batch[i].ID
	}
	if lost := e.submit(ctx, &Published{IDs: ids}); lost != nil {
		return low, false, lost
	}
	return append(job.AppendNoticeKey(nil, ids[n-1]), 0), err == nil, err
}

// tell publishes a batch, and returns how many of it, from the first on, need not be published any more:
// those that are without a job among them.
func (e *Engine) tell(ctx context.Context, batch []job.Announcement) (int, error) {
	var named []job.Announcement
	for i := range batch {
		if batch[i].Tenant != "" {
			named = append(named, batch[i])
		}
	}
	n, err := e.opts.Announcer.Announce(ctx, named)
	if n == len(named) {
		return len(batch), err
	}
	return slices.IndexFunc(batch, func(a job.Announcement) bool { return a.ID == named[n].ID }), err
}

// readNotices returns the next notices with what is known of their jobs. A run that ended after its job
// was deleted has neither tenant nor name: nobody can be told of it.
func (e *Engine) readNotices(low []byte) ([]job.Announcement, error) {
	var batch []job.Announcement
	high := job.PrefixEnd([]byte{byte(job.KindOutbox)})
	err := e.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		n, err := job.DecodeNotice(key, value)
		batch = append(batch, job.Announcement{Notice: n})
		return len(batch) < announceBatch, err
	})
	if err != nil {
		return nil, err
	}
	records := make(map[job.ID]*job.Record)
	for i := range batch {
		if err := e.describe(&batch[i], records); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

func (e *Engine) describe(a *job.Announcement, records map[job.ID]*job.Record) error {
	rec := records[a.Run.Job]
	if rec == nil {
		got, _, _, err := e.readRows(a.Run.Job)
		if err != nil {
			return err
		}
		rec = &got
		records[a.Run.Job] = rec
	}
	if rec.Def.Name != "" {
		a.Tenant, a.Name, a.Target, a.Headers = rec.Def.Tenant, rec.Def.Name, rec.Def.Target, rec.Def.Headers
	}
	if !a.Dead {
		return nil
	}
	run, _, err := e.readRun(a.Run)
	if err != nil {
		return err
	}
	a.Payload, a.PayloadJSON, a.Attempts = rec.Def.Payload, rec.Def.PayloadJSON, run.Attempts
	if run.HasPayload {
		a.Payload, a.PayloadJSON, err = readPayload(e.opts.Store, a.Run)
	}
	if errors.Is(err, errNoPayload) {
		return nil // it was retried meanwhile, and is over
	}
	return err
}
