package core

import (
	"fmt"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// watchBit distinguishes the timers of deadlines on the wheel from those of jobs: their ids are indexes of watches,
// not seats.
const watchBit = 1 << 63

// watches are the deadlines of the runs that wait for a worker's report. The zero value is empty and ready.
type watches struct {
	list []watch // index 0 is never used, so that zero means none
	// free are the indexes of entries that can be used again.
	free  []uint32
	used  int // runs
	armed int // timers on the wheel

	oldest, newest uint32 // ends of a list in the order of since; 0: it is empty

	// behind are deadlines that the wheel has already passed, because the clock was set back. Entries may be void.
	behind []uint32
}

// watch is the deadline of one run. A zero run means that the entry is free. timer is 0 while the deadline is not on
// the wheel: it has passed, or is behind.
type watch struct {
	run      job.RunID
	deadline instant.Millis
	timer    wheel.Ref
	isBehind bool // in behind

	since        instant.Millis // when its report began to be awaited
	older, newer uint32         // in the list
}

// open returns the index of a new watch. The index is the timer's id on the wheel, which holds a number and no
// pointer.
func (w *watches) open(run job.RunID, now instant.Millis) uint32 {
	if len(w.list) == 0 {
		w.list = make([]watch, 1)
	}
	n := uint32(len(w.list))
	if k := len(w.free); k > 0 {
		n, w.free = w.free[k-1], w.free[:k-1]
	} else {
		w.list = append(w.list, watch{})
	}
	w.list[n] = watch{run: run}
	w.link(n, now)
	w.used++
	return n
}

// close frees a watch. Its timer must be off the wheel, because the index will stand for another run. Indexes of
// closed watches may remain in behind and in Core.expired, so their readers check what the entry is by then.
func (w *watches) close(n uint32) {
	w.unlink(n)
	w.list[n] = watch{}
	w.free = append(w.free, n)
	w.used--
}

// watch arms the deadline of a run. The wheel is ahead of the time by the lead, so the timer is delayed by the lead:
// no deadline passes before its time.
func (c *Core) watch(live *liveRun, run *job.Run) {
	if live.watch == 0 {
		live.watch = c.watches.open(run.ID, c.now)
	}
	w := &c.watches.list[live.watch]
	w.deadline = run.Deadline
	at := wheel.Tick(run.Deadline.Add(c.settings.Lead))
	if at <= c.wheel.Now() {
		c.watchBehind(live.watch)
		return
	}
	if w.timer == 0 {
		w.timer = c.wheel.Arm(watchBit|uint64(live.watch), at)
		c.watches.armed++
		return
	}
	c.wheel.Rearm(w.timer, at)
}

// unwatch removes the deadline of a run, if it has one.
func (c *Core) unwatch(live *liveRun) {
	if live.watch == 0 {
		return
	}
	c.disarmWatch(&c.watches.list[live.watch])
	c.watches.close(live.watch)
	live.watch = 0
}

// ring handles a deadline that left the wheel.
func (c *Core) ring(n uint32) {
	c.watches.list[n].timer = 0
	c.watches.armed--
	c.expired = append(c.expired, n)
}

// expireAll ends the attempts whose deadlines have passed, as many as the step has room for, unless they ended
// meanwhile. The others wait in memory for the next step; a start finds them by their rows.
func (c *Core) expireAll() {
	n := 0
	for ; n < len(c.expired) && c.more(); n++ {
		if w := &c.watches.list[c.expired[n]]; w.run != (job.RunID{}) && w.timer == 0 && !w.isBehind {
			c.unit(c.endingBytes(w.run) + 3*lateReportBytes)
			c.expire(c.expired[n])
		}
	}
	if c.expired = c.expired[n:]; len(c.expired) == 0 {
		c.expired = nil
	}
}

// expire ends the attempt of a run whose deadline has passed without a report. If the clock was set back meanwhile,
// it arms the deadline again.
func (c *Core) expire(n uint32) {
	w := &c.watches.list[n]
	run := c.retries[w.run]
	live := c.live[w.run]
	if c.now < w.deadline {
		c.watch(&live, run)
		return
	}
	o := c.reportOf(run)
	o.Error = fmt.Sprintf("no report came until %s", w.deadline) // within lateReportBytes
	c.failed(live, o)
}

// watchBehind keeps a deadline outside the wheel, because the clock was set back and the wheel is already past it.
// Each step checks these deadlines.
func (c *Core) watchBehind(n uint32) {
	w := &c.watches.list[n]
	if c.disarmWatch(w); !w.isBehind {
		w.isBehind = true
		c.watches.behind = append(c.watches.behind, n)
	}
}

// disarmWatch removes a deadline from the wheel, if it is there.
func (c *Core) disarmWatch(w *watch) {
	if w.timer != 0 {
		c.wheel.Cancel(w.timer)
		c.watches.armed--
		w.timer = 0
	}
}

// expireBehind finds the deadlines outside the wheel that have passed.
func (c *Core) expireBehind() {
	behind := c.watches.behind
	c.watches.behind = nil
	for _, n := range behind {
		w := &c.watches.list[n]
		switch w.isBehind = false; {
		case w.run == (job.RunID{}) || w.timer != 0:
		case c.now < w.deadline:
			c.watchBehind(n)
		default:
			c.expired = append(c.expired, n)
		}
	}
}

// ringBehind handles a deadline that leaves the wheel of a core that does not lead: the leader ends the attempt, or
// this core does once it leads.
func (c *Core) ringBehind(n uint32) {
	c.watches.list[n].timer = 0
	c.watches.armed--
	c.watchBehind(n)
}

// dropVoid removes entries that are no longer behind when there are many, as happens where no step checks them.
func (w *watches) dropVoid() {
	if len(w.behind) <= 2*w.used+backlogVoidMax {
		return
	}
	kept := w.behind[:0]
	for _, n := range w.behind {
		x := &w.list[n]
		if x.isBehind && x.timer == 0 {
			kept = append(kept, n)
		}
		x.isBehind = false // otherwise it would be kept twice
	}
	for _, n := range kept {
		w.list[n].isBehind = true
	}
	w.behind = kept
}

// behindAt returns the first deadline outside the wheel; 0 if there is none.
func (w *watches) behindAt() (at instant.Millis) {
	for _, n := range w.behind {
		if x := &w.list[n]; x.run != (job.RunID{}) && (at == 0 || x.deadline < at) {
			at = x.deadline
		}
	}
	return at
}
