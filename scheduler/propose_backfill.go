package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// Bounds of a backfill.
const (
	backfillDefault = 1000
	// BackfillMax is the most runs that one backfill starts.
	BackfillMax = 4000
)

// Backfill starts a manual run for each tick of a job in [from, to), at most limit of them, the
// oldest first. With limit 0 there must be no more than 1,000.
func (e *Engine) Backfill(ctx context.Context, tenant, name string, from, to job.Millis, limit int) (int, error) {
	if err := e.mustLead(); err != nil {
		return 0, err
	}
	now := job.MillisOf(e.opts.Clock.Now())
	switch {
	case from <= 0 || to <= from:
		return 0, job.Errorf(job.CodeInvalidField, "from", "must be before to")
	case to > now:
		return 0, job.Errorf(job.CodeInvalidField, "to", "%s is yet to come (now %s); a backfill covers the past", to, now)
	case limit < 0 || limit > BackfillMax:
		return 0, job.Errorf(job.CodeInvalidField, "limit", "must be between 1 and %d", BackfillMax)
	}
	v, err := e.Get(ctx, tenant, name)
	if err != nil {
		return 0, err
	}
	s, err := job.ParseScheduleWith(v.Def.Spec(), e.calendarOf)
	if err != nil {
		return 0, err
	}
	p := &Backfill{Tenant: tenant, Name: name, Hash: e.hasher.hash(tenant, name), Actor: actorOf(ctx)}
	if p.At, err = ticksBetween(s, v.Anchor, from, to, limit); err != nil {
		return 0, err
	}
	if err := e.submit(ctx, p); err != nil {
		return 0, err
	}
	return len(p.At), p.Err
}

func ticksBetween(s *job.Schedule, anchor, from, to job.Millis, limit int) ([]job.Millis, error) {
	most := limit
	if most == 0 {
		most = backfillDefault
	}
	var at []job.Millis
	tick, ok := firstAtOrAfter(s, from, anchor)
	for ; ok && tick < to; tick, ok = s.Next(tick, anchor) {
		if len(at) < most {
			at = append(at, tick)
			continue
		}
		if limit == 0 {
			return nil, job.Errorf(job.CodeInvalidField, "limit", "the range has more than %d ticks; want a limit (at most %d) or a shorter range", most, BackfillMax)
		}
		break
	}
	return at, nil
}

func firstAtOrAfter(s *job.Schedule, from, anchor job.Millis) (job.Millis, bool) {
	if s.Kind() == job.ScheduleAt {
		return s.At(), s.At() >= from
	}
	return s.Next(from-1, anchor)
}
