package job

import (
	"math"
	"time"
)

// In this file and in cron*.go times are whole seconds. An instant is counted from the Unix epoch; a
// wall time is an instant plus the zone's offset, as if the wall clock were one in UTC, which has
// neither gaps nor folds.

// endless stands for the bound of a period that has none; adding an offset to it does not overflow.
const endless = math.MaxInt64 / 4

// skewMax is more than any two offsets from UTC have ever differed (31 hours, with the local mean
// times of the date line's two sides).
const skewMax = 48 * 60 * 60

// period is a stretch of instants, from start up to but not including end, in which a zone's offset
// from UTC is constant. Two periods side by side may have the same offset.
type period struct {
	start, end int64
	offset     int64
}

// periodAt returns the period that an instant is in.
//
// Invariant: start <= sec < end.
func periodAt(loc *time.Location, sec int64) period {
	t := time.Unix(sec, 0).In(loc)
	_, offset := t.Zone()
	from, to := t.ZoneBounds()
	p := period{start: -endless, end: endless, offset: int64(offset)}
	if !from.IsZero() {
		p.start = from.Unix()
	}
	if !to.IsZero() {
		p.end = to.Unix()
	}
	if p.end <= sec {
		// Beyond its table of changes, package time takes every year to have 365 days: on the last day
		// of a leap year it tells of a period that ended the midnight before. Nothing changes that day.
		p.end = sec - sec%daySeconds + daySeconds
	}
	return p
}

// reachedBefore returns the wall time that was reached, and passed, before a period began: every wall
// time below it has come at least once. It is above the first wall time of the period if the clock was
// set back at its start, below if it was set forward. The period must have a start.
func reachedBefore(loc *time.Location, p period) int64 {
	high := int64(math.MinInt64)
	for q := p; q.start > p.start-skewMax; {
		q = periodAt(loc, q.start-1)
		high = max(high, q.end+q.offset)
	}
	return high
}

// firstReach returns the first instant at which the wall clock shows the given time or a later one. No
// instant before p may do so.
func firstReach(loc *time.Location, p period, wall int64) int64 {
	for wall >= p.end+p.offset {
		// For a date years away the changes on the way need no visit.
		p = periodAt(loc, max(p.end, wall-skewMax))
	}
	return max(wall-p.offset, p.start)
}
