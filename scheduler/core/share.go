package core

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// Runs that are not over are in memory, so their number is bounded, and tenants share it. A tenant may turn a tick
// into a run while it has fewer than liveShareFactor times as many runs of ticks as there are free places. So a
// single tenant gets four fifths of all, several tenants get equal parts, and there is always room for a tenant with
// few runs. Runs that callers start have a bound of their own: a trigger, a backfill or a retry beyond it is refused,
// and takes no room from ticks.
//
// If a tenant's share is used up, its next tick waits in the tenant's line, in order, until runs end. When the tick
// is decided it counts as on time, because the engine led when it came due. A quota of live runs is another bound, of one
// tenant: see quota.go.

const (
	// liveShareFactor is the largest ratio of a tenant's live runs of ticks to the free places. A larger one lets a
	// single tenant use more, and leaves less to a second one that arrives.
	liveShareFactor = 4
	// manualMaxDefault bounds the live runs of a tenant that callers started.
	manualMaxDefault = 100_000
	// manualPart is the divisor for the live runs of all tenants that callers may start: one half. Of the remainder,
	// a tenant may use as much as it leaves free.
	manualPart = 2
	// stuckDebtsMax is how many tenants that may not pay a step passes over before it gives up.
	stuckDebtsMax = 256
	// stuckDebtsPause is after how many milliseconds debts are checked again if none may be paid and no run ends
	// before.
	stuckDebtsPause = 1_000
)

// goLive counts a run that becomes live in this step.
func (c *Core) goLive(live liveRun) {
	c.tenants.addRun(live, 1)
	c.room--
}

// goOver counts a run that is over.
func (c *Core) goOver(live liveRun) {
	c.tenants.addRun(live, -1)
	c.room++
}

// mayGoLive reports whether a tick of a tenant may become a run now: by its share, and by its quota. A tenant that is gone
// has no ticks, and may.
func (c *Core) mayGoLive(t *tenant) bool { return t == nil || c.hasRoom(t) && !t.hasAllRuns() }

// hasRoom reports whether a tick of a tenant may become a run by its share.
func (c *Core) hasRoom(t *tenant) bool { return t.ticks < liveShareFactor*c.room }

// checkManual refuses n runs that a caller starts, if they exceed the tenant's quota or its share of such runs. A caller
// can be refused, a tick cannot: so the bound of such runs refuses, and the share of ticks only delays.
func (c *Core) checkManual(t *tenant, n int) error {
	if err := c.checkLive(t, n); err != nil {
		return err
	}
	pool := (c.room + len(c.live)) / manualPart
	most := min(c.settings.ManualMax, pool-c.tenants.manual)
	if t.manual+n <= most && n <= c.room {
		return nil
	}
	return apierr.Errorf(apierr.QuotaExceeded, "",
		"the tenant has %d runs that were started by trigger, backfill or retry and are not over, and may have %d now, so %d more are too many; wait until some end, or cancel them",
		t.manual, max(0, min(most, t.manual+c.room)), n)
}

// waitingLines hold the jobs whose ticks wait because their tenants' shares are used up. Invariant: a tenant is in
// tenants exactly while it has a line. Entries of a line may be void.
type waitingLines struct {
	lines   map[tenantNo]*fair.FIFO[backlogEntry]
	tenants fair.FIFO[tenantNo] // with a line, in the order in which they are served
	count   int
}

func newWaitingLines() waitingLines {
	return waitingLines{lines: make(map[tenantNo]*fair.FIFO[backlogEntry])}
}

// mustWait reports whether the tick at the cursor of a job must wait for its tenant's share, or behind earlier ticks
// of the tenant. The latter keeps the order within the tenant, even when a place becomes free in between. If the tenant
// has all live runs of its quota, a one-shot waits; the ticks of other jobs are decided, and skipped, and so they do not
// wait behind one-shots either.
func (c *Core) mustWait(r *hotRow) bool {
	p := c.profiles.get(r.profile)
	if r.flags.Is(job.FlagCompleted) || p.fault() != nil {
		return false
	}
	t := c.tenantOf(r)
	isOneShot := p.isOneShot()
	switch {
	case t.hasAllRuns():
		return isOneShot
	case !c.hasRoom(t):
		return true
	}
	return c.shared.lines[t.no] != nil && (isOneShot || t.quota.LiveRuns == 0)
}

// await puts a job that is off the wheel into its tenant's line.
func (c *Core) await(s seat, r *hotRow) {
	if !r.marks.is(markBacklog) {
		c.ticket = max(1, c.ticket+1)
		r.timer = c.ticket
		r.marks |= markBacklog
		c.backlogged++
	}
	no := c.tenants.ofJob(r)
	line := c.shared.lines[no]
	if line == nil {
		line = new(fair.FIFO[backlogEntry])
		c.shared.lines[no] = line
		c.shared.tenants.Push(no)
	}
	line.Push(backlogEntry{seat: s, ticket: r.timer})
	c.shared.count++
}

// decideAwaiting decides ticks that waited for their tenants' shares, as far as there is room, tenants in turn. It
// returns what is left of the budget.
func (c *Core) decideAwaiting(budget int) int {
	c.dropVoidAwaiting()
	for stuck := 0; stuck < c.shared.tenants.Len() && budget > 0 && c.fits(); {
		t := c.shared.tenants.Pop()
		line := c.shared.lines[t]
		decided := 0
		for ; decided < decideQuantum && line.Len() > 0 && budget > 0 && c.fits() && c.mayGoLive(c.tenants.at(t)); decided++ {
			e := line.Pop()
			c.shared.count--
			if c.isGood(e) {
				r := c.rows.row(e.seat)
				c.delist(r)
				c.decide(e.seat, r)
				c.arm(e.seat, r)
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

// dropVoidAwaiting removes the void entries of the lines when there are many.
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

// mayDecideAwaiting reports whether a step can decide any of the waiting ticks.
func (c *Core) mayDecideAwaiting() bool {
	for t := range c.shared.lines {
		if c.mayGoLive(c.tenants.at(t)) {
			return true
		}
	}
	return false
}
