package schedule

import "time"

// daySeconds is the length of a day of wall times, which have no gaps and no leap seconds.
const daySeconds = 24 * 60 * 60

// calendarYears is the period of the Gregorian calendar, including weekdays: a date that does not occur within it
// never occurs.
const calendarYears = 400

// calendarMonth is a month of some year. Its first day is counted from the Unix epoch. It is advanced instead of
// being computed from a date again, which a search over 400 years would pay for in each month.
type calendarMonth struct {
	year  int
	month time.Month
	// first may be negative, before 1970.
	first int64
}

// monthAt returns the month that contains a day, and the day of the month. It is the only conversion by package time
// in a search.
func monthAt(day int64) (m calendarMonth, dom int) {
	m.year, m.month, dom = time.Unix(day*daySeconds, 0).UTC().Date()
	m.first = day - int64(dom) + 1
	return m, dom
}

// advance moves to the next month of a pattern, in the next of its years if it has some. It reports whether there is
// one. The jump over the months between keeps a schedule for one month, or for a distant year, from examining the days
// of every month before it.
func (m *calendarMonth) advance(p *pattern) bool {
	for {
		m.first += int64(daysIn(m.year, m.month))
		if m.month++; m.month > time.December {
			m.year, m.month = m.year+1, time.January
			if !m.toYearOf(p.years) {
				return false
			}
		}
		if p.month>>m.month&1 != 0 {
			return true
		}
	}
}

// toYearOf moves from the first month of a year to that of the first year of a set that is not before it; nil means
// every year. It reports whether there is one.
func (m *calendarMonth) toYearOf(years *yearSet) bool {
	if years == nil || years.has(m.year) {
		return true
	}
	year, ok := years.next(m.year)
	if ok {
		m.year, m.first = year, time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()/daySeconds
	}
	return ok
}

// weekday returns the weekday of the first day, from 0 for Sunday. Remainders of negative days are negative in Go,
// so months before 1970 need the correction.
func (m *calendarMonth) weekday() int {
	weekday := (m.first + int64(time.Thursday)) % 7 // the epoch was a Thursday
	if weekday < 0 {
		weekday += 7
	}
	return int(weekday)
}

// kind returns what distinguishes the month from others in which a pattern without years has other days: its number, 13
// for a February of 29 days, and the weekday of its first day.
func (m *calendarMonth) kind() (number, weekday int) {
	if number = int(m.month); m.month == time.February && daysIn(m.year, m.month) == 29 {
		number = 13
	}
	return number, m.weekday()
}

// second returns the wall time of a second of a day of the month.
func (m *calendarMonth) second(dom, sec int) int64 {
	return (m.first+int64(dom)-1)*daySeconds + int64(sec)
}

// daysIn returns the length of a month in the Gregorian calendar.
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

// floorDiv divides and rounds down. Go's division rounds towards zero, which would put instants before 1970 into the
// wrong day. b must be positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
