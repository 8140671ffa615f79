package core

import (
	"maps"
	"slices"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Missed ticks that a job's policy still fires are handled in two stages, so that a million jobs with missed ticks do
// not overload their targets, and none of them loses its next tick while it waits. The first stage is immediate: it
// records what is skipped, moves the cursor on, and writes down the debt. The job is then armed for its next tick
// like any other. The second stage fires the debt, at the engine's pace, tenants in turn. In between, the debt is a
// row in the store and an entry here.
//
// A debt lists its ticks one by one. They are owed by the schedule of the time at which they were missed, whatever
// happens to the schedule or to its calendars later.

// debts are the missed ticks that are still to be fired, by job.
type debts struct {
	byJob map[job.ID]*debt
	queue fair.Queue[tenantNo, job.ID] // an entry is void if the job has no debt any more
	ticks int                          // owed in all
	// stuck counts the tenants that the last step passed over, because they have used up their share or have all live runs
	// of their quota. It ends the search for one that may pay, and delays the next one.
	stuck int
}

// debt is the missed ticks of one job, oldest first.
type debt struct {
	seat  seat
	ticks []job.Debt
	// count is the number of ticks; the entries of ticks are ranges with a common distance.
	count uint32
}

func newDebts() debts {
	return debts{byJob: make(map[job.ID]*debt), queue: fair.NewQueue[tenantNo, job.ID](decideQuantum)}
}

func (d *debts) has(id job.ID) bool { return d.byJob[id] != nil }

// owes reports whether a job owes the tick at an instant.
func (d *debts) owes(id job.ID, at instant.Millis) bool {
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

// owe adds a range of ticks to the debt of a job, one by one, because the schedule may change later. If the debt
// becomes larger than the policy allows, its oldest ticks are skipped.
func (c *Core) owe(s seat, r *hotRow, p *profileEntry, owed job.Debt, n uint32) {
	d := c.debts.byJob[r.id]
	if d == nil {
		d = &debt{seat: s}
		c.debts.byJob[r.id] = d
		c.debts.queue.Push(c.tenants.ofJob(r), r.id)
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

// skipOldest skips the n oldest ticks of a debt, or as many of them as are consecutive.
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

// addTicks changes how many ticks a job owes, and with it the sum over all jobs, which the status shows.
func (c *Core) addTicks(d *debt, n int) {
	d.count = uint32(int(d.count) + n)
	c.debts.ticks += n
}

// popTick removes and returns the oldest tick of a debt. The debt must not be empty.
func (c *Core) popTick(d *debt) instant.Millis {
	at := d.ticks[0].From
	if rest, some := d.ticks[0].Rest(); some {
		d.ticks[0] = rest
	} else if d.ticks = slices.Delete(d.ticks, 0, 1); len(d.ticks) > 0 {
		d.ticks[0].Joined = false
	}
	c.addTicks(d, -1)
	return at
}

// payDebts fires owed ticks as far as the pace allows. Tenants take turns, and so do the jobs of a tenant: a job with
// a thousand missed ticks pays a few, and goes to the end. A tenant that may not pay passes its turn on, so that it does
// not delay the others.
func (c *Core) payDebts() {
	c.debts.stuck = 0
	for c.pace.may(c.now) && c.fits() && !c.debts.areStuck() {
		id, _ := c.debts.queue.Pop()
		d := c.debts.byJob[id]
		switch {
		case d == nil:
		case c.mayGoLive(c.tenantOf(c.rows.row(d.seat))):
			c.debts.stuck = 0
			c.pay(id, d)
		default:
			no := c.tenants.ofJob(c.rows.row(d.seat))
			c.debts.stuck++
			c.debts.queue.Push(no, id)
			c.debts.queue.Pass(no)
		}
	}
}

// areStuck reports whether a search has met no tenant that may pay.
func (d *debts) areStuck() bool { return d.stuck >= min(d.queue.Parties(), stuckDebtsMax) }

// pay fires a few of the ticks that a job owes. The rest returns to the end of its tenant's line. The row of the debt
// and the runs are in one unit, so a crash fires no owed tick twice and forgets none.
func (c *Core) pay(id job.ID, d *debt) {
	r := c.rows.row(d.seat)
	c.unit(c.debtBytes(id) + decideQuantum*RunBytes + timerBytes)
	for n := 0; d.count > 0 && n < decideQuantum && c.pace.may(c.now) && c.fits() && c.mayGoLive(c.tenantOf(r)); n++ {
		at := c.popTick(d)
		c.fire(d.seat, r, at, at, pad.ModeWait)
		c.notePaid(job.RunID{Job: r.id, At: at})
		c.pace.spend()
	}
	c.writeTimer(r)
	if d.count == 0 {
		c.dropDebt(id)
		return
	}
	c.out.Batch.PutDebt(id, d.ticks)
	c.debts.queue.Push(c.tenants.ofJob(r), id)
}

// dropDebt deletes the debt of a job, in memory and in the store.
func (c *Core) dropDebt(id job.ID) {
	if !c.debts.has(id) {
		return
	}
	c.forgetDebt(id)
	c.out.Batch.DeleteJobRow(job.KindDebt, id)
}

// skipDebt records the ticks that a job owes as skipped. None of the ranges that it records contains the instant
// spare, which the job must not owe; 0 means no such instant.
func (c *Core) skipDebt(r *hotRow, reason job.Reason, spare instant.Millis) {
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

// goOn continues a job that was complete by max_runs, if the limit is no longer reached because its debt was skipped.
func (c *Core) goOn(r *hotRow) {
	p := c.profiles.get(r.profile)
	if !r.flags.Is(job.FlagCompleted) || p.fault() != nil || p.MaxRuns == 0 || r.runs >= p.MaxRuns {
		return
	}
	next, ok := p.following(r.cursor - 1)
	switch {
	case ok:
		r.flags &^= job.FlagCompleted
		r.cursor = next
	case p.gaveUp:
		r.flags &^= job.FlagCompleted
		c.stall(r, p, r.cursor-1)
	}
}

// takeDebt adds a debt from its stored row. The rows of timers come before it. The debt is not queued until the core
// leads.
func (c *Core) takeDebt(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	list, err := job.DecodeDebt(value)
	s := c.seatOf(id)
	if err != nil || s == 0 {
		return err
	}
	d := c.debts.byJob[id]
	if d == nil {
		d = &debt{seat: s}
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

// listDebts lists the ticks of a debt that an early release stored as a range and left to the schedule.
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

// forgetDebt removes the debt of a job from memory.
func (c *Core) forgetDebt(id job.ID) {
	if d := c.debts.byJob[id]; d != nil {
		c.addTicks(d, -int(d.count))
		delete(c.debts.byJob, id)
	}
}

// queueDebts queues the jobs with debts, in the order of their ids. Map order must not reach the output: two cores
// that load the same rows must pay in the same order.
func (c *Core) queueDebts() {
	for _, id := range slices.Sorted(maps.Keys(c.debts.byJob)) {
		c.debts.queue.Push(c.tenants.ofJob(c.rows.row(c.debts.byJob[id].seat)), id)
	}
}

// payAt returns when the next debt may be paid; 0 if there is none.
func (c *Core) payAt() instant.Millis {
	if len(c.debts.byJob) == 0 {
		return 0
	}
	if c.debts.stuck > 0 && c.debts.areStuck() {
		return c.now + stuckDebtsPause
	}
	return c.pace.nextAt(c.now)
}
