package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// profileEntry is an interned profile with its compiled schedule.
type profileEntry struct {
	job.Profile
	hasCalendar bool          // the schedule follows a calendar
	schedule    *job.Schedule // nil for one-shots
	err         error         // the schedule does not compile any more: its zone vanished, say
	refs        int32         // jobs that have it; 0: the number is free
	meter       *effort       // counts the evaluations of the schedule
	cost        int           // of one
	free        int32         // place in freeList, from 1; 0: not there
	moved       bool          // the schedule has changed, and jobs have still to follow
}

// profiles interns the profiles of jobs, so that a hot row needs four bytes for them. Numbers are
// reused; number 0 is never given out.
type profiles struct {
	entries  []profileEntry
	byValue  map[job.Profile]uint32
	freeList []uint32
	meter    effort
	moved    []uint32   // entries that are marked as moved, and perhaps others
	rules    *job.Zones // that schedules are compiled by
}

func newProfiles(rules *job.Zones) profiles {
	return profiles{entries: make([]profileEntry, 1), byValue: make(map[job.Profile]uint32), meter: effort{most: effortMax}, rules: rules}
}

func (p *profiles) get(n uint32) *profileEntry {
	e := &p.entries[n]
	if e.meter == nil {
		e.meter, e.cost = &p.meter, costOf(&e.Profile)
	}
	return e
}

// intern returns the number of a profile, counting one more job that has it, and whether the profile
// is new and must be written.
func (p *profiles) intern(v job.Profile, s *job.Schedule) (n uint32, isNew bool) {
	if n, ok := p.byValue[v]; ok {
		p.entries[n].refs++
		return n, false
	}
	if s != nil && s.Kind() == job.ScheduleAt {
		s = nil
	}
	if k := len(p.freeList); k > 0 {
		n = p.freeList[k-1]
		p.use(n)
	} else {
		n = uint32(len(p.entries))
		p.entries = append(p.entries, profileEntry{})
	}
	p.entries[n] = profileEntry{Profile: v, schedule: s, refs: 1, hasCalendar: len(v.Spec.Calendars()) > 0}
	p.byValue[v] = n
	return n, true
}

// release counts one job less, and tells whether it was the last and the profile is gone.
func (p *profiles) release(n uint32) (gone bool) {
	e := &p.entries[n]
	if e.refs--; e.refs > 0 {
		return false
	}
	delete(p.byValue, e.Profile)
	*e = profileEntry{}
	p.spare(n)
	return true
}

// spare makes a number free that nobody has.
func (p *profiles) spare(n uint32) {
	p.freeList = append(p.freeList, n)
	p.entries[n].free = int32(len(p.freeList))
}

// use takes a number off the free list, if it is there.
func (p *profiles) use(n uint32) {
	e := &p.entries[n]
	if e.free == 0 {
		return
	}
	last := len(p.freeList) - 1
	moved := p.freeList[last]
	p.freeList[e.free-1], p.entries[moved].free = moved, e.free
	p.freeList, e.free = p.freeList[:last], 0
}

// restore puts a profile under its number, as the store has it. The jobs that have it are counted by
// themselves.
func (p *profiles) restore(n uint32, v job.Profile, calendars calendarLookup) {
	for uint32(len(p.entries)) <= n {
		p.entries = append(p.entries, profileEntry{})
		p.spare(uint32(len(p.entries) - 1))
	}
	p.use(n)
	p.void(n)
	e := profileEntry{Profile: v, hasCalendar: len(v.Spec.Calendars()) > 0, refs: p.entries[n].refs}
	p.compile(&e, calendars)
	p.entries[n] = e
	p.byValue[v] = n
}

// void forgets what a number stands for. Jobs may still have it: their rows come later in the commit.
func (p *profiles) void(n uint32) {
	e := &p.entries[n]
	if p.byValue[e.Profile] == n {
		delete(p.byValue, e.Profile)
	}
	*e = profileEntry{refs: e.refs, free: e.free}
}

// has tells whether a number stands for a profile.
func (p *profiles) has(n uint32) bool {
	return n > 0 && int(n) < len(p.entries) && p.entries[n].free == 0
}

// drop makes a number free whose profile is gone from the store.
func (p *profiles) drop(n uint32) {
	if p.has(n) {
		p.void(n)
		p.spare(n)
	}
}

// calendarLookup finds a calendar by its reference.
type calendarLookup = func(ref string) (*job.Calendar, bool)

