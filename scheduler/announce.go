package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// The outbox: the commit of a change also writes a row for its notice. The row is deleted once the notice is
// published. A crash therefore loses no notice, but some may be published twice.

// announceBatch is the most notices that are read, published and deleted together. A larger batch makes fewer commits,
// and repeats more if it fails half way.
const (
	announceBatch = 256
	// announceRetry is the pause after the announcer failed to publish a notice.
	announceRetry = time.Second
	// lostBetween is the shortest time between two log lines about dropped events.
	lostBetween = time.Minute
)

// announceAll publishes notices until ctx ends. Keys of notices ascend, and each pass begins after the last dropped
// key, so that it does not scan deleted rows. Notices are published in the order of commits. After a failure all of
// them wait, because skipping one would change the order that readers of the stream see.
func (e *Engine) announceAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	low := []byte{byte(job.KindOutbox)}
	var lost lostEvents
	wanted := e.housekeeping.notices // nil after a failure: then only the timer starts the next attempt
	for {
		select {
		case <-ctx.Done():
			return
		case <-wanted:
		case <-timer.C:
			wanted = e.housekeeping.notices
		}
		lost.log(e)
		for more := true; more && ctx.Err() == nil; {
			var err error
			if low, more, err = e.announceSome(ctx, low); err != nil && ctx.Err() == nil {
				e.opts.Logger.Warn("notices wait: they were not published", "error", err, "again_in", announceRetry)
				timer.Reset(announceRetry)
				wanted = nil
				break
			}
		}
	}
}

// lostEvents remembers how many dropped events were logged, and when.
type lostEvents struct {
	told uint64
	at   time.Time
}

// log logs how many events were dropped since the last such line, at most once each lostBetween.
func (l *lostEvents) log(e *Engine) {
	lost, now := e.Status().NoticesLost, e.opts.Clock.Now()
	if lost == l.told || !l.at.IsZero() && now.Sub(l.at) < lostBetween {
		return
	}
	e.opts.Logger.Error("notices were dropped: too many wait to be published, their jobs are deleted and nothing was kept of them, or events are switched off", "dropped", lost-l.told, "waiting_max", e.opts.Settings.EventsMax)
	l.told, l.at = lost, now
}

// announceSome publishes a batch of notices, beginning at key low. It returns the key at which the next batch begins,
// and whether there may be one. The rows are deleted by a proposal like any other, so a notice counts as published
// only when that is in the log.
func (e *Engine) announceSome(ctx context.Context, low []byte) (next []byte, more bool, err error) {
	batch, err := e.readNotices(low)
	switch {
	case err != nil:
		return low, false, err
	case len(batch) == 0:
		return low, false, e.dropDeleted(ctx)
	}
	n, err := e.publishBatch(ctx, batch)
	if n == 0 {
		return low, false, err
	}
	p := new(core.Published)
	for i := range batch[:n] {
		p.IDs = append(p.IDs, batch[i].ID)
		if isLost(&batch[i], e.opts.Settings.Events) {
			p.Lost++
		}
	}
	if unwritten := e.submit(ctx, p); unwritten != nil {
		return low, false, unwritten
	}
	return append(job.AppendNoticeKey(nil, p.IDs[n-1]), 0), err == nil, err
}

// isLost reports whether a notice, or one of the two messages that it may stand for, is not published at all. The announcer
// publishes no events once these are switched off; some may wait from before.
func isLost(a *job.Announcement, events bool) bool { return !isDescribed(a) || a.Event && !events }

// isDescribed reports whether a notice has what its message needs. It has not if its job was deleted and the definition
// could not be kept.
func isDescribed(a *job.Announcement) bool { return a.Tenant != "" }

// publishBatch publishes a batch. It returns the length of the prefix that is finished: published, or without a job. A
// notice that nothing describes has no subject, so it is dropped with the batch.
func (e *Engine) publishBatch(ctx context.Context, batch []job.Announcement) (int, error) {
	var named []job.Announcement
	for i := range batch {
		if isDescribed(&batch[i]) {
			named = append(named, batch[i])
		}
	}
	n, err := e.opts.Announcer.Announce(ctx, named)
	if n == len(named) {
		return len(batch), err
	}
	return slices.IndexFunc(batch, func(a job.Announcement) bool { return a.ID == named[n].ID }), err
}

// readNotices returns the next notices with the tenant and the name of their jobs.
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

// describe adds to a notice what its rows do not have: the job's names, target and headers, and for a dead letter the
// payload and the attempts. records caches the jobs of the batch, because a herd of notices mostly concerns few jobs.
func (e *Engine) describe(a *job.Announcement, records map[job.ID]*job.Record) error {
	rec := records[a.Run.Job]
	if rec == nil {
		var err error
		if rec, err = e.readDescribed(a.Run.Job); err != nil {
			return err
		}
		records[a.Run.Job] = rec
	}
	if rec.Def.Name != "" {
		a.Tenant, a.Name, a.Target = rec.Def.Tenant, rec.Def.Name, rec.Def.Target
		a.Headers, a.SecretHeaders = rec.Def.Headers, rec.Def.SecretHeaders
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
		a.Payload, a.PayloadJSON, err = pad.ReadPayload(e.opts.Store, a.Run)
	}
	if errors.Is(err, pad.ErrNoPayload) {
		return nil // the run was retried meanwhile, and is over again
	}
	return err
}
