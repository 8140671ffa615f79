package scheduler

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// The runs that are not over are in memory, so there is a bound to them, and tenants share it. A tenant may
// let a tick become a run while it has fewer than liveShareFactor times as many runs of ticks as there is
// room left. So one tenant alone gets four fifths of all, several get equal parts, and there is always
// room left for one that has little. What a caller starts has a bound of its own, besides: a trigger, a
// backfill or a retry by hand beyond it is refused, and takes no room from ticks.
//
// A tick that finds its tenant at its share waits in a line of the tenant, in order, until runs end. It
// is decided then, and counts as on time: the engine led when it came due.

const (
	// liveShareFactor is how many times the room that is left a tenant may have in runs of ticks.
	liveShareFactor = 4
	// manualMaxDefault is how many runs a tenant may have live that callers started.
	manualMaxDefault = 100_000
	// manualPart is which part of the live runs may be such as callers started, of all tenants: one half. Of
	// what is left of it a tenant may have as much as it leaves.
	manualPart = 2
	// stuckDebtsMax is how many jobs that may not pay a step passes over.
	stuckDebtsMax = 256
	// stuckDebtsPause is when debts are looked at again of which none may be paid, if no run ends before.
	stuckDebtsPause = 1_000
)

// liveShare counts the live runs of a tenant.
type liveShare struct{ ticks, manual int }

// liveShares counts live runs by tenant, and by who started them. Runs of jobs that are gone count too.
type liveShares struct {
	by     map[tenantHash]liveShare
	manual int // of all tenants
}

// add counts a run more, or less.
func (l *liveShares) add(live liveRun, n int) {
	s := l.by[live.tenant]
	if live.byHand {
		s.manual += n
		l.manual += n
	} else {
		s.ticks += n
	}
	if s == (liveShare{}) {
		delete(l.by, live.tenant)
		return
	}
	l.by[live.tenant] = s
}

// goLive counts a run that goes live in this step.
func (c *Core) goLive(live liveRun) {
	c.shares.add(live, 1)
	c.room--
}

// goOver counts a run that is over.
func (c *Core) goOver(live liveRun) {
	c.shares.add(live, -1)
	c.room++
}

// mayGoLive says whether a tick of a tenant may become a run now.
func (c *Core) mayGoLive(t tenantHash) bool { return c.shares.by[t].ticks < liveShareFactor*c.room }

// checkManual refuses runs that a caller starts, if the tenant has its share of those.
func (c *Core) checkManual(t tenantHash, n int) error {
	pool := (c.room + len(c.live)) / manualPart
	have := c.shares.by[t].manual
	most := min(c.settings.ManualMax, pool-c.shares.manual)
	if have+n <= most && n <= c.room {
		return nil
	}
	return job.Errorf(job.CodeQuotaExceeded, "",
		"the tenant has %d runs that were started by trigger, backfill or retry and are not over, and may have %d now, so %d more are too many; wait until some end, or cancel them",
		have, max(0, min(most, have+c.room)), n)
}

// waitingLines are the jobs whose ticks wait because their tenants have their share of live runs.
type waitingLines struct {
	lines   map[tenantHash]*fair.FIFO[backlogEntry]
	tenants fair.FIFO[tenantHash] // that have a line, in the order of their turns
	count   int
}

func newWaitingLines() waitingLines {
	return waitingLines{lines: make(map[tenantHash]*fair.FIFO[backlogEntry])}
}

// mustWait says whether the tick that a job is due for must wait for its tenant's share, or behind others.
func (c *Core) mustWait(r *hotRow) bool {
	if r.flags.Is(job.FlagCompleted) || c.profiles.get(r.profile).err != nil {
		return false
	}
	return c.shared.lines[r.tenant] != nil || !c.mayGoLive(r.tenant)
}

// await lets a job that is off the wheel wait for its tenant's share.
func (c *Core) await(s slot, r *hotRow) {
	if !r.marks.is(markBacklog) {
		c.ticket = max(1, c.ticket+1)
		r.timer = c.ticket
		r.marks |= markBacklog
		c.backlogged++
	}
	line := c.shared.lines[r.tenant]
	if line == nil {
		line = new(fair.FIFO[backlogEntry])
		c.shared.lines[r.tenant] = line
		c.shared.tenants.Push(r.tenant)
	}
	line.Push(backlogEntry{slot: s, ticket: r.timer})
	c.shared.count++
}

// decideAwaiting decides ticks that waited for their tenants' shares, as far as there is room now, and returns
// what is left of the budget. Tenants take turns.
func (c *Core) decideAwaiting(budget int) int {
	c.dropVoidAwaiting()
	for stuck := 0; stuck < c.shared.tenants.Len() && budget > 0 && c.fits(); {
		t := c.shared.tenants.Pop()
		line := c.shared.lines[t]
		decided := 0
		for ; decided < decideQuantum && line.Len() > 0 && budget > 0 && c.fits() && c.mayGoLive(t); decided++ {
			e := line.Pop()
			c.shared.count--
			if c.isGood(e) {
				r := c.rows.row(e.slot)
				c.delist(r)
				c.decide(e.slot, r)
				c.arm(e.slot, r)
				budget--
			}
		}
		if stuck++; decided > 0 {
			stuck = 0
		}
		if line.Len() == 0 {
			delete(c.shared.lines, t)
			continue
		}
		c.shared.tenants.Push(t)
	}
	return budget
}

// dropVoidAwaiting drops the void entries of the lines when they are many.
func (c *Core) dropVoidAwaiting() {
	if c.shared.count <= 2*c.backlogged+backlogVoidMax {
		return
	}
	for _, line := range c.shared.lines {
		for range line.Len() {
			if e := line.Pop(); c.isGood(e) {
				line.Push(e)
			} else {
				c.shared.count--
			}
		}
	}
}

// mayDecideAwaiting says whether a step has something to decide of what waited.
func (c *Core) mayDecideAwaiting() bool {
	for t := range c.shared.lines {
		if c.mayGoLive(t) {
			return true
		}
	}
	return false
}
