package job

// skipsMax bounds the stretches that are left out one after the other, each with a tick in it, before an
// expression counts as having none left. Only an @every, and an expression in another zone than that of
// the job, come anywhere near: elsewhere the times that the clock shows are not met one by one.
const skipsMax = 10_000

// kept returns the first tick, from a given one on and before the limit, that is not left out.
func (s *Schedule) kept(tick, anchor, limit Millis) (Millis, bool) {
	ok := true
	var p period
	for range skipsMax {
		end, excluded := s.filter.endOf(tick, &p)
		if !excluded {
			return tick, true
		}
		if tick, ok = s.rawNext(end-1, anchor, limit); !ok || tick >= limit {
			return 0, false
		}
	}
	return 0, false
}

// latestKept returns the last tick after an instant and not after a given tick that is not left out. It
// bisects, which is right because Next is monotone.
func (s *Schedule) latestKept(after, tick, anchor Millis) (Millis, bool) {
	if !s.filter.excludes(tick) {
		return tick, true
	}
	high := tick
	latest, ok := s.keptBetween(after, high, anchor)
	if !ok {
		return 0, false
	}
	// Invariant: latest is a tick, and none is from high up to the given one.
	for latest+1 < high {
		middle := latest + (high-latest)/2
		if next, ok := s.keptBetween(middle-1, high, anchor); ok {
			latest = next
		} else {
			high = middle
		}
	}
	return latest, true
}

// keptBetween returns the first tick after an instant and before a limit that is not left out.
func (s *Schedule) keptBetween(after, limit, anchor Millis) (Millis, bool) {
	tick, ok := s.rawNext(after, anchor, limit)
	if !ok || tick >= limit {
		return 0, false
	}
	if s.filter == nil || s.kind == ScheduleMany {
		return tick, true
	}
	return s.kept(tick, anchor, limit)
}

// setFilter leaves out what exclusions, joined by newlines, say. The schedule must be a new one.
func (s *Schedule) setFilter(f *filter) error {
	s.filter = f
	for i, m := range s.members {
		if err := m.setFilter(f); err != nil {
			return indexed(err, "schedules", i)
		}
	}
	if s.kind == ScheduleCron && s.cron.loc == f.loc {
		s.cron.without = f
	}
	if s.kind != ScheduleAt {
		return nil
	}
	if f.excludes(s.at) {
		return badSchedule("@at %s is excluded, so it would never run; want another time, or an exclusion that spares it", s.at)
	}
	return nil
}

// checkKept refuses exclusions that leave no tick.
func (s *Schedule) checkKept(f *filter) error {
	if _, ok := s.Next(s.from-1, s.from); ok || s.kind == ScheduleEvery && s.leavesTime(f) {
		return nil
	}
	return badExclusion("leaves no tick of the schedule until %s; want exclusions that spare some", s.until)
}

// leavesTime tells whether a filter leaves any second of the window: where the ticks of an @every are
// depends on its anchor.
func (s *Schedule) leavesTime(f *filter) bool {
	everySecond := pattern{second: allSixty, minute: allSixty, hour: allHours, dom: 1<<32 - 2, month: 1<<13 - 2, dow: 1<<7 - 1}
	any := Schedule{kind: ScheduleCron, cron: &cron{pattern: everySecond, loc: f.loc, without: f}, filter: f, from: s.from, until: s.until}
	_, ok := any.Next(any.from-1, 0)
	return ok
}
