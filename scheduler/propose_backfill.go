package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// Bounds of a backfill.
const (
	backfillDefault = 1000
	// BackfillMax is the most runs that one backfill starts.
	BackfillMax = 4000
	// backfillChunk is how many runs of a backfill one commit holds: some 80 KiB.
	backfillChunk = 500
	// backfillLook is how many ticks a backfill looks up in the ledger at a time.
	backfillLook = 1000
)

// BackfillRequest asks for a run for each tick of a job in [From, To) that no run has fired.
type BackfillRequest struct {
	Tenant, Job string
	From, To    job.Millis
	Limit       int  // of runs; 0: there must be no more than 1,000
	Repeat      bool // ticks that runs have fired are fired again, under run ids of their own
	DryRun      bool // nothing is changed
}

// BackfillResult is what became of a backfill, or would become.
type BackfillResult struct {
	Runs    int          // that were started
	LeftOut int          // ticks up to the last of them that runs have fired, or are about to
	Times   []job.Millis // of the runs, with DryRun, ascending
}

// Backfill starts a manual run for each tick of a job in a range that has none, the oldest first. A tick
// that was skipped has none; one whose run is too old for the history has none that is known. Many runs take several commits: if it fails
// between them some are started, and asked again it leaves those out, unless it is to repeat.
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
		if errors.Is(err, errStale) {
			continue
		}
		if err == nil && q.DryRun {
			b.result.Runs, b.result.Times = len(b.at), b.at
		}
		return b.result, err
	}
	return b.result, errBusyJob
}

func (e *Engine) checkBackfill(q *BackfillRequest) error {
	if err := e.mustLead(); err != nil {
		return err
	}
	now := job.MillisOf(e.opts.Clock.Now())
	switch {
	case q.From <= 0 || q.To <= q.From:
		return job.Errorf(job.CodeInvalidField, "from", "must be before to")
	case q.To > now:
		return job.Errorf(job.CodeInvalidField, "to", "%s is yet to come (now %s); a backfill covers the past", q.To, now)
	case q.Limit < 0 || q.Limit > BackfillMax:
		return job.Errorf(job.CodeInvalidField, "limit", "must be between 1 and %d", BackfillMax)
	}
	return nil
}

// backfilling is a backfill on its way.
type backfilling struct {
	engine  *Engine
	request BackfillRequest
	rec     job.Record
	timer   job.Timer
	debts   []job.Debt
	at      []job.Millis // ticks to be fired
	result  BackfillResult
}

// prepare reads the job, and finds the ticks that are to be fired. The timer and the debts come first: what is
// decided after that, the core sees.
func (b *backfilling) prepare(ctx context.Context) error {
	e, q := b.engine, &b.request
	v, err := e.Get(ctx, q.Tenant, q.Job)
	if err != nil {
		return err
	}
	var ok bool
	if b.rec, b.timer, ok, err = e.readRows(v.ID); err == nil && !ok {
		err = errUnknownJob(q.Job)
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
	return b.findTicks(s)
}

// findTicks walks over the ticks of the range, some at a time, and leaves out those that runs have fired.
func (b *backfilling) findTicks(s *job.Schedule) error {
	q := &b.request
	most := q.Limit
	if q.Limit == 0 {
		most = backfillDefault
	}
	most -= b.result.Runs
	b.at, b.result.LeftOut = b.at[:0], -b.result.Runs // those it finds too
	look := ledgerLook{backfilling: b, rows: ledgerRowsMax}
	tick, ok := firstAtOrAfter(s, q.From, b.rec.Anchor)
	var chunk []job.Millis
	for ok && tick < q.To {
		chunk = chunk[:0]
		for ; ok && tick < q.To && len(chunk) < backfillLook; tick, ok = s.Next(tick, b.rec.Anchor) {
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
				return job.Errorf(job.CodeInvalidField, "limit", "the range has more than %d ticks to fire; want a limit (at most %d) or a shorter range", most, BackfillMax)
			}
			return nil
		}
	}
	return nil
}

// propose lets the core start the runs, so many in a commit.
func (b *backfilling) propose(ctx context.Context) error {
	for from := 0; from < len(b.at); from += backfillChunk {
		p := b.proposal(from)
		p.Actor = actorOf(ctx)
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

// interrupted says of a refusal how many runs were started before: the first commit has looked whether there is room for
// all, but others may have taken it since.
func (b *backfilling) interrupted(err error) error {
	e, ok := errors.AsType[*job.Error](err)
	if !ok || b.result.Runs == 0 {
		return err
	}
	return &job.Error{Code: e.Code, Field: e.Field, Message: fmt.Sprintf("%s; %d runs of this backfill were started before, and stay: asked again, it leaves them out unless it repeats", e.Message, b.result.Runs)}
}

// proposal is what the core is asked for, from a place of the ticks on. What came before it has counted.
func (b *backfilling) proposal(from int) *Backfill {
	q := &b.request
	end := min(from+backfillChunk, len(b.at))
	return &Backfill{
		Tenant: q.Tenant, Name: q.Job, Hash: b.engine.hasher.hash(q.Tenant, q.Job),
		At: b.at[from:end], Rest: len(b.at) - end, Repeat: q.Repeat,
		ID: b.rec.ID, Version: b.timer.Version, Manual: b.timer.Manual + uint32(from), Cursor: b.timer.Cursor,
	}
}

func firstAtOrAfter(s *job.Schedule, from, anchor job.Millis) (job.Millis, bool) {
	if s.Kind() == job.ScheduleAt {
		return s.At(), s.At() >= from
	}
	return s.Next(from-1, anchor)
}
