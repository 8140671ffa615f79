package job

import "time"

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
}

// after returns the first tick after an instant.
func (c *cron) after(instant Millis) (Millis, bool) {
	sec, ok := c.next(floorDiv(int64(instant), 1000) + 1)
	return Millis(sec) * 1000, ok
}

// latest returns the last tick after the first and not after the second instant. It bisects, which is
// right because next is monotone.
func (c *cron) latest(after, upto Millis) (Millis, bool) {
	high := floorDiv(int64(upto), 1000) + 1
	latest, ok := c.next(floorDiv(int64(after), 1000) + 1)
	if !ok || latest >= high {
		return 0, false
	}
	// Invariant: latest is a tick, and none is from high up to upto.
	for latest+1 < high {
		middle := latest + 1 + (high-latest-1)/2
		if tick, ok := c.next(middle); ok && tick < high {
			latest = tick
		} else {
			high = middle
		}
	}
	return Millis(latest) * 1000, true
}

// next returns the first tick at or after an instant.
func (c *cron) next(sec int64) (int64, bool) {
	switch {
	case c.loc == nil:
		return c.pattern.next(sec)
	case c.fixed:
		return c.nextFixed(sec)
	default:
		return c.nextWild(sec)
	}
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

func (c *cron) nextWild(sec int64) (int64, bool) {
	for {
		p := periodAt(c.loc, sec)
		wall, ok := c.pattern.next(sec + p.offset)
		if !ok || wall < p.end+p.offset {
			return wall - p.offset, ok
		}
		sec = c.skip(p.end)
	}
}

// skip returns an instant, the given one or later, before which no wall time of the pattern can come:
// for a date years away the changes on the way need no visit.
func (c *cron) skip(sec int64) int64 {
	if wall, ok := c.pattern.next(sec - skewMax); ok {
		return max(sec, wall-skewMax)
	}
	return sec
}
