package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
)

// reapRest is how many times as long as a batch of deletions took the reaper rests before the next: it takes
// half of one core at most, and less when the engine is busy, because the batches take longer then.
const reapRest = 1

// reapRestMin is the shortest rest between two batches.
const reapRestMin = 5 * time.Millisecond

// reapAll deletes completed jobs whose retention is over, batch by batch, until ctx ends.
func (e *Engine) reapAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-e.chores.reaps:
			began := time.Now()
			t, err := e.proposeReaps(ctx, e.chores.moreReaps(first))
			if err == nil {
				err = e.await(ctx, t)
			}
			if err != nil && ctx.Err() == nil {
				e.warn("completed jobs were not deleted", 0, err)
			}
			sleep(ctx, max(reapRestMin, reapRest*time.Since(began)))
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// moreReaps returns what was handed over so far, in a batch.
func (c *chores) moreReaps(first Reap) []Reap {
	list := []Reap{first}
	for len(list) < reapBatch {
		select {
		case r := <-c.reaps:
			list = append(list, r)
		default:
			return list
		}
	}
	return list
}

// proposeReaps proposes what is to become of jobs that were handed over, each in one of a few proposals. Every
// one is answered for, or no other would be handed over any more.
func (e *Engine) proposeReaps(ctx context.Context, list []Reap) (*ticket, error) {
	var proposals []Proposal
	p, size := new(ReapJobs), 0
	for _, r := range list {
		item := e.judge(r)
		if size > 0 && size+item.bytes() > reapBytesMax {
			proposals = append(proposals, p)
			p, size = new(ReapJobs), 0
		}
		p.Items = append(p.Items, item)
		size += item.bytes()
	}
	t := newTicket(append(proposals, p)...)
	return t, e.enqueue(ctx, t)
}

// judge finds out whether a job may be deleted. One that cannot be read is looked at again.
func (e *Engine) judge(r Reap) ReapItem {
	item := ReapItem{Reap: r}
	rec, timer, ok, err := e.readRows(r.ID)
	if err == nil && !ok {
		item.Gone = true
		return item
	}
	now := job.MillisOf(e.opts.Clock.Now())
	live, over := false, job.Millis(0)
	if err == nil {
		item.Tenant, item.Name = rec.Def.Tenant, rec.Def.Name
		item.Hash, item.Before = e.hasher.hash(item.Tenant, item.Name), job.AuditDefinition(&rec.Def)
		live, err = e.hasLive(r.ID)
	}
	if err == nil && !live {
		over, err = e.overSince(&rec, timer, r.Led)
	}
	switch {
	case err != nil:
		e.warn("a completed job cannot be read", r.ID, err)
		item.Until = now.Add(reapAgain)
	case live:
		item.Until = now.Add(reapAgain)
	case over.Add(r.Keep) > now:
		item.Until = over.Add(r.Keep)
	}
	return item
}

// overSince returns since when nothing has happened to a completed job: since its last change, pauses and resumes
// included, and the end of its last runs. If those are not known, the time counts from when this engine began to lead.
func (e *Engine) overSince(rec *job.Record, timer job.Timer, led job.Millis) (job.Millis, error) {
	note, err := e.readNote(rec.ID)
	if err != nil {
		return 0, err
	}
	since, known := max(rec.UpdatedAt, note.At), false
	ids := []job.RunID{{Job: rec.ID, At: timer.Cursor - 1}} // the tick that was decided last
	if last, ok := timer.LastRun(rec.ID); ok {
		ids = append(ids, last)
	}
	for _, id := range ids {
		run, ok, err := e.readRun(id)
		if err != nil {
			return 0, err
		}
		if ok {
			since, known = max(since, run.FinishedAt), known || !id.IsManual()
		}
	}
	pruned := led.Add(-time.Duration(e.opts.Settings.HistoryDays+1) * 24 * time.Hour)
	if !known && max(timer.Cursor, timer.Last) >= pruned {
		since = max(since, led)
	}
	return since, nil
}
