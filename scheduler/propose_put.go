package scheduler

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Put registers a job, or updates the one with the same name. A nil ifVersion means any version; 0 demands that there
// is no such job. When Put returns without error, the job is durable. The first proposal assumes that the name is
// unused, because most registrations are new; if it is not, the proposal is stale and is prepared from the job's rows.
// So a new job is registered without a search for an earlier one.
func (e *Engine) Put(ctx context.Context, def *job.Definition, ifVersion *uint32) (JobView, bool, error) {
	put, err := e.Prepare(ctx, def)
	if err != nil {
		return JobView{}, false, err
	}
	p := put.proposal
	p.IfVersion, p.Actor, p.Origin = ifVersion, e.actorOf(ctx), originOf(ctx)
	if err := e.submitFresh(ctx, p, &p.Handled, func() error { return e.readPrior(p) }); err != nil {
		return JobView{}, false, err
	}
	v := JobView{Record: job.Record{Stamp: p.Stamp, Def: *def}, Status: p.Timer.Flags.JobStatus(), NextRunAt: p.NextRun}
	if p.Masked != nil {
		if v.Def, err = job.DecodeAuditDefinition(p.Definition); err != nil {
			return JobView{}, false, err
		}
	}
	if err := e.addLastRun(&v, p.Timer); err != nil {
		return JobView{}, false, err
	}
	return v, p.Created, nil
}

// Put is a registration that Prepare compiled for PutMany. It may be proposed only once.
type Put struct {
	proposal *core.Put
	steps    int // that the search for its next tick took, and takes again in the step if that cannot use the result
}

// Prepare compiles a definition for PutMany. It settles the schedules in it, and does not keep it. It refuses a schedule
// whose next tick takes too many steps to find, so that the step, which is one for all callers, meets few of them; and it
// gives up with ctx.
func (e *Engine) Prepare(ctx context.Context, def *job.Definition) (*Put, error) {
	p, err := e.prepareBy(def, e.opts.Settings.Zones.Restore)
	if err != nil {
		return nil, err
	}
	if err := p.Schedule.Admit(); err != nil {
		return nil, err
	}
	x := schedule.SearchFor(ctx, 0)
	defer x.Done()
	now := instant.Of(e.opts.Clock.Now())
	if first, ok := p.Schedule.NextIn(x, now, now); ok {
		if p.Schedule.Kind() != schedule.Every {
			p.Found = core.Found{By: p.Schedule, After: now, First: first}
		}
		return &Put{p, x.Steps()}, nil
	}
	err = x.Refusal()
	if err == nil {
		_, err = p.Schedule.Check() // a schedule that never had a tick is told from one that has none left
	}
	return &Put{p, x.Steps()}, err
}

// prepare compiles a definition into a proposal, which may be proposed only once. It compiles the schedule here, in
// the goroutine of the caller, so that the step need not. An "@in" of the definition counts from now, however long the
// proposal takes, and whether it is prepared again.
func (e *Engine) prepare(def *job.Definition) (*core.Put, error) {
	return e.prepareBy(def, e.opts.Settings.Zones.ParseWith)
}

// prepareBy is prepare with a way to compile the schedule.
func (e *Engine) prepareBy(def *job.Definition, compile compiler) (*core.Put, error) {
	most, node := e.rowsMax()
	if version, field := job.RowsVersionOf(def); version > max(most, byte(e.rows.Load())) {
		return nil, apierr.Errorf(apierr.InvalidField, field, "it needs rows of version %d, and node %s of the cluster reads up to %d: upgrade that node first, or leave the field out", version, node, most)
	}
	slot := job.SlotOf(def.Tenant, def.Name)
	if err := e.hasSlot(slot); err != nil {
		return nil, err
	}
	if err := def.Settle(instant.Of(e.opts.Clock.Now())); err != nil {
		return nil, err
	}
	s, err := e.parseBy(def, compile)
	if err != nil {
		return nil, err
	}
	p := &core.Put{
		Tenant: def.Tenant, Name: def.Name, Hash: e.hasher.hash(def.Tenant, def.Name),
		Slot: slot, MaySlot: most >= job.RowsVersionOfSlots,
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s, Paused: def.Paused,
		Labels: job.LabelHashes(def),
	}
	if def.HasMasks() {
		p.Masked = p.Definition
		_, p.IfNew = def.Unmask(nil)
	}
	return p, nil
}

// hasSlot refuses the name of a job that belongs to another shard: there would be two jobs of that name, of which callers
// could reach only one.
func (e *Engine) hasSlot(slot job.Slot) error {
	shards := max(e.opts.Settings.Shards, 1)
	if own := job.ShardOf(slot, shards); own != e.opts.Shard {
		return apierr.Errorf(apierr.InvalidField, "name", "it belongs to shard %d of %d, and this is shard %d; ask any node without the number of a shard", own, shards, e.opts.Shard)
	}
	return nil
}

// rowsMax returns the newest version of rows that every node reads, and a node of the cluster that reads no newer one. A
// node that meets newer rows cannot follow any more, and a cluster could then not be upgraded node by node. Once the
// store has newer rows, a refusal would help no node.
func (e *Engine) rowsMax() (version byte, node string) {
	if e.opts.RowsMax == nil {
		return job.RowsVersion, ""
	}
	return e.opts.RowsMax(*e.readers.Load())
}

// compiler is [schedule.Zones.ParseWith], or Restore of the same.
type compiler = func(schedule.Spec, schedule.CalendarLookup) (*schedule.Schedule, error)

