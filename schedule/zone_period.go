package schedule

import (
	"math"
	"time"
)

// In this file and in cron*.go, times are whole seconds. An instant is counted from the Unix epoch. A wall time is an
// instant plus the zone's offset, as if the wall clock were one in UTC, which has neither gaps nor folds.

// endless is the bound of a period without one; adding an offset to it does not overflow.
const endless = math.MaxInt64 / 4

// skewMax is more than any two offsets from UTC have ever differed (31 hours, with the local mean times of the two
// sides of the date line).
const skewMax = 48 * 60 * 60

// period is a range of instants, from start up to, not including, end, in which a zone's offset from UTC is constant.
// Adjacent periods may have the same offset. Between two changes of the clock, wall times and instants differ by a
// constant; all rules about gaps and folds are rules about where periods meet.
type period struct {
	start, end int64
	// It is the wall time minus the instant, in seconds.
	offset int64
}

// periodAt returns the period that contains an instant.
//
// Invariant: start <= sec < end.
func periodAt(loc *time.Location, sec int64) period {
	t := time.Unix(sec, 0).In(loc)
	_, offset := t.Zone()
	from, to := t.ZoneBounds()
	p := period{start: -endless, end: endless, offset: int64(offset)}
	if !from.IsZero() {
		p.start = startOf(from, sec)
	}
	if !to.IsZero() {
		p.end = to.Unix()
	}
	if p.end <= sec {
		// Beyond its table of changes, package time takes every year to have 365 days. On the last day of a leap year
		// it therefore returns a period that ended the midnight before. Nothing changes on that day.
		p.end = sec - sec%daySeconds + daySeconds
	}
	return p
}

// startOf returns the start of the period that contains an instant, given the start that package time returns. After
// the last change of its table, package time uses only the zone's rule for every year, and may return a change of
// that rule before the table's last one: the period that begins there ends before sec.
func startOf(from time.Time, sec int64) int64 {
	if _, to := from.ZoneBounds(); !to.IsZero() && to.Unix() <= sec {
		return max(from.Unix(), to.Unix())
	}
	return from.Unix()
}

// reachedBefore returns the highest wall time that was reached before a period began: every wall time below it has
// occurred at least once. It is above the first wall time of the period if the clock was set back at its start, and
// below if it was set forward. The period must have a start.
func reachedBefore(loc *time.Location, p period) int64 {
	high := int64(math.MinInt64)
	for q := p; q.start > p.start-skewMax; {
		q = periodAt(loc, q.start-1)
		high = max(high, q.end+q.offset)
	}
	return high
}

// firstReach returns the first instant at which the wall clock shows the given time or a later one. No instant before
// p may do so. If the clock was set forward over that time, this is the first instant after the gap.
func firstReach(loc *time.Location, p period, wall int64) int64 {
	for wall >= p.end+p.offset {
		// For a date years away, the changes in between need no visit.
		p = periodAt(loc, max(p.end, wall-skewMax))
	}
	return max(wall-p.offset, p.start)
}
