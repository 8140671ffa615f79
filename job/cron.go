package job

import (
	"math"
	"time"
)

// cron is the ticks of a cron expression in a zone, by the rules of ISC cron:
//
// A fixed schedule names its hour and minute. Its wall times each have one tick: the first instant at
// which the wall clock shows them or, if the clock was set forward over them, a later time. So a time
// in the gap runs once, at the end of the gap, several of them there are one tick, and a time that
// comes twice runs the first time.
//
// A wild schedule has a minute or an hour field that begins with a star. Its ticks are the instants at
// which the wall clock shows one of its times: what does not exist does not run, what comes twice runs
// twice. So it follows the time that really passes.
//
// Unlike ISC cron, which takes a change of three hours or more for a corrected clock, the rules hold
// for a change of any size: what the zone database tells is never a correction.
type cron struct {
	pattern pattern
	fixed   bool
	loc     *time.Location // nil is UTC
	without *filter        // in the same zone: wall times of the pattern that do not count; nil is none
}

// after returns the first tick after an instant, or one at or after a limit, or none: beyond the limit it
// does not look closely.
func (c *cron) after(instant, limit Millis) (Millis, bool) {
	sec, ok := c.next(floorDiv(int64(instant), 1000)+1, int64(limit)/1000+1)
	return Millis(sec) * 1000, ok
}

// latest returns the last tick after the first and not after the second instant. It bisects, which is
// right because next is monotone.
func (c *cron) latest(after, upto Millis) (Millis, bool) {
	high := floorDiv(int64(upto), 1000) + 1
	latest, ok := c.next(floorDiv(int64(after), 1000)+1, high)
	if !ok || latest >= high {
		return 0, false
	}
	// Invariant: latest is a tick, and none is from high up to upto.
	for latest+1 < high {
		middle := latest + 1 + (high-latest-1)/2
		if tick, ok := c.next(middle, high); ok && tick < high {
			latest = tick
		} else {
			high = middle
		}
	}
	return Millis(latest) * 1000, true
}

// next returns the first tick at or after an instant. It need not find one at or after the limit.
func (c *cron) next(sec, limit int64) (int64, bool) {
	switch {
	case c.loc == nil:
		return c.nextWall(sec, limit)
	case !c.fixed:
		return c.nextWild(sec, limit+skewMax)
	case c.without != nil:
		return c.nextFixedKept(sec, limit+skewMax)
	default:
		return c.nextFixed(sec)
	}
}

// nextWall returns the first wall time of the schedule at or after the given one. It need not find one
// after the limit.
func (c *cron) nextWall(wall, limit int64) (int64, bool) {
	if c.without == nil {
		return c.pattern.next(wall)
	}
	return c.without.nextWall(&c.pattern, wall, limit)
}

func (c *cron) nextFixed(sec int64) (int64, bool) {
	p := periodAt(c.loc, sec)
	wall := sec + p.offset
	if sec-p.start < skewMax {
		reached := reachedBefore(c.loc, p)
		if sec == p.start {
			wall = reached // below the wall clock if there was a gap: what it skipped is due now
		}
		wall = max(wall, reached)
	}
	wall, ok := c.pattern.next(wall)
	if !ok {
		return 0, false
	}
	return firstReach(c.loc, p, wall), true
}

func (c *cron) nextWild(sec, limit int64) (int64, bool) {
	for {
		p := periodAt(c.loc, sec)
		if wall, ok := c.nextWall(sec+p.offset, limit); ok && wall < p.end+p.offset {
			return wall - p.offset, true
		}
		if p.end == endless {
			return 0, false
		}
		// Even with no wall time left there may be ticks: a fold repeats the last ones.
		wall, ok := c.nextWall(p.end-skewMax, limit)
		if !ok {
			return 0, false
		}
		sec = max(p.end, wall-skewMax)
	}
}

// nextFixedKept is nextFixed where wall times may be left out. A tick at the end of a gap is judged by
// what the clock shows then, like any other, and not by the skipped time that it stands for. So a schedule
// of which nothing else is left is followed from gap to gap.
func (c *cron) nextFixedKept(sec, limit int64) (int64, bool) {
	wall, ok := int64(math.MinInt64), true // Invariant: no wall time of the schedule is below it, from sec on
	p := periodAt(c.loc, sec)
	limit = min(limit, sec+calendarYears*366*daySeconds)
	for ; p.start < limit; p = periodAt(c.loc, sec) {
		low := sec + p.offset
		if sec-p.start < skewMax {
			reached := reachedBefore(c.loc, p)
			if sec == p.start && c.isDueAfterGap(reached, low) && !c.without.excludes(Millis(sec*1000)) {
				return sec, true
			}
			low = max(low, reached)
		}
		if ok && wall < low {
			wall, ok = c.nextWall(low, limit)
		}
		if ok && wall < p.end+p.offset {
			return wall - p.offset, true
		}
		if p.end == endless {
			break
		}
		sec = c.skip(p.end)
	}
	return 0, false
}

// isDueAfterGap tells whether a time of the pattern lies in a gap, before the first wall time after it.
func (c *cron) isDueAfterGap(gap, first int64) bool {
	wall, ok := c.pattern.next(gap)
	return ok && wall < first
}

// skip returns an instant, the given one or later, before which no wall time of the pattern can come:
// for a date years away the changes on the way need no visit.
func (c *cron) skip(sec int64) int64 {
	if wall, ok := c.pattern.next(sec - skewMax); ok {
		return max(sec, wall-skewMax)
	}
	return sec
}
