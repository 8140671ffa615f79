package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Bounds of a backfill.
const (
	backfillDefault = 1000
	// BackfillMax is the largest number of runs that one backfill starts.
	BackfillMax = 4000
	// backfillChunk is how many runs of a backfill one commit holds: about 80 KiB.
	backfillChunk = 500
	// backfillLookups is how many ticks a backfill looks up in the ledger at a time.
	backfillLookups = 1000
)

// BackfillRequest asks for a run for each tick of a job in [From, To) that no run has fired.
type BackfillRequest struct {
	Tenant, Job string
	From, To    instant.Millis
	Limit       int  // of runs; 0: an error if there are more than 1,000
	Repeat      bool // fire also the ticks that runs have fired, under new run ids
	DryRun      bool // change nothing
}

// BackfillResult is the result of a backfill, or with DryRun the expected one.
type BackfillResult struct {
	Runs    int              // runs that were started
	LeftOut int              // ticks up to the last of them that were left out, because runs have fired them or are about to
	Times   []instant.Millis // of the runs, ascending; only with DryRun
}

// Backfill starts a manual run for each tick of a job in a range that has none, oldest first. A skipped tick has
// none. Runs that the history no longer holds are not known, so their ticks count as having none. Many runs take
// several commits. If the backfill fails between commits, some runs are started; the same request again leaves those
// out, unless it has Repeat.
func (e *Engine) Backfill(ctx context.Context, q BackfillRequest) (BackfillResult, error) {
	if err := e.checkBackfill(&q); err != nil {
		return BackfillResult{}, err
	}
	b := backfilling{engine: e, request: q}
	for range attemptsMax {
		err := b.prepare(ctx)
		if err == nil && !q.DryRun {
			err = b.propose(ctx)
		}
		if errors.Is(err, core.ErrStale) {
			continue
		}
		if err == nil && q.DryRun {
			b.result.Runs, b.result.Times = len(b.at), b.at
		}
		return b.result, err
	}
	return b.result, errBusyJob
}

// checkBackfill refuses a request that could never succeed, before any row is read. Only the past can be filled: ticks
// to come are fired by the schedule.
func (e *Engine) checkBackfill(q *BackfillRequest) error {
	if err := e.mustLead(); err != nil {
		return err
	}
	now := instant.Of(e.opts.Clock.Now())
	switch {
	case q.From <= 0 || q.To <= q.From:
		return apierr.Errorf(apierr.InvalidField, "from", "must be before to")
	case q.To > now:
		return apierr.Errorf(apierr.InvalidField, "to", "%s is yet to come (now %s); a backfill covers the past", q.To, now)
	case q.Limit < 0 || q.Limit > BackfillMax:
		return apierr.Errorf(apierr.InvalidField, "limit", "must be between 1 and %d", BackfillMax)
	}
	return nil
}

// backfilling is a backfill in progress. It is prepared again whenever the core finds it stale. What was started
// before stays, and counts towards the limit.
type backfilling struct {
	engine  *Engine
	request BackfillRequest
	rec     job.Record
	timer   job.Timer
	debts   []job.Debt
	at      []instant.Millis // ticks that are to be fired
	result  BackfillResult
}

// prepare reads the job and finds the ticks to fire. It reads the timer and the debts first, because the core notices
// whatever is decided after that.
func (b *backfilling) prepare(ctx context.Context) error {
	e, q := b.engine, &b.request
	v, err := e.Get(ctx, q.Tenant, q.Job)
	if err != nil {
		return err
	}
	var ok bool
	if b.rec, b.timer, ok, err = e.readRows(v.ID); err == nil && !ok {
		err = core.UnknownJob(q.Job)
	}
	if err == nil {
		b.debts, err = e.readDebts(v.ID)
	}
	if err != nil {
		return err
	}
	s, err := e.parse(&b.rec.Def)
	if err != nil {
		return err
	}
	return b.findTicks(ctx, s)
}

// findTicks goes through the ticks of the range, some at a time, and leaves out those that runs have fired. It ignores
// the cursor: a backfill goes through the present schedule, also for times at which the job had another one.
func (b *backfilling) findTicks(ctx context.Context, s *schedule.Schedule) error {
	q := &b.request
	most := q.Limit
	if q.Limit == 0 {
		most = backfillDefault
	}
	most -= b.result.Runs
	b.at, b.result.LeftOut = b.at[:0], -b.result.Runs // findTicks counts again the runs that were started before
	look := ledgerReader{backfilling: b, rows: ledgerRowsMax}
	x, walk := schedule.SearchFor(ctx, 0), s.Walk(q.From-1, b.rec.Anchor)
	defer x.Done()
	tick, ok := walk.Next(x)
	var chunk []instant.Millis
	for ok && tick < q.To {
		chunk = chunk[:0]
		for ; ok && tick < q.To && len(chunk) < backfillLookups; tick, ok = walk.Next(x) {
			chunk = append(chunk, tick)
		}
		fired, err := look.fired(chunk)
		if err != nil {
			return err
		}
		for _, at := range chunk {
			if !q.Repeat && fired[at] {
				b.result.LeftOut++
				continue
			}
			if len(b.at) < most {
				b.at = append(b.at, at)
				continue
			}
			if q.Limit == 0 {
				return apierr.Errorf(apierr.InvalidField, "limit", "the range has more than %d ticks to fire; want a limit (at most %d) or a shorter range", most, BackfillMax)
			}
			return nil
		}
	}
	return x.Refusal()
}

// propose submits the runs to the core, a chunk in each commit. Each chunk names the number of manual runs that it
// expects, so a chunk after which another caller started a run is stale, and the rest is prepared anew. With Repeat it
// is not checked.
func (b *backfilling) propose(ctx context.Context) error {
	for from := 0; from < len(b.at); from += backfillChunk {
		p := b.proposal(from)
		p.Actor = b.engine.actorOf(ctx)
		if err := b.engine.submit(ctx, p); err != nil {
			return err
		}
		if p.Err != nil {
			return b.interrupted(p.Err)
		}
		b.result.Runs += len(p.At)
	}
	return nil
}

// interrupted adds to a refusal how many runs were started before it. The first commit checked that there was room
// for all, but other callers may have used it since.
func (b *backfilling) interrupted(err error) error {
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok || b.result.Runs == 0 {
		return err
	}
	return &apierr.Error{Code: e.Code, Field: e.Field, Message: fmt.Sprintf("%s; %d runs of this backfill were started before, and stay: asked again, it leaves them out unless it repeats", e.Message, b.result.Runs)}
}

// proposal returns the proposal for the ticks from an index on. Those before it are done.
func (b *backfilling) proposal(from int) *core.Backfill {
	q := &b.request
	end := min(from+backfillChunk, len(b.at))
	return &core.Backfill{
		Tenant: q.Tenant, Name: q.Job, Hash: b.engine.hasher.hash(q.Tenant, q.Job),
		At: b.at[from:end], Rest: len(b.at) - end, Repeat: q.Repeat,
		ID: b.rec.ID, Version: b.timer.Version, Manual: b.timer.Manual + uint32(from), Cursor: b.timer.Cursor,
	}
}
