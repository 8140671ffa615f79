package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// lead makes a loaded core, which may have followed another leader, the leader. It must be called after the commit
// that begins the epoch; lsn and now are those of that commit. Everything that depends on the time is computed as of
// now. The cost depends on the live runs, the debts and the streaks; lead reads no other job.
//
// Runs that were with their targets when the last leader stopped are launched again, under the same run id and with a
// fence that is at least lsn. It returns launches instead of adding to an output, because no step is in progress.
func (c *Core) lead(epoch, lsn uint64, now instant.Millis) (t Takeover) {
	c.epoch, c.lsn, c.fenceMin = epoch, lsn, lsn
	c.KeepTime(now)
	c.led, c.latest = now, now
	c.out.WakeAt = instant.LongAgo // the time until the first step counts as a gap, if it is long
	c.onces.since, c.redone.since, c.overAhead.since = lsn, lsn, lsn
	usual := c.pace.usual
	c.pace = newPace(c.settings.CatchupRate, c.settings.Shards, now)
	c.pace.restore(usual)
	c.queueDebts()
	t.Overdrawn = c.overdrawn()
	c.ids = nil
	c.tenants.dropStored()
	c.relaunchAll(&t)
	c.lineUpDeleted()
	return t
}

// Takeover is what a new leader finds and the core alone cannot finish. The runner must handle Going first, then
// Launches, and Outdone last: only runs that have their turns by then can be ended for another one.
type Takeover struct {
	Launches  []pad.Launch // of the runs without an outcome, by due time
	Going     []job.RunID  // runs that wait for a worker's report: they have their turns
	Outdone   []job.ID     // jobs with a due run that ends the one in progress
	Overdrawn []AutoPause  // jobs that the last leader was about to pause
	Replan    bool         // some jobs do not follow their changed schedules yet

	Zones              []string // zones whose rules differ from those by which their jobs were planned
	ZonesFrom, ZonesTo string   // versions of the rules
}

// overdrawn returns the active jobs whose streak of failures reached its limit, in the order of ids.
func (c *Core) overdrawn() (list []AutoPause) {
	for _, id := range slices.Sorted(maps.Keys(c.streaks)) {
		s := c.seatOf(id)
		if s == 0 {
			continue
		}
		if r := c.rows.row(s); r.isActive() && c.isFailing(r) {
			list = append(list, AutoPause{ID: id, Reason: fmt.Sprintf("%d runs in a row failed", c.streaks[id])})
		}
	}
	return list
}

// relaunchAll asks for the launches of all live runs. Live runs are in a map, so the lists are sorted: a leader
// launches in the same order whether it was loaded or followed.
func (c *Core) relaunchAll(t *Takeover) {
	for id := range c.live {
		l, live := c.takeOver(id)
		switch {
		case live.watch == 0:
			t.Launches = append(t.Launches, l)
			if l.Mode == pad.ModeAgain && c.profiles.get(c.rows.row(live.seat).profile).mode() == pad.ModeCancel {
				t.Outdone = append(t.Outdone, id.Job)
			}
		case live.waits:
			t.Going = append(t.Going, id)
		}
	}
	sort.Slice(t.Launches, func(i, j int) bool { return byDue(t.Launches[i], t.Launches[j]) < 0 })
	sort.Slice(t.Going, func(i, j int) bool { return byRow(t.Going[i], t.Going[j]) < 0 })
	slices.Sort(t.Outdone)
	t.Outdone = slices.Compact(t.Outdone)
}

// byRow orders runs like their rows: by job, newest first.
func byRow(a, b job.RunID) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(b.At, a.At), cmp.Compare(b.Seq, a.Seq))
}

// byDue orders launches by due time. Launches of one job that are due at the same time keep the order in which they
// were asked for: scheduled ticks by their time, manual runs by their numbers.
func byDue(a, b pad.Launch) int {
	return cmp.Or(
		cmp.Compare(a.Due, b.Due), cmp.Compare(a.Run.Job, b.Run.Job), cmp.Compare(a.Run.Seq, b.Run.Seq), cmp.Compare(a.Run.At, b.Run.At),
	)
}

// takeOver makes a live run one of this leader: it gets this leader's fence and the present limit of its job. A fence
// below that of the epoch could be one that an earlier leader gave to an attempt that is still under way.
func (c *Core) takeOver(id job.RunID) (pad.Launch, liveRun) {
	live, run := c.live[id], c.retries[id]
	if live.watch == 0 { // otherwise the worker with the fence continues
		live.fence = max(live.fence, c.fenceMin)
	}
	if run == nil {
		run = &job.Run{ID: id, Attempt: live.attempt, Due: live.due}
	}
	run.Fence = live.fence
	l := pad.Launch{Run: id, Due: live.due, Fence: live.fence, Attempt: live.attempt, HasPayload: live.payload}
	live.tenant, live.byHand = 0, id.IsManual() || run.Base > 0
	if r := c.rows.row(live.seat); r.id != id.Job {
		live.seat = 0
	} else {
		live.tenant = c.tenants.ofJob(r)
		p := c.profiles.get(r.profile)
		l.Tenant, l.Expires = pad.Tenant(live.tenant), p.expiry(run)
		if l.Limit = p.limit(); l.Limit > 0 {
			live.waits = true
			l.Mode, l.Ends = c.modeAfterCrash(p, run), p.foresee(run.Attempt-run.Base)
		}
	}
	c.live[id] = live
	c.tenants.addRun(live, 1)
	return l, live
}

// modeAfterCrash returns how a run of a job with a concurrency limit is launched again. A run that was certainly in
// progress keeps its turn. A run that is due may have left, or may even be over, without the log knowing: it is
// launched whatever the policy says, and such runs of one job leave one after the other. A run that is not due yet
// obeys the policy. The alternative, to skip such a run as an overlap, would lose a tick that had been decided to
// fire.
func (c *Core) modeAfterCrash(p *profileEntry, run *job.Run) pad.Mode {
	switch {
	case run.Attempt > run.Base+1:
		return pad.ModeHeld
	case run.ID.IsManual() || run.Base > 0:
		return pad.ModeWait
	case run.Due <= c.now:
		return pad.ModeAgain
	default:
		return p.mode()
	}
}
