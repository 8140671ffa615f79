package core

import (
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// profileEntry is an interned profile with its compiled schedule.
type profileEntry struct {
	job.Profile
	hasCalendar bool               // the schedule refers to a calendar
	schedule    *schedule.Schedule // nil for one-shots without exclusions, which share one profile
	isStale     bool               // the schedule is to be compiled, before its next use
	isUnchecked bool               // whether the exclusions leave a tick was not looked at since it was compiled
	gaveUp      bool               // the last search for a tick took too many steps
	err         error              // why the schedule does not compile, for example because its zone is gone; see fault
	refs        int32              // jobs that have it; 0: the number is free
	meter       *effort            // counts the evaluations of the schedule
	free        int32              // place in freeList, from 1; 0: not in it
	moved       bool               // the schedule has changed, and some jobs do not follow it yet
}

// fault returns why the schedule of a profile cannot be followed, or nil.
func (e *profileEntry) fault() error {
	if e.isUnchecked {
		e.isUnchecked = false
		steps, err := e.schedule.Check()
		e.err = err
		e.meter.spend(steps)
	}
	return e.err
}

// isOneShot reports whether the jobs of the profile have one tick each.
func (e *profileEntry) isOneShot() bool { return e.schedule == nil || e.schedule.Kind() == schedule.At }

// follows reports whether jobs have the profile and its schedule refers to a calendar.
func (e *profileEntry) follows(ref string) bool {
	return e.refs > 0 && e.hasCalendar && slices.Contains(e.Spec.Calendars(), ref)
}

// limit returns how many runs of a job may be in progress at a time; 0 means no limit.
func (e *profileEntry) limit() uint16 {
	if e.Overlap == job.OverlapAllow {
		return uint16(e.MaxConcurrent)
	}
	return 1
}

// mode returns how a launch behaves that finds the limit of its job reached.
func (e *profileEntry) mode() pad.Mode {
	switch e.Overlap {
	case job.OverlapSkip:
		return pad.ModeSkip
	case job.OverlapBufferOne:
		return pad.ModeBufferOne
	case job.OverlapCancelOther:
		return pad.ModeCancel
	}
	return pad.ModeWait // buffer_all, and allow with a limit
}

// latest returns the last tick of a job in (after, upto], from its cursor on. The cursor counts as a tick, whatever
// the schedule says of it now. The job must not be completed. Without that, a change of rules or of a calendar could
// make an undecided tick vanish without a record.
func (e *profileEntry) latest(r *hotRow, after, upto instant.Millis) (instant.Millis, bool) {
	if e.schedule == nil {
		return r.cursor, r.cursor > after && r.cursor <= upto
	}
	var x schedule.Search
	at, ok := e.schedule.LatestIn(&x, after, upto, r.cursor)
	e.meter.spend(x.Steps())
	if !ok && r.cursor > after && r.cursor <= upto {
		return r.cursor, true // the rules of its zone changed after it was due, or the search gave up
	}
	return at, ok
}

// following returns the tick of a job that comes after one of its ticks. It ignores the cursor, which is off the grid
// of an @every when the job is completed.
func (e *profileEntry) following(tick instant.Millis) (instant.Millis, bool) {
	if e.schedule == nil {
		return 0, false
	}
	return e.search(tick, tick)
}

// search returns the first tick after an instant. If there is none, gaveUp says whether that is certain.
func (e *profileEntry) search(after, anchor instant.Millis) (instant.Millis, bool) {
	var x schedule.Search
	tick, ok := e.schedule.NextIn(&x, after, anchor)
	e.meter.spend(x.Steps())
	e.gaveUp = x.Err() != nil
	return tick, ok
}

// next returns the first tick of a job after an instant, from its cursor on. The cursor counts as a tick, as for
// latest.
func (e *profileEntry) next(r *hotRow, after instant.Millis) (instant.Millis, bool) {
	e.gaveUp = false
	if e.schedule == nil {
		return 0, false
	}
	if after = max(after, r.cursor-1); after < r.cursor {
		return r.cursor, true
	}
	return e.search(after, r.cursor)
}