// compile makes the schedule of a profile anew.
func (p *profiles) compile(e *profileEntry, calendars calendarLookup) {
	if e.Spec.Expr != "" {
		e.schedule, e.err = p.rules.ParseScheduleWith(e.Spec, calendars)
	}
}

// recompile makes the schedules anew that follow a calendar, and returns which.
func (p *profiles) recompile(ref string, calendars calendarLookup) (list []uint32) {
	for n := range p.entries {
		if e := &p.entries[n]; e.follows(ref) {
			p.compile(e, calendars)
			list = append(list, uint32(n))
		}
	}
	return list
}

// inZones returns the profiles whose schedules are read in one of some zones.
func (p *profiles) inZones(names []string) (list []uint32) {
	isOne := func(name string) bool { return slices.Contains(names, name) }
	for n := range p.entries {
		if e := &p.entries[n]; e.refs > 0 && slices.ContainsFunc(e.Spec.Zones(), isOne) {
			list = append(list, uint32(n))
		}
	}
	return list
}

// mark notes that jobs have still to follow the schedules of some profiles.
func (p *profiles) mark(list []uint32) {
	for _, n := range list {
		p.entries[n].moved = true
	}
	p.moved = append(p.moved, list...)
}

// markAll marks all profiles whose schedules may change.
func (p *profiles) markAll() {
	for n := range p.entries {
		if e := &p.entries[n]; e.refs > 0 && (e.hasCalendar || len(e.Spec.Zones()) > 0) {
			p.mark([]uint32{uint32(n)})
		}
	}
}

// unmark notes that all jobs have followed.
func (p *profiles) unmark() {
	for _, n := range p.moved {
		p.entries[n].moved = false
	}
	p.moved = nil
}

// uses tells whether a schedule follows a calendar.
func (p *profiles) uses(ref string) bool {
	return slices.ContainsFunc(p.entries, func(e profileEntry) bool { return e.follows(ref) })
}

func (e *profileEntry) follows(ref string) bool {
	return e.refs > 0 && e.hasCalendar && slices.Contains(e.Spec.Calendars(), ref)
}

// seal ends a restore: the numbers between that nobody has are free.
func (p *profiles) seal() {
	p.freeList = p.freeList[:0]
	for n := len(p.entries) - 1; n > 0; n-- {
		e := &p.entries[n]
		if e.free = 0; e.refs == 0 {
			p.void(uint32(n))
			p.spare(uint32(n))
		}
	}
}

// limit returns how many runs of a job may go at a time; 0 is no limit.
func (e *profileEntry) limit() uint16 {
	if e.Overlap == job.OverlapAllow {
		return uint16(e.MaxConcurrent)
	}
	return 1
}

// mode returns how a launch on time behaves while others of its job are going.
func (e *profileEntry) mode() Mode {
	switch e.Overlap {
	case job.OverlapSkip:
		return ModeSkip
	case job.OverlapBufferOne:
		return ModeBufferOne
	case job.OverlapCancelOther:
		return ModeCancel
	}
	return ModeWait // buffer_all, and allow with a limit
}

// latest returns the last tick of a job in (after, upto], from its cursor on. The cursor is a tick, whatever the
// schedule says of it now. The job must not be completed.
func (e *profileEntry) latest(r *hotRow, after, upto job.Millis) (job.Millis, bool) {
	if e.schedule == nil {
		return r.cursor, r.cursor > after && r.cursor <= upto
	}
	e.spend(latestFactor)
	at, ok := e.schedule.Latest(after, upto, r.cursor)
	if !ok && r.cursor > after && r.cursor <= upto {
		return r.cursor, true // the rules of its zone changed after it was due
	}
	return at, ok
}

// following returns the tick of a job after one of its ticks. It does not look at the cursor, which is
// beside the grid of an @every when the job is completed.
func (e *profileEntry) following(tick job.Millis) (job.Millis, bool) {
	if e.schedule == nil {
		return 0, false
	}
	e.spend(1)
	return e.schedule.Next(tick, tick)
}

// next returns the first tick of a job after an instant, from its cursor on. The cursor is a tick, as it is of latest.
func (e *profileEntry) next(r *hotRow, after job.Millis) (job.Millis, bool) {
	if e.schedule == nil {
		return 0, false
	}
	if after = max(after, r.cursor-1); after < r.cursor {
		return r.cursor, true
	}
	e.spend(1)
	return e.schedule.Next(after, r.cursor)
}
