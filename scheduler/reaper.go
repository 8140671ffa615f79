package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// reapRest is the pause after a batch of deletions, as a multiple of the batch's duration. The reaper thus uses at
// most half of one core, and less when the engine is busy, because its batches then take longer.
const reapRest = 1

// reapRestMin is the shortest pause between two batches.
const reapRestMin = 5 * time.Millisecond

// reapAll deletes completed jobs whose retention is over, batch by batch, until ctx ends. It pauses between batches
// because nothing waits for a deletion, and callers wait for commits.
func (e *Engine) reapAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-e.housekeeping.reaps:
			began := time.Now()
			t, err := e.proposeReaps(ctx, e.housekeeping.moreReaps(first))
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

// sleep returns after d or when ctx ends, whichever is first.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// moreReaps returns first and all further jobs that have been handed over, as one batch.
func (c *housekeeping) moreReaps(first core.Reap) []core.Reap {
	list := []core.Reap{first}
	for len(list) < core.ReapBatch {
		select {
		case r := <-c.reaps:
			list = append(list, r)
		default:
			return list
		}
	}
	return list
}

// proposeReaps proposes the answers for jobs that were handed over, in one or a few proposals. Every job must be
// answered for, otherwise the core hands over no more. So an error here is final for the reaper: it means that the
// engine stops.
func (e *Engine) proposeReaps(ctx context.Context, list []core.Reap) (*ticket, error) {
	var proposals []core.Proposal
	p, size := new(core.ReapJobs), 0
	for _, r := range list {
		item := e.judge(r)
		if size > 0 && size+item.Bytes() > core.ReapBytesMax {
			proposals = append(proposals, p)
			p, size = new(core.ReapJobs), 0
		}
		p.Items = append(p.Items, item)
		size += item.Bytes()
	}
	t := newTicket(append(proposals, p)...)
	return t, e.enqueue(ctx, t)
}

// judge decides whether a job may be deleted. A job whose rows cannot be read is checked again later. It reads without
// any lock. What changes afterwards, the core notices by the version, or by the mark of the row.
func (e *Engine) judge(r core.Reap) core.ReapItem {
	item := core.ReapItem{Reap: r}
	rec, timer, ok, err := e.readRows(r.ID)
	if err == nil && !ok {
		item.Gone = true
		return item
	}
	now := instant.Of(e.opts.Clock.Now())
	live, over := false, instant.Millis(0)
	if err == nil {
		item.Tenant, item.Name = rec.Def.Tenant, rec.Def.Name
		item.Hash, item.Before = e.hasher.hash(item.Tenant, item.Name), job.AuditDefinition(&rec.Def)
		item.Size, item.Labels = job.DefinitionBytes(&rec.Def), job.LabelHashes(&rec.Def)
		live, err = e.hasLive(r.ID)
	}
	if err == nil && !live {
		over, err = e.overSince(&rec, timer, r.Led)
	}
	if err == nil && !live && over.Add(r.Keep) <= now {
		item.Record, err = e.recordToKeep(r.ID)
	}
	switch {
	case err != nil:
		e.warn("a completed job cannot be read", r.ID, err)
		item.Until = now.Add(core.ReapAgain)
	case live:
		item.Until = now.Add(core.ReapAgain)
	case over.Add(r.Keep) > now:
		item.Until = over.Add(r.Keep)
	}
	return item
}

// overSince returns since when a completed job has been unchanged: the latest of its last change, including pauses
// and resumes, and the ends of its last runs. If the end of its last tick is unknown, or a change of its schedule took that tick
// away, the time counts from the beginning of this leadership, or from the day on which the history of its last tick was pruned,
// whichever came first: the runs ended before both.
func (e *Engine) overSince(rec *job.Record, timer job.Timer, led instant.Millis) (instant.Millis, error) {
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
			since, known = max(since, run.FinishedAt), known || !id.IsManual() && id.At >= timer.Cursor-1
		}
	}
	if !known {
		day := max(timer.Cursor, timer.Last) / dayMillis
		since = max(since, min(led, (day+instant.Millis(e.opts.Settings.HistoryDays)+1)*dayMillis))
	}
	return since, nil
}
