package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Reading is what a core says about itself. Counts run since the core was created. The runner publishes it after each
// step, so that readers of the status never touch the core.
type Reading struct {
	Epoch, FenceMin uint64 // FenceMin is the LSN of the commit that began the epoch; 0: the core never led
	Jobs            int    // all
	JobsBy          [JobStates]int
	Armed           int // jobs that wait for a tick, or for the end of their retention
	Live            int // runs without an outcome
	Counts          Counts
	Reporting       int // runs that wait for a worker's report
	Notices         int // in the outbox
	Droppable       int // at most so many deleted jobs have no live run, and definitions that are kept
	Misjudged       int // units that were larger than announced, and moved to the next commit
	CatchUp         CatchUp
	Zones           Zones
	RowsVersion     byte            // newest version of the rows in the store
	Readers         map[string]byte // newest version of rows that each node of the cluster reads, as noted; not to be changed

	Undecided instant.Millis // when the oldest tick that is not decided is due; 0: none
	// ClockShown is the latest instant that the clock is known to have shown. A clock that shows an earlier one was set back, or
	// is behind that of an earlier leader, and jobs whose ticks are decided stand still until it has caught up.
	ClockShown instant.Millis

	Awaited instant.Millis // since when the oldest awaited report is awaited; 0: none
}

// Counts are running totals since the core was created.
type Counts struct {
	Fired, Skipped, Succeeded, Failed, Dead uint64

	Cancelled, Retried, Dismissed, Stale uint64

	SkippedBy   [job.Reasons]uint64 // a skipped range counts once
	RefusedBy   [QuotaKinds]uint64  // proposals beyond a quota
	NoticesLost uint64
}

// Reading returns what the core says about itself. Its cost does not depend on the number of jobs.
func (c *Core) Reading() Reading {
	return Reading{
		Epoch: c.epoch, FenceMin: c.fenceMin,
		Jobs: c.rows.count, JobsBy: c.rows.byState, Armed: c.Armed(), Live: len(c.live), Counts: c.counts,
		Reporting: c.watches.used, Notices: c.outbox, Droppable: c.deleted.line.Len(), Misjudged: c.misjudged, CatchUp: c.catchUpStatus(), Zones: c.zones.reading(),
		RowsVersion: c.rowsVersion, Readers: c.readers,
		Undecided: c.undecided(), ClockShown: c.clockShown(), Awaited: c.watches.awaitedSince(),
	}
}

// Uses returns what the tenants use whose use has changed by the last step, by the last commit that was followed, or by
// Load or Lead. It is valid until the next one.
func (c *Core) Uses() []TenantUse { return c.out.Uses }

// Epoch returns the number of the epoch of the newest leader that the core knows, which may be itself.
func (c *Core) Epoch() uint64 { return c.epoch }

// Live returns the number of runs without an outcome.
func (c *Core) Live() int { return len(c.live) }

// IDOf returns the job with a name; 0 if there is none.
func (c *Core) IDOf(h NameHash) job.ID {
	_, r := c.find(h)
	if r == nil {
		return 0
	}
	return r.id
}

// IsNewest reports whether a delete has the size of the definition that its job has now, or its job does not exist.
func (c *Core) IsNewest(p *Delete) bool {
	_, r := c.find(p.Hash)
	return r == nil || p.Of.ID == r.id && p.Of.Version == r.version
}

// WasPaced reports whether a live run was fired to catch up, when the pace released it, and not at its own time.
func (c *Core) WasPaced(run job.RunID) bool { return c.live[run].paidAt != 0 }
