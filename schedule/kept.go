package schedule

import "github.com/carillon-io/carillon/instant"

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
func (s *Schedule) setFilter(f *filter) {
	s.filter = f
	for _, m := range s.members {
		m.setFilter(f)
	}
	// The comparison is of pointers: zones are cached, so the same name is the same pointer, and nil is UTC.
	if s.kind == Cron && s.cron.loc == f.loc {
		s.cron.without = f
	}
}
