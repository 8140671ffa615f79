package scheduler

import (
	"github.com/carillon-io/carillon/job"
)

// profileEntry is an interned profile with its compiled schedule.
type profileEntry struct {
	job.Profile
	schedule *job.Schedule // nil for one-shots
	err      error         // the schedule does not compile any more: its zone vanished, say
	refs     int           // jobs that have it; 0: the number is free
}

// profiles interns the profiles of jobs, so that a hot row needs four bytes for them. Numbers are
// reused; number 0 is never given out.
type profiles struct {
	entries  []profileEntry
	byValue  map[job.Profile]uint32
	freeList []uint32
}

func newProfiles() profiles {
	return profiles{entries: make([]profileEntry, 1), byValue: make(map[job.Profile]uint32)}
}

func (p *profiles) get(n uint32) *profileEntry { return &p.entries[n] }

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
		n, p.freeList = p.freeList[k-1], p.freeList[:k-1]
	} else {
		n = uint32(len(p.entries))
		p.entries = append(p.entries, profileEntry{})
	}
	p.entries[n] = profileEntry{Profile: v, schedule: s, refs: 1}
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
	p.freeList = append(p.freeList, n)
	return true
}

// restore puts a profile back under its number, as the store has it. No job has it yet.
func (p *profiles) restore(n uint32, v job.Profile) {
	for uint32(len(p.entries)) <= n {
		p.entries = append(p.entries, profileEntry{})
	}
	e := profileEntry{Profile: v}
	if v.Spec.Expr != "" {
		e.schedule, e.err = job.ParseSchedule(v.Spec)
	}
	p.entries[n] = e
	p.byValue[v] = n
}

// seal ends a restore: the numbers between that nobody has are free.
func (p *profiles) seal() {
	p.freeList = p.freeList[:0]
	for n := len(p.entries) - 1; n > 0; n-- {
		if p.entries[n].refs == 0 {
			delete(p.byValue, p.entries[n].Profile)
			p.freeList = append(p.freeList, uint32(n))
		}
	}
}

// latest returns the last tick of a job in (after, upto], from its cursor on.
func (e *profileEntry) latest(r *hotRow, after, upto job.Millis) (job.Millis, bool) {
	if e.schedule == nil {
		return r.cursor, r.cursor > after && r.cursor <= upto
	}
	return e.schedule.Latest(after, upto, r.cursor)
}

// next returns the first tick of a job after an instant that is not before its cursor.
func (e *profileEntry) next(r *hotRow, after job.Millis) (job.Millis, bool) {
	if e.schedule == nil {
		return 0, false
	}
	return e.schedule.Next(after, r.cursor)
}
