package core

import (
	"cmp"
	"maps"
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Inspection is a copy of what a core holds, for tests and simulations that compare cores with each other, with a store
// or with a model.
type Inspection struct {
	Settings  Settings
	NextID    job.ID
	SlotsFrom job.ID // the first id that may carry a slot; 0: none does yet
	PrunedDay uint32 // buckets of the history before it are deleted
	Notices   int    // in the outbox
	Away      int    // jobs that came back with ticks of the past which are not decided yet
	Moving    bool   // some jobs do not follow their changed schedules yet

	StepBytes  int // of the last batch of the last step
	StepSealed int // batches of the last step before that

	Jobs    map[job.ID]InspectedJob
	Live    map[job.RunID]InspectedRun
	Streaks map[job.ID]uint32
	Debts   map[job.ID][]job.Debt // missed ticks that are still to be fired
}

// InspectedJob is what a core holds of a job.
type InspectedJob struct {
	Timer   job.Timer
	Tenant  string
	Profile job.Profile
}

// InspectedRun is what a core holds of a live run, as far as it is the same whether the run was loaded or followed.
type InspectedRun struct {
	Attempt  uint32
	Due      instant.Millis // of the first attempt; 0 for further ones
	Deadline instant.Millis // of its worker's report; 0: none is awaited
	Payload  bool
}

// Inspect returns a copy of what the core holds. Its cost grows with everything that the core holds.
func (c *Core) Inspect() *Inspection {
	i := &Inspection{
		Settings: c.settings, NextID: c.numbers.next, SlotsFrom: c.numbers.slotsFrom, PrunedDay: c.prunedDay, Notices: c.outbox,
		Away: len(c.presence.away), Moving: c.profiles.moved != nil,
		StepBytes: c.out.Batch.Size(), StepSealed: len(c.out.Sealed),
		Jobs: make(map[job.ID]InspectedJob), Live: make(map[job.RunID]InspectedRun),
		Streaks: maps.Clone(c.streaks), Debts: make(map[job.ID][]job.Debt),
	}
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			i.Jobs[r.id] = InspectedJob{Timer: r.timerRow(), Tenant: c.tenantOf(r).name, Profile: c.profiles.get(r.profile).Profile}
		}
	}
	for id, l := range c.live {
		r := InspectedRun{Attempt: l.attempt, Payload: l.payload}
		if l.attempt == 1 {
			r.Due = l.due
		}
		if l.watch != 0 {
			r.Deadline = c.watches.list[l.watch].deadline
		}
		i.Live[id] = r
	}
	for id, d := range c.debts.byJob {
		i.Debts[id] = slices.Clone(d.ticks)
	}
	return i
}

// Limits are bounds of a core that tests and simulations lower, so that few jobs reach them. 0 leaves a bound as it
// is. No product code sets them.
type Limits struct {
	Decisions   int // ticks that a step decides
	CommitBytes int
	Manual      int // as Settings.ManualMax
	CountRows   int // definitions that are counted between two steps
	IndexRows   int // definitions that are read for the index between two steps
}

// Limit lowers bounds of the core. It must be called between two steps.
func (c *Core) Limit(l Limits) {
	c.decisionsMax = cmp.Or(l.Decisions, c.decisionsMax)
	c.commitMax = cmp.Or(l.CommitBytes, c.commitMax)
	c.tenants.count.rowsMax = cmp.Or(l.CountRows, c.tenants.count.rowsMax)
	c.index.rowsMax = cmp.Or(l.IndexRows, c.index.rowsMax)
	c.settings.ManualMax = cmp.Or(l.Manual, c.settings.ManualMax)
}
