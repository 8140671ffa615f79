package schedule

import "math/bits"

// nextWall returns the first wall time of a pattern, at or after the given one, that is not excluded. It does not
// search months that begin after the limit.
//
// It goes through days, not through times: for each day it determines the exclusions that concern it, and of all days
// that the same exclusions concern it searches only the first. Of months that have the same name, length and weekdays
// it searches only the first too. Days that are excluded as a whole extend the search, because a list of dates may
// remove every day of a long time without removing those after it.
func (f *filter) nextWall(x *Search, p *pattern, wall, limit int64) (int64, bool) {
	w := keptWalk{search: x, filter: f, pattern: p}
	day := floorDiv(wall, daySeconds)
	from := int(wall - day*daySeconds)
	m, dom := monthAt(day)
	monthSteps := 2 + len(f.parts)
	for last := m.year + calendarYears; m.year <= last && m.first*daySeconds <= limit && x.take(monthSteps); {
		days := p.days(&m) >> dom << dom
		whole, end := f.wholeDays(m)
		removed := days & whole
		days &^= whole
		if !w.begin(m, days) {
			return 0, false
		}
		// The first day is searched from the given time on, all later ones as a whole.
		if days>>dom&1 != 0 {
			if sec, ok := w.timeFrom(dom, from); ok {
				return m.second(dom, sec), true
			}
		}
		for rest := days >> (dom + 1) << (dom + 1); rest != 0 && x.err == nil; rest &= rest - 1 {
			day := bits.TrailingZeros32(rest)
			if sec, ok := w.timeFrom(day, 0); ok {
				return m.second(day, sec), true
			}
		}
		if dom == 0 && removed == 0 {
			w.noteBarren(m)
		}
		dom = 0
		if !w.advance(&m, end) {
			break
		}
		if removed != 0 {
			last = m.year + calendarYears
		}
	}
	return 0, false
}

// wholeDays returns the days of a month that are excluded as a whole, bit n for day n, and the end of the exclusion
// that reaches furthest beyond the month, if one excludes all of the month; otherwise a day of the month. Only dates
// are in it; days that an expression excludes as a whole are found by the search of the day.
func (f *filter) wholeDays(m calendarMonth) (days uint32, end int64) {
	length := int64(daysIn(m.year, m.month))
	for _, part := range f.parts {
		for i := spanAfter(part.days, m.first); i < len(part.days) && part.days[i].from < m.first+length; i++ {
			low := max(part.days[i].from-m.first, 0) + 1
			high := min(part.days[i].end-m.first, length)
			days |= 1<<(high+1) - 1<<low
			if low == 1 && high == length {
				end = max(end, part.days[i].end)
			}
		}
	}
	return days, max(end, m.first)
}

// keptWalk goes through the days of a pattern in search of a time that is not excluded. It belongs to one search.
// barren forgets when two sets share a slot, which costs time and no correctness.
type keptWalk struct {
	search *Search
	filter *filter
	// pattern and filter are read only, and shared with other searches.
	pattern *pattern
	days    [ExcludeCronsMax]uint32 // of the current month, that each expression of the filter matches
	barren  [64]uint64              // sets of expressions that leave nothing of a day, by hash
	// kinds has the kinds of month of which nothing is left, bit n for a month that begins with weekday n. The 13th is
	// a February of 29 days.
	kinds [14]uint8
}

// begin starts with a month, of which the given days are searched. It returns false if the search must end.
func (w *keptWalk) begin(m calendarMonth, days uint32) bool {
	if days == 0 {
		return true
	}
	if !w.search.take(2 * len(w.filter.crons)) {
		return false
	}
	for i, c := range w.filter.crons {
		w.days[i] = c.days(&m) & days
	}
	return true
}

