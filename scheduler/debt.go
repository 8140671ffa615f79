package scheduler

import (
	"maps"
	"slices"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// What a job missed and its policy still fires is decided in two steps, so that a million jobs that were
// due in an outage do not stampede their targets, and none of them loses its next tick to the wait. The
// first step, taken at once, records what is skipped, moves the cursor on, and writes down what is
// owed: the job is armed for its next tick like any other. The second step fires what is owed, at the
// engine's pace, tenants by turns. In between, the debt is a row in the store and an entry here.

// debts are what jobs have missed and are still to fire.
type debts struct {
	byJob map[job.ID]*debt
	queue fair.Queue[tenantHash, job.ID] // void where the job has no debt any more
	ticks int                            // that are owed in all
	stuck int                            // jobs that the last step passed over, because their tenants have their share
}

// debt is what one job owes, oldest first.
type debt struct {
	slot   slot
	ranges []job.Debt
	ticks  uint32
	rough  bool // ticks is an estimate, as long as nothing depends on it
}

func newDebts() debts {
	return debts{byJob: make(map[job.ID]*debt), queue: fair.NewQueue[tenantHash, job.ID](decideQuantum)}
}

func (d *debts) has(id job.ID) bool { return d.byJob[id] != nil }

// owe adds a range of ticks to what a job owes. Together with what it owes already there may be no more
// than the policy fires: the oldest are skipped.
func (c *Core) owe(s slot, r *hotRow, p *profileEntry, owed job.Debt, n uint32) {
	d := c.debts.byJob[r.id]
	if d == nil {
		d = &debt{slot: s}
		c.debts.byJob[r.id] = d
		c.debts.queue.Push(r.tenant, r.id)
	}
	c.countDebt(p, d)
	d.ranges = append(d.ranges, owed)
	c.addTicks(d, int(n))
	most := uint32(1)
	if p.Missed == job.MissedBackfill {
		most = p.MaxCatchupRuns
	}
	for d.ticks > most {
		c.skipOldest(r, p, d, d.ticks-most)
	}
	c.out.Batch.PutDebt(r.id, d.ranges)
}

// skipOldest skips the n oldest ticks that a job owes, or those of them that lie in its first range.
func (c *Core) skipOldest(r *hotRow, p *profileEntry, d *debt, n uint32) {
	first, ranges := d.ranges[0].From, len(d.ranges)
	last := first
	for ; n > 0 && len(d.ranges) == ranges; n-- {
		last = c.popTick(p, d)
		r.runs--
	}
	c.skip(r, first, last, job.ReasonMissed)
}

func (c *Core) addTicks(d *debt, n int) {
	d.ticks = uint32(int(d.ticks) + n)
	c.debts.ticks += n
}

// popTick takes the oldest tick out of a debt.
func (c *Core) popTick(p *profileEntry, d *debt) job.Millis {
	first := &d.ranges[0]
	at := first.From
	if at == first.Last {
		d.ranges = slices.Delete(d.ranges, 0, 1)
	} else {
		first.From, _ = p.following(at)
	}
	switch {
	case len(d.ranges) == 0:
		c.addTicks(d, -int(d.ticks))
	case d.ticks > 1 || !d.rough:
		c.addTicks(d, -1)
	}
	return at
}

// payDebts fires owed ticks as far as the pace allows.
func (c *Core) payDebts() {
	c.debts.stuck = 0
	for c.pace.may(c.now) && c.fits() && c.debts.stuck < min(c.debts.queue.Len(), stuckDebtsMax) {
		id, _ := c.debts.queue.Pop()
		d := c.debts.byJob[id]
		switch {
		case d == nil:
		case c.mayGoLive(c.rows.row(d.slot).tenant):
			c.debts.stuck = 0
			c.pay(id, d)
		default:
			c.debts.stuck++
			c.debts.queue.Push(c.rows.row(d.slot).tenant, id)
		}
	}
}

// pay fires a few of the ticks that a job owes. What is left goes to the end of its tenant's line.
func (c *Core) pay(id job.ID, d *debt) {
	r := c.rows.row(d.slot)
	p := c.profiles.get(r.profile)
	c.unit(c.debtBytes(id) + decideQuantum*runBytes + timerBytes)
	for n := 0; len(d.ranges) > 0 && n < decideQuantum && c.pace.may(c.now) && c.fits() && c.mayGoLive(r.tenant); n++ {
		at := c.popTick(p, d)
		c.fire(d.slot, r, at, at, ModeWait)
		c.pace.spend()
	}
	c.writeTimer(r)
	if len(d.ranges) == 0 {
		c.dropDebt(id)
		return
	}
	c.out.Batch.PutDebt(id, d.ranges)
	c.debts.queue.Push(r.tenant, id)
}

// dropDebt forgets what a job owes.
func (c *Core) dropDebt(id job.ID) {
	if !c.debts.has(id) {
		return
	}
	c.forgetDebt(id)
	c.out.Batch.DeleteJobRow(job.KindDebt, id)
}

// skipDebt records that what a job owes does not run.
func (c *Core) skipDebt(r *hotRow, reason job.Reason) {
	d := c.debts.byJob[r.id]
	if d == nil {
		return
	}
	c.countDebt(c.profiles.get(r.profile), d)
	r.runs -= min(r.runs, d.ticks)
	for _, owed := range d.ranges {
		c.skip(r, owed.From, owed.Last, reason)
	}
	c.dropDebt(r.id)
}

// takeDebt takes a debt in, as the store has it; it does not queue up before the core leads. The timers
// are there before it.
func (c *Core) takeDebt(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	ranges, err := job.DecodeDebt(value)
	s := c.slotOf(id)
	if err != nil || s == 0 {
		return err
	}
	p := c.profiles.get(c.rows.row(s).profile)
	d := c.debts.byJob[id]
	if d == nil {
		d = &debt{slot: s}
		c.debts.byJob[id] = d
	}
	if !c.popTo(p, d, ranges) {
		c.addTicks(d, roughTicks(p, ranges)-int(d.ticks))
		d.ranges, d.rough = ranges, true
	}
	return nil
}

// popTo pays a debt off up to where its ranges are the given ones, if that is a few ticks away: a leader
// pays in small pieces, and to count the rest each time would take long. It returns false if the ranges
// do not come of it; the debt is void then.
func (c *Core) popTo(p *profileEntry, d *debt, ranges []job.Debt) bool {
	for range decideQuantum + 1 {
		if slices.Equal(d.ranges, ranges) {
			return true
		}
		if len(d.ranges) == 0 {
			return false
		}
		c.popTick(p, d)
	}
	return false
}

// countDebt counts what a job owes, if that is only estimated. A step does it, for a job that it changes: to
// count all debts at a start would take as long as evaluating each tick of an outage.
func (c *Core) countDebt(p *profileEntry, d *debt) {
	if d.rough {
		d.rough = false
		c.addTicks(d, countTicks(p, d.ranges)-int(d.ticks))
	}
}

// roughTicks estimates how many ticks are owed in some ranges, from the distance of the first two of each.
func roughTicks(p *profileEntry, ranges []job.Debt) (n int) {
	for _, owed := range ranges {
		n++
		if next, ok := p.following(owed.From); ok && next <= owed.Last {
			n += min(int((owed.Last-owed.From)/(next-owed.From)), job.CatchupRunsMax)
		}
	}
	return n
}

// countTicks returns how many ticks are owed in some ranges.
func countTicks(p *profileEntry, ranges []job.Debt) (n int) {
	for _, owed := range ranges {
		for at, ok := owed.From, true; ok && at <= owed.Last && n < job.CatchupRunsMax; at, ok = p.following(at) {
			n++
		}
	}
	return n
}

// forgetDebt drops what a job owes from memory.
func (c *Core) forgetDebt(id job.ID) {
	if d := c.debts.byJob[id]; d != nil {
		c.addTicks(d, -int(d.ticks))
		delete(c.debts.byJob, id)
	}
}

// queueDebts lets those that owe queue up, in the order of ids.
func (c *Core) queueDebts() {
	for _, id := range slices.Sorted(maps.Keys(c.debts.byJob)) {
		c.debts.queue.Push(c.rows.row(c.debts.byJob[id].slot).tenant, id)
	}
}

// payAt returns when the next debt may be paid; 0 if there is none.
func (c *Core) payAt() job.Millis {
	if len(c.debts.byJob) == 0 {
		return 0
	}
	if c.debts.stuck > 0 {
		return c.now + stuckDebtsPause
	}
	return c.pace.nextAt(c.now)
}
