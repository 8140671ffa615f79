package schedule

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// kept returns the first tick, from the given one on and before the limit, that is not excluded. It jumps to the end
// of each excluded range and asks for the next tick from there, so a range costs the same however many ticks are in
// it. Only an @every, or an expression in another zone than that of the job, meets many ranges; others are not searched
// tick by tick.
func (s *Schedule) kept(x *Search, tick, anchor, limit instant.Millis) (instant.Millis, bool) {
	ok := true
	var p period
	for x.take(s.filter.steps()) {
		end, excluded := s.filter.endOf(tick, &p)
		if !excluded {
			return tick, true
		}
		if tick, ok = s.rawNext(x, end-1, anchor, limit); !ok || tick >= limit {
			return 0, false
		}
	}
	return 0, false
}

// latestKept returns the last tick after an instant, up to the given tick, that is not excluded. It bisects, which is
// correct because Next is monotone.
func (s *Schedule) latestKept(x *Search, after, tick, anchor instant.Millis) (instant.Millis, bool) {
	if !s.filter.excludes(tick) {
		return tick, true
	}
	high := tick
	latest, ok := s.keptBetween(x, after, high, anchor)
	if !ok {
		return 0, false
	}
	// Invariant: latest is a tick, and there is none from high to the given one.
	for latest+1 < high {
		middle := latest + (high-latest)/2
		if next, ok := s.keptBetween(x, middle-1, high, anchor); ok {
			latest = next
		} else {
			high = middle
		}
	}
	return latest, x.err == nil
}

// keptBetween returns the first tick after an instant and before a limit that is not excluded.
func (s *Schedule) keptBetween(x *Search, after, limit, anchor instant.Millis) (instant.Millis, bool) {
	tick, ok := s.rawNext(x, after, anchor, limit)
	if !ok || tick >= limit {
		return 0, false
	}
	if s.filter == nil || s.kind == Many {
		return tick, true
	}
	return s.kept(x, tick, anchor, limit)
}

// setFilter adds exclusions. The schedule must be new, because schedules are immutable once they are shared. A cron
// in the filter's own zone gets it, because it can search days instead of ticks; the others are filtered by kept.
func (s *Schedule) setFilter(f *filter) error {
	s.filter = f
	for i, m := range s.members {
		if err := m.setFilter(f); err != nil {
			return apierr.Indexed(err, "schedules", i)
		}
	}
	// The comparison is of pointers: zones are cached, so the same name is the same pointer, and nil is UTC.
	if s.kind == Cron && s.cron.loc == f.loc {
		s.cron.without = f
	}
	if s.kind != At {
		return nil
	}
	if f.excludes(s.at) {
		return badSchedule("@at %s is excluded, so it would never run; want another time, or an exclusion that spares it", s.at)
	}
	return nil
}

// Check looks for a tick that the exclusions leave, and returns an error if there is none, and the steps that it took. A
// schedule that [Zones.Parse] returns has been checked; one of [Zones.Restore] has not.
func (s *Schedule) Check() (steps int, err error) {
	if s.filter == nil || s.kind == At {
		return 0, nil
	}
	return s.checkKept(s.filter)
}

// checkKept refuses exclusions that leave no tick. It accepts those of which it cannot say so within its steps: who
// needs a tick searches from another instant, and judges what that takes. For an @every it does not search the grid
// alone, whose anchor is known only at the registration.
func (s *Schedule) checkKept(f *filter) (steps int, err error) {
	var x Search
	_, some := s.NextIn(&x, s.from-1, s.from)
	steps = x.steps
	if s.kind == Every && !some {
		x = Search{}
		some = s.leavesTime(&x, f)
		steps += x.steps
	}
	if some || x.err != nil {
		return steps, nil
	}
	return steps, badExclusion("leaves no tick of the schedule until %s; want exclusions that spare some", s.until)
}

// leavesTime reports whether a filter leaves any second of the window. It is the check for an @every, whose ticks
// depend on its anchor. It treats the window as if every second were a tick; an @every whose grid misses the seconds
// that are left is accepted.
func (s *Schedule) leavesTime(x *Search, f *filter) bool {
	everySecond := pattern{second: allSixty, minute: allSixty, hour: allHours, dom: 1<<32 - 2, month: 1<<13 - 2, dow: 1<<7 - 1}
	any := Schedule{kind: Cron, cron: &cron{pattern: everySecond, loc: f.loc, without: f}, filter: f, from: s.from, until: s.until}
	_, ok := any.NextIn(x, any.from-1, 0)
	return ok
}
