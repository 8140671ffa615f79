package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/job"
)

// Put registers a job or updates the one of the same name. IfVersion nil is any version, 0 demands
// that there is no such job. When Put returns without error the job is durable.
func (e *Engine) Put(ctx context.Context, def *job.Definition, ifVersion *uint32) (JobView, bool, error) {
	p, err := e.newPut(def)
	if err != nil {
		return JobView{}, false, err
	}
	p.IfVersion = ifVersion
	if err := e.settleFresh(ctx, p, &p.settled, func() error { return e.readPrior(p) }); err != nil {
		return JobView{}, false, err
	}
	v := JobView{Record: p.Record, Status: p.Timer.Flags.JobStatus(), NextRunAt: p.NextRun}
	v.Def = *def
	if err := e.addLastRun(&v, p.Timer); err != nil {
		return JobView{}, false, err
	}
	return v, p.Created, nil
}

// newPut prepares a proposal, believing that the name is free.
func (e *Engine) newPut(def *job.Definition) (*Put, error) {
	s, err := job.ParseSchedule(def.Spec())
	if err != nil {
		return nil, err
	}
	return &Put{
		Tenant: def.Tenant, Name: def.Name, Hash: e.hasher.hash(def.Tenant, def.Name),
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s, Paused: def.Paused,
	}, nil
}

// readPrior prepares a proposal again, from the rows of the job that has its name.
func (e *Engine) readPrior(p *Put) error {
	p.Prior = nil
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return err
	}
	rec, timer, ok, err := e.readRows(id)
	if err != nil || !ok {
		return err
	}
	p.Prior = &Prior{ID: id, Version: timer.Version, CreatedAt: rec.CreatedAt, Anchor: rec.Anchor}
	if p.Schedule.Kind() == job.ScheduleAt {
		_, p.Prior.Decided, err = e.readRun(job.RunID{Job: id, At: p.Schedule.At()})
	}
	return err
}

// putsInFlight is how many puts of one bulk registration are with the loop at a time.
const putsInFlight = 2048

// PutMany registers many jobs, each by itself: one that is refused touches no other. When it returns,
// the accepted ones are durable. Results are in the order of items.
func (e *Engine) PutMany(ctx context.Context, items []PutItem) []PutResult {
	results := make([]PutResult, len(items))
	for from := 0; from < len(items); from += putsInFlight {
		to := min(from+putsInFlight, len(items))
		e.putChunk(ctx, items[from:to], results[from:to])
	}
	return results
}

// putChunk proposes a chunk at once, so that it takes few commits, and then again those that turned
// out to be updates, prepared from the rows that the store has. A name that comes twice takes a round
// for each time.
func (e *Engine) putChunk(ctx context.Context, items []PutItem, results []PutResult) {
	puts := make([]*Put, len(items))
	for i, item := range items {
		puts[i], results[i].Err = e.preparePut(item)
	}
	for range attemptsMax {
		if !e.putRound(ctx, puts, results) {
			return
		}
	}
	for i, p := range puts {
		if p != nil {
			results[i].Err = errBusyJob
		}
	}
}

// putRound proposes the puts that have no result yet, and tells whether some are to be tried again.
func (e *Engine) putRound(ctx context.Context, puts []*Put, results []PutResult) (again bool) {
	tickets := make([]*ticket, len(puts))
	for i, p := range puts {
		if p == nil {
			continue
		}
		p.Err = nil
		if tickets[i], results[i].Err = e.enqueue(ctx, p); tickets[i] == nil {
			puts[i] = nil
		}
	}
	for i, t := range tickets {
		if t == nil {
			continue
		}
		p, err := puts[i], e.await(ctx, t)
		if err != nil { // the loop may still have it: nothing of it is ours to read
			results[i].Err, puts[i] = err, nil
			continue
		}
		if err = p.Err; errors.Is(err, errStale) {
			if err = e.readPrior(p); err == nil {
				again = true
				continue
			}
		}
		results[i] = PutResult{ID: p.Record.ID, Version: p.Record.Version, NextRunAt: p.NextRun, Err: err}
		puts[i] = nil
	}
	return again
}

func (e *Engine) preparePut(item PutItem) (*Put, error) {
	if item.Err != nil {
		return nil, item.Err
	}
	return e.newPut(item.Def)
}
