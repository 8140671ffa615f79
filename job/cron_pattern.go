package job

import (
	"math/bits"
	"time"
)

const daySeconds = 24 * 60 * 60

// calendarYears is the period of the Gregorian calendar, weekdays included: a date that does not come
// within it never comes.
const calendarYears = 400

// weeks repeats seven bits over the 38 that a month and the days before it in its first week need.
const weeks = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35

// pattern is a set of wall times: the fields of a cron expression as bits, bit n for the value n. It
// knows no zones. The zero value is empty.
type pattern struct {
	second, minute uint64
	hour           uint32
	dom            uint32
	month          uint32
	dow            uint64
	either         bool // both day fields are restricted: a day need match only one of them
}

// next returns the first wall time of the pattern at or after the given one.
func (p *pattern) next(wall int64) (int64, bool) {
	day := floorDiv(wall, daySeconds)
	year, month, dom := time.Unix(wall, 0).UTC().Date()
	first := day - int64(dom) + 1
	days := p.days(year, month, first)
	if days>>dom&1 != 0 {
		if sec, ok := p.timeFrom(int(wall - day*daySeconds)); ok {
			return day*daySeconds + int64(sec), true
		}
	}
	days = days >> (dom + 1) << (dom + 1)
	for last := year + calendarYears; days == 0; days = p.days(year, month, first) {
		first += int64(daysIn(year, month))
		if month++; month > time.December {
			year, month = year+1, time.January
		}
		if year > last {
			return 0, false
		}
	}
	sec, ok := p.timeFrom(0)
	return (first+int64(bits.TrailingZeros32(days))-1)*daySeconds + int64(sec), ok
}

// days returns the days of a month that match, bit n for day n. The month's first day is counted from
// the Unix epoch.
func (p *pattern) days(year int, month time.Month, first int64) uint32 {
	if p.month>>month&1 == 0 {
		return 0
	}
	weekday := (first + int64(time.Thursday)) % 7 // the epoch was a Thursday
	if weekday < 0 {
		weekday += 7
	}
	byWeek := uint32(p.dow * weeks >> weekday << 1)
	exist := uint32(1)<<(daysIn(year, month)+1) - 2
	if p.either {
		return (p.dom | byWeek) & exist
	}
	return p.dom & byWeek & exist
}

// timeFrom returns the first second of a day, at or after the given one, whose time matches.
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

func daysIn(year int, month time.Month) int {
	switch month {
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	}
	return 31
}

// floorDiv divides and rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
