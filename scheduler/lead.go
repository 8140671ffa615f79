package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/carillon-io/carillon/job"
)

// lead makes a leader of a core that was loaded, and perhaps followed another leader since. It is called
// after the commit that begins the epoch: that one has the given LSN and began at an instant. All that
// depends on the time is as of then. What it takes follows the live runs, the debts and the streaks;
// it looks at no other job.
//
// It returns the launches of the runs that have no outcome. Those that were with their targets when the
// last leader died are launched again, under the same run id; their fence is at least that of the commit.
//
// The second result are the runs that are with workers who are to report: they have their turns. The
// third are the jobs that were to be paused when the last leader died.
func (c *Core) lead(epoch, lsn uint64, now job.Millis) (launches []Launch, going []job.RunID, overdrawn []AutoPause) {
	c.epoch, c.lsn, c.fenceMin = epoch, lsn, lsn
	c.keepTime(now)
	c.led = now
	c.out.WakeAt = 1 // until its first step it is not at work
	c.onces.since, c.redone.since, c.overAhead.since = lsn, lsn, lsn
	usual := c.pace.usual
	c.pace = newPace(c.settings.CatchupRate, now)
	c.pace.restore(usual)
	c.queueDebts()
	overdrawn = c.overdrawn()
	c.ids = nil
	launches, going = c.relaunchAll()
	return launches, going, overdrawn
}

// overdrawn returns the active jobs that failed too often in a row, in the order of ids.
func (c *Core) overdrawn() (list []AutoPause) {
	for _, id := range slices.Sorted(maps.Keys(c.streaks)) {
		s := c.slotOf(id)
		if s == 0 {
			continue
		}
		if r := c.rows.row(s); r.isActive() && c.isFailing(r) {
			list = append(list, AutoPause{ID: id, Reason: fmt.Sprintf("%d runs in a row failed", c.streaks[id])})
		}
	}
	return list
}

// relaunchAll asks for the launches of the live runs, by due time, and returns those that are with their
// workers and have a turn, in the order of their rows.
func (c *Core) relaunchAll() (launches []Launch, going []job.RunID) {
	for id := range c.live {
		l, live := c.takeOver(id)
		switch {
		case live.watch == 0:
			launches = append(launches, l)
		case live.waits:
			going = append(going, id)
		}
	}
	sort.Slice(launches, func(i, j int) bool { return byDue(launches[i], launches[j]) < 0 })
	sort.Slice(going, func(i, j int) bool { return byRow(going[i], going[j]) < 0 })
	return launches, going
}

// byRow orders runs as their rows are: by job, the newest first.
func byRow(a, b job.RunID) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(b.At, a.At), cmp.Compare(b.Seq, a.Seq))
}

// byDue orders launches by due time. Those of one job that are due at the same time are in the order in
// which they were asked for: the ticks in theirs, and manual runs in that of their numbers.
func byDue(a, b Launch) int {
	return cmp.Or(
		cmp.Compare(a.Due, b.Due), cmp.Compare(a.Run.Job, b.Run.Job), cmp.Compare(a.Run.Seq, b.Run.Seq), cmp.Compare(a.Run.At, b.Run.At),
	)
}

// takeOver makes a live run one of this leader's: under its fence, and under the limit that its job has
// now.
func (c *Core) takeOver(id job.RunID) (Launch, liveRun) {
	live, run := c.live[id], c.retries[id]
	if live.watch == 0 { // else the worker with the fence has it
		live.fence = max(live.fence, c.fenceMin)
	}
	if run == nil {
		run = &job.Run{ID: id, Attempt: live.attempt, Due: live.due}
	}
	run.Fence = live.fence
	l := Launch{Run: id, Due: live.due, Fence: live.fence, Attempt: live.attempt, HasPayload: live.payload}
	live.tenant, live.byHand = 0, id.IsManual() || run.Base > 0
	if r := c.rows.row(live.slot); r.id != id.Job {
		live.slot = 0
	} else {
		live.tenant = r.tenant
		p := c.profiles.get(r.profile)
		l.Tenant, l.Expires = r.tenant, p.expiry(run)
		if l.Limit = p.limit(); l.Limit > 0 {
			live.waits = true
			l.Mode = c.modeAfterCrash(p, run)
		}
	}
	c.live[id] = live
	c.shares.add(live, 1)
	return l, live
}

// modeAfterCrash says how a run of a job that lets only so many runs go at a time is launched again. One
// that may have been going gets its turn, and so do those that waited for theirs, in their order; one
// that is yet to come does what the policy says.
func (c *Core) modeAfterCrash(p *profileEntry, run *job.Run) Mode {
	switch {
	case run.Attempt > run.Base+1:
		return ModeHeld
	case run.ID.IsManual() || run.Base > 0:
		return ModeWait
	case run.Due <= c.now && p.mode() != ModeCancel:
		return ModeWait
	default:
		return p.mode()
	}
}
