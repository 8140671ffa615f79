package core

import (
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// pageProfiles is the number of profiles that are allocated together. As with rows, growing copies none: a slice that grows
// would copy a quarter of a million profiles several times during a start.
const pageProfiles = 1024

// profiles interns the profiles of jobs, so that a hot row needs only four bytes for its profile. Numbers are reused;
// number 0 is never given out, and means none. Many jobs share few profiles: interning saves memory, and compiles each
// schedule once instead of once for each job.
type profiles struct {
	pages [][]profileEntry
	end   uint32 // first number that was never used
	// byValue finds the number of a profile by the hash of its encoding. Like a name, a profile is its hash: see NameHash.
	// A map from profiles would need ten times the memory, and most of its time would go into that.
	byValue  nameIndex
	hash     func(text []byte) NameHash
	text     []byte // scratch
	freeList []uint32
	meter    effort
	// moved are the entries that are marked as moved, and possibly others; nil: all jobs follow their schedules.
	moved []uint32
	// isLoading is set while a core is loaded: the profiles are only staged in byValue then.
	isLoading bool
	rules     *schedule.Zones // with which schedules are compiled
	calendars calendarLookup
}

func newProfiles(rules *schedule.Zones, calendars calendarLookup) profiles {
	return profiles{
		pages: [][]profileEntry{make([]profileEntry, pageProfiles)}, end: 1, meter: effort{most: effortMax},
		rules: rules, calendars: calendars,
	}
}

// at returns the entry of a number below end. The pointer stays valid: pages never move.
func (p *profiles) at(n uint32) *profileEntry { return &p.pages[n/pageProfiles][n%pageProfiles] }

// extend returns the next number that was never used.
func (p *profiles) extend() uint32 {
	n := p.end
	if p.end++; int(n/pageProfiles) == len(p.pages) {
		p.pages = append(p.pages, make([]profileEntry, pageProfiles))
	}
	return n
}

// hashOf returns the hash of a profile.
func (p *profiles) hashOf(v *job.Profile) NameHash {
	p.text = job.AppendProfile(p.text[:0], v)
	return p.hash(p.text)
}

// find returns the number of a profile; 0 if it is not interned.
func (p *profiles) find(v *job.Profile) uint32 { return uint32(p.byValue.find(p.hashOf(v))) }

// index lets a profile with a hash be found, instead of any other with the same value.
func (p *profiles) index(h NameHash, n uint32) {
	p.unindex(h, uint32(p.byValue.find(h)))
	p.byValue.add(h, seat(n))
}

// unindex lets a profile not be found any more, unless another one with its value is.
func (p *profiles) unindex(h NameHash, n uint32) {
	if n != 0 && p.byValue.find(h) == seat(n) {
		p.byValue.remove(h)
	}
}

// get returns the profile of a number. It compiles a schedule that is stale: the first use pays for that and not the
// change of a calendar, so that no step compiles more schedules than its effort allows.
func (p *profiles) get(n uint32) *profileEntry {
	e := p.at(n)
	e.meter = &p.meter
	if e.isStale {
		p.compile(e)
	}
	return e
}

// refer counts one more job that has the profile of a number. Unlike get it leaves a stale schedule stale.
func (p *profiles) refer(n uint32) { p.at(n).refs++ }

// jitter returns the jitter of the profile of a number. Unlike get it leaves a stale schedule stale.
func (p *profiles) jitter(n uint32) instant.Millis { return p.at(n).Jitter }

// intern returns the number of a profile and counts one more job that has it. It also reports whether the profile is
// new and must be written.
func (p *profiles) intern(v job.Profile, s *schedule.Schedule) (n uint32, isNew bool) {
	h := p.hashOf(&v)
	if n := uint32(p.byValue.find(h)); n != 0 {
		p.at(n).refs++
		return n, false
	}
	if v.Spec.Expr == "" {
		s = nil
	}
	if k := len(p.freeList); k > 0 {
		n = p.freeList[k-1]
		p.use(n)
	} else {
		n = p.extend()
	}
	*p.at(n) = profileEntry{Profile: v, schedule: s, refs: 1, hasCalendar: len(v.Spec.Calendars()) > 0}
	p.index(h, n)
	return n, true
}

// release counts one job less, and reports whether that was the last one, so that the profile is gone.
func (p *profiles) release(n uint32) (gone bool) {
	e := p.at(n)
	if e.refs--; e.refs > 0 {
		return false
	}
	p.unindex(p.hashOf(&e.Profile), n)
	*e = profileEntry{}
	p.spare(n)
	return true
}

// spare adds an unused number to the free list. Cores may differ in the order of the list, and so in the number that a
// profile gets: the rows have the number.
func (p *profiles) spare(n uint32) {
	p.freeList = append(p.freeList, n)
	p.at(n).free = int32(len(p.freeList))
}

// use removes a number from the free list, if it is there.
func (p *profiles) use(n uint32) {
	e := p.at(n)
	if e.free == 0 {
		return
	}
	last := len(p.freeList) - 1
	moved := p.freeList[last]
	p.freeList[e.free-1], p.at(moved).free = moved, e.free
	p.freeList, e.free = p.freeList[:last], 0
}

// restore puts a stored profile under its number. Its jobs are counted separately, when their rows are read. Its schedule
// is compiled at its first use. A calendar that is missing or a zone that is unknown makes the entry's error then.
func (p *profiles) restore(n uint32, v *job.Profile, h NameHash) {
	if n < p.end {
		p.use(n)
		if !p.isLoading { // a start restores each number once
			p.void(n)
		}
	} else {
		for p.end < n {
			p.spare(p.extend())
		}
		p.extend()
	}
	e := p.at(n)
	*e = profileEntry{Profile: *v, hasCalendar: len(v.Spec.Calendars()) > 0, refs: e.refs, isStale: v.Spec.Expr != ""}
	if p.isLoading {
		p.byValue.stage(h, seat(n))
	} else {
		p.index(h, n)
	}
}

// void removes the profile of a number. Jobs may still refer to it: their rows come later in the same commit.
func (p *profiles) void(n uint32) {
	e := p.at(n)
	p.unindex(p.hashOf(&e.Profile), n)
	*e = profileEntry{refs: e.refs, free: e.free}
}

// has reports whether a number stands for a profile.
func (p *profiles) has(n uint32) bool {
	return n > 0 && n < p.end && p.at(n).free == 0
}

// drop frees a number whose profile was deleted from the store.
func (p *profiles) drop(n uint32) {
	if p.has(n) {
		p.void(n)
		p.spare(n)
	}
}

// calendarLookup finds a calendar by its reference.
type calendarLookup = schedule.CalendarLookup

// compile compiles the schedule of a profile.
func (p *profiles) compile(e *profileEntry) {
	e.schedule, e.err = p.rules.Restore(e.Spec, p.calendars)
	e.isStale, e.isUnchecked = false, e.err == nil
	e.meter.spent += compileEffort
}

// expire has the schedules that refer to a calendar compiled again, and returns their profiles.
func (p *profiles) expire(ref string) (list []uint32) {
	for n := range p.end {
		if e := p.at(n); e.follows(ref) {
			e.isStale = true
			list = append(list, n)
		}
	}
	return list
}

// inZones returns the profiles with a schedule in one of the given zones.
func (p *profiles) inZones(names []string) (list []uint32) {
	isOne := func(name string) bool { return slices.Contains(names, name) }
	for n := range p.end {
		if e := p.at(n); e.refs > 0 && slices.ContainsFunc(e.Spec.Zones(), isOne) {
			list = append(list, n)
		}
	}
	return list
}

// mark records that the jobs of some profiles do not follow their changed schedules yet.
func (p *profiles) mark(list []uint32) {
	for _, n := range list {
		p.at(n).moved = true
	}
	p.moved = append(p.moved, list...)
}

// markAll marks all profiles whose schedules may change.
func (p *profiles) markAll() {
	for n := range p.end {
		if e := p.at(n); e.refs > 0 && (e.hasCalendar || len(e.Spec.Zones()) > 0) {
			p.mark([]uint32{n})
		}
	}
}

// unmark records that all jobs follow their schedules.
func (p *profiles) unmark() {
	for _, n := range p.moved {
		p.at(n).moved = false
	}
	p.moved = nil
}

// uses reports whether a schedule refers to a calendar.
func (p *profiles) uses(ref string) bool {
	for n := range p.end {
		if p.at(n).follows(ref) {
			return true
		}
	}
	return false
}

// seal ends a restore, after the staged profiles were placed: the unused numbers in between become free.
func (p *profiles) seal() {
	p.isLoading = false
	p.freeList = p.freeList[:0]
	for n := p.end - 1; n > 0; n-- {
		e := p.at(n)
		if e.free = 0; e.refs == 0 {
			p.void(n)
			p.spare(n)
		}
	}
}
