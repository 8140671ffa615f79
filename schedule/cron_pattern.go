package schedule

import "math/bits"

// weeks repeats seven bits over 38 bits: the longest month and up to seven days before it in its first week.
// Multiplying by it and shifting by the weekday of the first turns the weekdays of a field into days of a month
// without a loop.
const weeks = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35

// pattern is a set of wall times: the fields of a cron expression as bits, bit n for the value n. It is independent
// of zones. The zero value is empty. If both day fields are restricted, either of them suffices, as in Vixie cron;
// otherwise the restricted one decides.
//
// Invariant: of a compiled pattern, second, minute, hour and month have at least one bit.
type pattern struct {
	second, minute uint64
	hour           uint32
	// The bits of dom and dow are those of plain items only; moving has the others.
	dom    uint32
	month  uint32
	dow    uint64
	either bool        // both day fields are restricted: a day need match only one of them
	moving *movingDays // days that differ from month to month, in both day fields; nil means none
	years  *yearSet    // nil means every year
}

// next returns the first wall time of the pattern at or after the given one. It tests the day of the given time
// first, then the rest of its month, then those of the following months that the pattern has; each costs some bit
// operations. Without a match in a whole period of the calendar there is none.
func (p *pattern) next(x *Search, wall int64) (int64, bool) {
	day := floorDiv(wall, daySeconds)
	m, dom := monthAt(day)
	if !x.take(1) {
		return 0, false
	}
	days := p.days(&m)
	if days>>dom&1 != 0 {
		if sec, ok := p.timeFrom(int(wall - day*daySeconds)); ok {
			return day*daySeconds + int64(sec), true
		}
	}
	days = days >> (dom + 1) << (dom + 1)
	for last := m.year + calendarYears; days == 0; days = p.days(&m) {
		if !m.advance(p) || m.year > last || !x.take(1) {
			return 0, false
		}
	}
	sec, ok := p.timeFrom(0)
	return m.second(bits.TrailingZeros32(days), sec), ok
}

// days returns the days of a month that match, bit n for day n. Moving items add to the plain ones of their field,
// before the two fields are combined.
func (p *pattern) days(m *calendarMonth) uint32 {
	if p.month>>m.month&1 == 0 || p.years != nil && !p.years.has(m.year) {
		return 0
	}
	weekday, length := m.weekday(), daysIn(m.year, m.month)
	byDate, byWeek := p.dom, uint32(p.dow*weeks>>weekday<<1)
	if p.moving != nil {
		byDate |= p.moving.byDate(weekday, length)
		byWeek |= p.moving.byWeek(weekday, length)
	}
	exist := uint32(1)<<(length+1) - 2
	if p.either {
		return (byDate | byWeek) & exist
	}
	return byDate & byWeek & exist
}

// timeFrom returns the first matching second of a day, at or after the given one. A field that does not match sets
// all finer ones to their first value, as a carry does. It does not go on to the next day; next does.
func (p *pattern) timeFrom(sec int) (int, bool) {
	h, m, s := sec/3600, sec/60%60, sec%60
	if p.hour>>h&1 != 0 {
		if p.minute>>m&1 != 0 {
			if rest := p.second >> s << s; rest != 0 {
				return h*3600 + m*60 + bits.TrailingZeros64(rest), true
			}
		}
		if rest := p.minute >> (m + 1) << (m + 1); rest != 0 {
			return h*3600 + bits.TrailingZeros64(rest)*60 + bits.TrailingZeros64(p.second), true
		}
	}
	rest := p.hour >> (h + 1) << (h + 1)
	if rest == 0 {
		return 0, false
	}
	return bits.TrailingZeros32(rest)*3600 + bits.TrailingZeros64(p.minute)*60 + bits.TrailingZeros64(p.second), true
}
