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
// engine's pace, tenants by turns. In between, the debt is a row in the store and an entry here. It lists its
// ticks: what is owed is owed by the schedule of then, whatever becomes of the schedule, or of its calendars.

// debts are what jobs have missed and are still to fire.
type debts struct {
	byJob map[job.ID]*debt
	queue fair.Queue[tenantHash, job.ID] // void where the job has no debt any more
	ticks int                            // that are owed in all
	stuck int                            // jobs that the last step passed over, because their tenants have their share
}

// debt is what one job owes, oldest first.
type debt struct {
	slot  slot
	ticks []job.Debt
	count uint32 // of all ticks
}

func newDebts() debts {
	return debts{byJob: make(map[job.ID]*debt), queue: fair.NewQueue[tenantHash, job.ID](decideQuantum)}
}

func (d *debts) has(id job.ID) bool { return d.byJob[id] != nil }

// owes tells whether a job owes a tick.
func (d *debts) owes(id job.ID, at job.Millis) bool {
	o := d.byJob[id]
	return o != nil && slices.ContainsFunc(o.ticks, func(t job.Debt) bool { return t.Has(at) })
}

// of returns how many ticks a job owes.
func (d *debts) of(id job.ID) uint32 {
	if o := d.byJob[id]; o != nil {
		return o.count
	}
	return 0
}

// owe adds a range of ticks to what a job owes, one by one: what the schedule says later does not matter
// any more. Together with what it owes already there may be no more than the policy fires: the oldest are
// skipped.
func (c *Core) owe(s slot, r *hotRow, p *profileEntry, owed job.Debt, n uint32) {
	d := c.debts.byJob[r.id]
	if d == nil {
		d = &debt{slot: s}
		c.debts.byJob[r.id] = d
		c.debts.queue.Push(r.tenant, r.id)
	}
	at, ok := owed.From, true
	for i := range n {
		if !ok {
			break
		}
		d.ticks = job.AddDebt(d.ticks, at, i > 0)
		c.addTicks(d, 1)
		at, ok = p.following(at)
	}
	r.noteTick(owed.Last)
	most := uint32(1)
	if p.Missed == job.MissedBackfill {
		most = p.MaxCatchupRuns
	}
	for d.count > most {
		c.skipOldest(r, d, d.count-most)
	}
	c.out.Batch.PutDebt(r.id, d.ticks)
}

// skipOldest skips the n oldest ticks that a job owes, or those of them that follow on one another.
func (c *Core) skipOldest(r *hotRow, d *debt, n uint32) {
	first := d.ticks[0].From
	last := first
	for goesOn := true; n > 0 && goesOn; n-- {
		_, more := d.ticks[0].Rest()
		goesOn = more || len(d.ticks) > 1 && d.ticks[1].Joined
		last = c.popTick(d)
		r.runs--
	}
	c.skip(r, first, last, job.ReasonMissed)
}

func (c *Core) addTicks(d *debt, n int) {
	d.count = uint32(int(d.count) + n)
	c.debts.ticks += n
}

// popTick takes the oldest tick out of a debt, which must have one.
func (c *Core) popTick(d *debt) job.Millis {
	at := d.ticks[0].From
	if rest, some := d.ticks[0].Rest(); some {
		d.ticks[0] = rest
	} else if d.ticks = slices.Delete(d.ticks, 0, 1); len(d.ticks) > 0 {
		d.ticks[0].Joined = false
	}
	c.addTicks(d, -1)
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
	c.unit(c.debtBytes(id) + decideQuantum*runBytes + timerBytes)
	for n := 0; d.count > 0 && n < decideQuantum && c.pace.may(c.now) && c.fits() && c.mayGoLive(r.tenant); n++ {
		at := c.popTick(d)
		c.fire(d.slot, r, at, at, ModeWait)
		c.notePaid(job.RunID{Job: r.id, At: at})
		c.pace.spend()
	}
	c.writeTimer(r)
	if d.count == 0 {
		c.dropDebt(id)
		return
	}
	c.out.Batch.PutDebt(id, d.ticks)
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

// skipDebt records that what a job owes does not run. No range that it records has the instant spare in it, which
// must not be owed; 0 spares none.
func (c *Core) skipDebt(r *hotRow, reason job.Reason, spare job.Millis) {
	d := c.debts.byJob[r.id]
	if d == nil {
		return
	}
	r.runs -= min(r.runs, d.count)
	first, last := d.ticks[0].From, d.ticks[0].From
	for _, part := range d.ticks {
		for joined, more := part.Joined, true; more; joined = true {
			if at := part.From; !joined && at != first || last < spare && spare < at {
				c.skip(r, first, last, reason)
				first = at
			}
			last = part.From
			part, more = part.Rest()
		}
	}
	c.skip(r, first, last, reason)
	c.dropDebt(r.id)
}

// goOn lets a job go on that was complete, and has not had its max_runs any more because it does not owe them.
func (c *Core) goOn(r *hotRow) {
	p := c.profiles.get(r.profile)
	if !r.flags.Is(job.FlagCompleted) || p.err != nil || p.MaxRuns == 0 || r.runs >= p.MaxRuns {
		return
	}
	if next, ok := p.following(r.cursor - 1); ok {
		r.flags &^= job.FlagCompleted
		r.cursor = next
	}
}

// takeDebt takes a debt in, as the store has it; it does not queue up before the core leads. The timers
// are there before it.
func (c *Core) takeDebt(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	list, err := job.DecodeDebt(value)
	s := c.slotOf(id)
	if err != nil || s == 0 {
		return err
	}
	d := c.debts.byJob[id]
	if d == nil {
		d = &debt{slot: s}
		c.debts.byJob[id] = d
	}
	d.ticks = listDebts(c.profiles.get(c.rows.row(s).profile), list)
	n := 0
	for _, t := range d.ticks {
		n += t.Ticks()
	}
	c.addTicks(d, n-int(d.count))
	return nil
}

// listDebts lists the ticks of a row as the first releases wrote it, which leaves them to the schedule.
func listDebts(p *profileEntry, list []job.Debt) []job.Debt {
	if !slices.ContainsFunc(list, job.Debt.IsBySchedule) {
		return list
	}
	var ticks []job.Debt
	n := 0
	for _, d := range list {
		for at, ok := d.From, true; ok && at <= d.Last && n < job.CatchupRunsMax; at, ok = p.following(at) {
			ticks = job.AddDebt(ticks, at, at != d.From)
			n++
		}
	}
	return ticks
}

// forgetDebt drops what a job owes from memory.
func (c *Core) forgetDebt(id job.ID) {
	if d := c.debts.byJob[id]; d != nil {
		c.addTicks(d, -int(d.count))
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