// parse compiles the schedule of a stored definition.
func (e *Engine) parse(def *job.Definition) (*schedule.Schedule, error) {
	return e.parseBy(def, e.opts.Settings.Zones.Restore)
}

// parseBy compiles the schedule of a definition.
func (e *Engine) parseBy(def *job.Definition, compile compiler) (*schedule.Schedule, error) {
	zones := e.opts.Settings.Zones
	spec := def.Spec()
	for _, name := range spec.Zones() {
		zones.Digest(name) // here, so that the step that registers the job need not compute it
	}
	return compile(spec, e.calendarOf)
}

// readPrior prepares a proposal again, from the rows of the job with its name. The LSN is read first, so that
// everything read after it is at least as new. That is the direction in which the core can check: it knows what was
// decided since.
func (e *Engine) readPrior(p *core.Put) error {
	p.Prior = nil
	asOf := e.opts.Store.Applied().LSN
	id, ok, err := e.lookUp(p.Tenant, p.Name)
	if err != nil || !ok {
		return err
	}
	rec, timer, ok, err := e.readRows(id)
	if err != nil || !ok {
		return err
	}
	if err := p.Unmask(&rec.Def); err != nil {
		return err
	}
	p.Prior = &core.Prior{ID: id, Version: timer.Version, CreatedAt: rec.CreatedAt, Anchor: rec.Anchor, Size: job.DefinitionBytes(&rec.Def), Labels: job.LabelHashes(&rec.Def)}
	if p.Prior.Before, p.After, err = job.AuditUpdate(&rec.Def, p.Definition); err != nil {
		return err
	}
	p.Prior.Ledger, err = e.readPriorLedger(id, timer, p.Schedule)
	p.Prior.Ledger.AsOf = asOf
	return err
}

// putsInFlight is how many puts of one bulk registration are with the loop at a time. They are one ticket, and no
// proposal of another caller comes between those of a ticket: the bound limits how long other callers wait for one
// large registration.
const putsInFlight = 2048

// putStepsInFlight bounds the steps of the searches of one such ticket, for the same reason: about ten milliseconds. A
// ticket has at least one put.
const putStepsInFlight = 5 * schedule.StepsMax

// PutMany registers many jobs, each independently: a refused one affects no other. When it returns, the accepted ones
// are durable. Results are in the order of items.
func (e *Engine) PutMany(ctx context.Context, items []PutItem) []PutResult {
	results := make([]PutResult, len(items))
	actor, origin := e.actorOf(ctx), originOf(ctx)
	for _, item := range items {
		if item.Put != nil {
			item.Put.proposal.Actor, item.Put.proposal.Origin = actor, origin
		}
	}
	for from := 0; from < len(items); {
		to := from + chunkOf(items[from:])
		e.putChunk(ctx, items[from:to], results[from:to])
		from = to
	}
	return results
}

// chunkOf returns how many of the items are one ticket. There must be some.
func chunkOf(items []PutItem) (n int) {
	steps := 0
	for n < min(len(items), putsInFlight) {
		if p := items[n].Put; p != nil {
			steps += p.steps
		}
		if n > 0 && steps > putStepsInFlight {
			break
		}
		n++
	}
	return n
}

// putChunk proposes a chunk at once, so that it takes few commits. Puts that turn out to be updates are proposed
// again, prepared from the rows of the store. Puts of the same name take effect in the order of the items; the step
// prepares each from the one before.
func (e *Engine) putChunk(ctx context.Context, items []PutItem, results []PutResult) {
	r := putRound{results: results}
	for i, item := range items {
		if results[i].Err = item.Err; item.Err == nil {
			r.puts, r.proposals, r.places = append(r.puts, item.Put.proposal), append(r.proposals, item.Put.proposal), append(r.places, i)
		}
	}
	r.chain()
	for range attemptsMax {
		if len(r.puts) == 0 {
			return
		}
		e.submitRound(ctx, &r)
	}
	for _, place := range r.places {
		results[place].Err = errBusyJob
	}
}

// putRound holds the puts of a chunk that have no result yet.
type putRound struct {
	puts      []*core.Put
	proposals []core.Proposal // the same puts
	places    []int           // indexes of their results
	results   []PutResult
}

// chain links each put to the one before it with the same name. The later one cannot be prepared from the store, which
// does not have the earlier one yet.
func (r *putRound) chain() {
	last := make(map[core.NameHash]*core.Put, len(r.puts))
	for _, p := range r.puts {
		if e := last[p.Hash]; e != nil {
			p.Earlier = e
		}
		last[p.Hash] = p
	}
}

// submitRound proposes the puts, and keeps those that are to be proposed again.
func (e *Engine) submitRound(ctx context.Context, r *putRound) {
	lost := e.submit(ctx, r.proposals...)
	for _, p := range r.puts {
		p.Again = false
	}
	n := 0
	for i, p := range r.puts {
		result := &r.results[r.places[i]]
		if lost != nil { // the loop may still use them: they must not be read here
			result.Err = lost
			continue
		}
		err := p.Err
		if errors.Is(err, core.ErrStale) {
			if err = e.readPrior(p); err == nil {
				p.Err, p.Again = nil, true
				if p.Earlier != nil && !p.Earlier.Again { // its rows are in the store now
					p.Unchain()
				}
				r.puts[n], r.proposals[n], r.places[n] = p, p, r.places[i]
				n++
				continue
			}
		}
		*result = PutResult{ID: p.Stamp.ID, Version: p.Stamp.Version, NextRunAt: p.NextRun, Err: err}
	}
	r.puts, r.proposals, r.places = r.puts[:n], r.proposals[:n:n], r.places[:n]
}