// noteBarren records that nothing is left of a month although no date excludes a day of it. Then nothing is left of any
// later month of its kind: the years of exclusions, which are in no month, can only exclude less, and noteBarren
// ignores months in years that they may name.
func (w *keptWalk) noteBarren(m calendarMonth) {
	if !w.filter.hasYears || m.year > yearMax {
		kind, weekday := m.kind()
		w.kinds[kind] |= 1 << weekday
	}
}

// advance moves to the next month of the pattern that begins at or after a day, and of whose kind something may be left.
// It returns false if there is none, or the search must end.
func (w *keptWalk) advance(m *calendarMonth, day int64) bool {
	if day > m.first {
		*m, _ = monthAt(day)
		// The month itself is examined, unless the pattern does not have it.
		if w.pattern.month>>m.month&1 != 0 && (w.pattern.years == nil || w.pattern.years.has(m.year)) {
			return true
		}
	}
	for year := m.year; m.advance(w.pattern); {
		kind, weekday := m.kind()
		if w.kinds[kind]>>weekday&1 == 0 {
			return true
		}
		if m.year > year+calendarYears || !w.search.take(1) {
			return false
		}
	}
	return false
}

// timeFrom returns the first second of a day, at or after the given one, that is not excluded. Only a search of a
// whole day proves a set barren; one from the middle of a day does not.
func (w *keptWalk) timeFrom(dom, from int) (int, bool) {
	var active uint64 // the expressions that concern the day
	for i := range w.filter.crons {
		active |= uint64(w.days[i]>>dom&1) << i
	}
	if active == 0 {
		return w.pattern.timeFrom(from)
	}
	slot := &w.barren[active*0x9e3779b97f4a7c15>>58]
	if *slot == active {
		return 0, false
	}
	sec, ok := w.searchDay(active, from)
	if !ok && from == 0 && w.search.err == nil {
		*slot = active
	}
	return sec, ok
}

// searchDay searches a day for such a second, hour by hour.
func (w *keptWalk) searchDay(active uint64, from int) (int, bool) {
	first := from / 3600
	for hours := w.pattern.hour >> first << first; hours != 0 && w.search.err == nil; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		if sec, ok := w.searchHour(active, hour, max(from-hour*3600, 0)); ok {
			return hour*3600 + sec, true
		}
	}
	return 0, false
}

// searchHour first removes the minutes that are excluded as a whole, so that little is left to search. An
// expression that excludes every second of the pattern removes its minutes with one operation; only others are
// examined minute by minute.
func (w *keptWalk) searchHour(active uint64, hour, from int) (int, bool) {
	if !w.search.take(1 + bits.OnesCount64(active)) {
		return 0, false
	}
	p := w.pattern
	minutes := p.minute >> (from / 60) << (from / 60)
	var partial uint64 // the expressions that exclude some seconds of a minute
	for rest := active; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		c := w.filter.crons[i]
		switch {
		case c.hour>>hour&1 == 0:
		case p.second&^c.second == 0:
			minutes &^= c.minute
		default:
			partial |= 1 << i
		}
	}
	for ; minutes != 0 && w.search.take(1+bits.OnesCount64(partial)); minutes &= minutes - 1 {
		minute := bits.TrailingZeros64(minutes)
		seconds := p.second
		if skip := from - minute*60; skip > 0 {
			seconds = seconds >> skip << skip
		}
		if seconds = w.keptSeconds(partial, minute, seconds); seconds != 0 {
			return minute*60 + bits.TrailingZeros64(seconds), true
		}
	}
	return 0, false
}

// keptSeconds removes from the seconds of a minute those that the given expressions exclude. It stops as soon as
// none is left.
func (w *keptWalk) keptSeconds(partial uint64, minute int, seconds uint64) uint64 {
	for rest := partial; rest != 0 && seconds != 0; rest &= rest - 1 {
		if c := w.filter.crons[bits.TrailingZeros64(rest)]; c.minute>>minute&1 != 0 {
			seconds &^= c.second
		}
	}
	return seconds
}
