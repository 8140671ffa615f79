package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// digest renders what a core that does not lead decides by, a line for each fact, in order. It does not say where on
// the wheel a job is: armsOf does.
func digest(c *Core) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("meta epoch=%d numbers=%+v pruned=%d replan=%t usual=%v outbox=%d", c.epoch, c.numbers, c.prunedDay, c.replanning, c.pace.usual, c.outbox)
	add("index upto=%d", c.index.upto)
	add("deleted bytes=%d ids=%v", c.deleted.bytes, slices.Sorted(maps.Keys(c.deleted.byID)))
	add("count jobs=%d armed=%d reaping=%d live=%d reporting=%d debts=%d", c.rows.count, c.Armed(), c.reaping, len(c.live), c.watches.used, len(c.debts.byJob))
	add("states %v", c.rows.byState)
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			add("job %s %+v tenant=%s armed=%t reaping=%t", r.id, r.timerRow(), c.tenantOf(r).name, r.timer != 0 || r.marks.is(markRetired), r.marks.is(markReaping))
		}
	}
	for n := range c.names.shards {
		for _, e := range c.names.shards[n].entries {
			if e.seat != 0 {
				add("name %x-%x %s", e.high, e.low, c.rows.row(e.seat).id)
			}
		}
	}
	for n := range c.profiles.end {
		if e := c.profiles.at(n); e.refs != 0 {
			e, err := c.profiles.get(n), e.fault()
			add("profile %d %+v refs=%d calendar=%t schedule=%t err=%v", n, e.Profile, e.refs, e.hasCalendar, e.schedule != nil, err)
			if e.free != 0 || c.profiles.find(&e.Profile) != n {
				add("profile %d is free or not found by its value", n)
			}
		}
	}
	for place, n := range c.profiles.freeList {
		if e := c.profiles.at(n); e.refs != 0 || int(e.free) != place+1 {
			add("profile %d is not free, or at place %d instead of %d", n, e.free, place+1)
		}
	}
	add("profile count=%d", c.profiles.byValue.len())
	add("tenants counted=%d", c.tenants.count.epoch)
	for name, t := range c.tenants.byName {
		add("tenant %s jobs=%d bytes=%d found=%t", name, t.jobs, t.bytes, c.tenants.list[t.no] == t)
	}
	for ref, cal := range c.calendars {
		add("calendar %s %+v", ref, *cal)
	}
	lines = append(lines, digestRuns(c)...)
	slices.Sort(lines)
	return lines
}

// digestRuns renders what hangs on runs.
func digestRuns(c *Core) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for id, l := range c.live {
		owner := c.rows.row(l.seat).id
		add("run %s attempt=%d fence=%d due=%s payload=%t job=%t", id, l.attempt, l.fence, l.due, l.payload, owner == id.Job)
		if l.watch == 0 {
			continue
		}
		w := &c.watches.list[l.watch]
		behind := w.isBehind && slices.Contains(c.watches.behind, l.watch)
		add("watch %s %s of=%s kept=%t", id, w.deadline, w.run, w.timer != 0 || behind)
	}
	for id, run := range c.retries {
		add("retry %s %+v", id, *run)
	}
	for id, n := range c.streaks {
		add("streak %s %d", id, n)
	}
	for id, d := range c.debts.byJob {
		add("debt %s %v ticks=%d job=%t", id, d.ticks, d.count, c.rows.row(d.seat).id == id)
	}
	return lines
}

// arm is where a job waits to be decided: at a tick of the wheel, or beside it.
type arm struct {
	at    wheel.Tick
	aside bool // in the backlog, or behind
}

// armsOf returns where every job and every deadline waits. It empties the wheel.
func armsOf(c *Core) map[string]arm {
	arms := make(map[string]arm)
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.marks.is(markBacklog) || r.marks.is(markRetired) {
			arms[fmt.Sprintf("job %s", r.id)] = arm{aside: true}
		}
	}
	for _, n := range c.watches.behind {
		if w := &c.watches.list[n]; w.isBehind && w.timer == 0 {
			arms[fmt.Sprintf("watch %s", w.run)] = arm{aside: true}
		}
	}
	c.wheel.Advance(1<<62, 1<<30, func(id uint64, at wheel.Tick) {
		if id&watchBit != 0 {
			arms[fmt.Sprintf("watch %s", c.watches.list[uint32(id)].run)] = arm{at: at}
			return
		}
		arms[fmt.Sprintf("job %s", c.rows.row(seat(id)).id)] = arm{at: at}
	})
	return arms
}

// Diff compares a core that followed a leader with one that was loaded at the same position, and returns the first
// difference; "" if there is none. Neither may lead. With arms it also compares where each job waits, and empties both
// wheels: they cannot be used afterwards. It is for tests and simulations.
func Diff(followed, loaded *Core, arms bool) string {
	a, b := digest(followed), digest(loaded)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i < len(b) && a[i] > b[i]:
			return "loaded only: " + b[i] + counterpart(a, b[i])
		case i >= len(b) || a[i] < b[i]:
			return "followed only: " + a[i] + counterpart(b, a[i])
		}
	}
	if !arms {
		return ""
	}
	return sameArms(followed, loaded)
}

// counterpart finds the line about the same thing on the other side.
func counterpart(lines []string, line string) string {
	f := strings.Fields(line)
	for _, l := range lines {
		if g := strings.Fields(l); g[0] == f[0] && g[1] == f[1] {
			return "\nother side: " + l
		}
	}
	return ""
}

// sameArms compares where jobs and deadlines wait. What the wheel of the follower has passed is beside it; a
// completed job is kept from when it was completed, or from when it was loaded; and a job whose calendar has
// changed has its jitter from before.
func sameArms(followed, loaded *Core) string {
	behind := followed.wheel.Now()
	a, b := armsOf(followed), armsOf(loaded)
	if len(a) != len(b) {
		return fmt.Sprintf("%d arms, loaded %d", len(a), len(b))
	}
	for s := seat(1); s < loaded.rows.next; s++ {
		r := loaded.rows.row(s)
		key := fmt.Sprintf("job %s", r.id)
		got, want := a[key], b[key]
		first := wheel.Tick(max(r.cursor, r.last).Add(loaded.retention(r) + loaded.settings.Lead))
		p := loaded.profiles.get(r.profile)
		switch {
		case got == want || got.aside && want.at <= behind:
		case r.flags.Is(job.FlagCompleted) && !got.aside && got.at >= first && got.at <= want.at:
		case p.hasCalendar && p.Jitter > 0 && got.at >= wheel.Tick(r.cursor) && got.at <= wheel.Tick(r.cursor+p.Jitter):
		default:
			return fmt.Sprintf("%s waits at %+v, loaded at %+v; %+v", key, got, want, r.timerRow())
		}
	}
	for key, want := range b {
		if got := a[key]; strings.HasPrefix(key, "watch ") && got != want && !(want.aside && !got.aside) && !(got.aside && want.at <= behind) {
			return fmt.Sprintf("%s waits at %+v, loaded at %+v", key, got, want)
		}
	}
	return ""
}
