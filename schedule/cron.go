package schedule

import (
	"math"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// cron is the ticks of a cron expression in a zone, by the rules of ISC cron:
//
// A fixed schedule names its hour and minute. Each of its wall times has one tick: the first instant at which the
// wall clock shows that time or, if the clock was set forward over it, a later time. So a time in a gap runs once, at
// the end of the gap; several times in the same gap are one tick; and a time that occurs twice runs the first time.
//
// A wild schedule has a minute or an hour field that begins with a star. Its ticks are the instants at which the wall
// clock shows one of its times: a time that does not occur does not run, and one that occurs twice runs twice. So it
// follows elapsed time.
//
// ISC cron takes a change of three hours or more for a corrected clock. Here the rules hold for a change of any size,
// because the zone database never describes a correction. All of its times are whole seconds; after and latest
// convert. Immutable.
//
// Invariant: loc and without.loc are the same zone. Exclusions in another zone are not in without; [Schedule.kept]
// applies them.
type cron struct {
	pattern pattern
	// fixed is decided by how the expression was written, not by what it matches.
	fixed   bool
	loc     *time.Location // nil means UTC
	without *filter        // in the same zone: wall times of the pattern that are excluded; nil means none
}

// after returns the first tick after an instant. If that is not before the limit, it may return any tick at or after
// the limit, or none, so that the search can end early.
func (c *cron) after(x *Search, since, limit instant.Millis) (instant.Millis, bool) {
	sec, ok := c.next(x, floorDiv(int64(since), 1000)+1, int64(limit)/1000+1)
	return instant.Millis(sec) * 1000, ok
}

// latest returns the last tick in (after, upto]. It bisects, which is correct because next is monotone. A search that
// gave up has found nothing.
func (c *cron) latest(x *Search, after, upto instant.Millis) (instant.Millis, bool) {
	high := floorDiv(int64(upto), 1000) + 1
	latest, ok := c.next(x, floorDiv(int64(after), 1000)+1, high)
	if !ok || latest >= high {
		return 0, false
	}
	// Invariant: latest is a tick, and there is none from high to upto.
	for latest+1 < high {
		middle := latest + 1 + (high-latest-1)/2
		if tick, ok := c.next(x, middle, high); ok && tick < high {
			latest = tick
		} else {
			high = middle
		}
	}
	return instant.Millis(latest) * 1000, x.err == nil
}

// next returns the first tick at or after an instant. It need not find one at or after the limit. In UTC wall times
// are instants, so the common case needs no zone. A limit for wall times is later by skewMax, because the wall clock
// may be ahead of UTC.
func (c *cron) next(x *Search, sec, limit int64) (int64, bool) {
	switch {
	case c.loc == nil:
		return c.nextWall(x, sec, limit)
	case !c.fixed:
		return c.nextWild(x, sec, limit+skewMax)
	case c.without != nil:
		return c.nextFixedKept(x, sec, limit+skewMax)
	default:
		return c.nextFixed(x, sec)
	}
}

// nextWall returns the first wall time of the schedule at or after the given one. It need not find one after the
// limit. Without exclusions it ignores the limit, because a pattern finds its next time at once.
func (c *cron) nextWall(x *Search, wall, limit int64) (int64, bool) {
	if c.without == nil {
		return c.pattern.next(x, wall)
	}
	return c.without.nextWall(x, &c.pattern, wall, limit)
}

// nextFixed returns the first tick of a fixed schedule at or after an instant. It searches wall times from the
// highest one that was reached before, so that a time which a fold repeats is not found again.
func (c *cron) nextFixed(x *Search, sec int64) (int64, bool) {
	if !x.take(3 * periodSteps) {
		return 0, false
	}
	p := periodAt(c.loc, sec)
	wall := sec + p.offset
	// Only the time shortly after a change can repeat or skip wall times: no change exceeds skewMax.
	if sec-p.start < skewMax {
		reached := reachedBefore(c.loc, p)
		if sec == p.start {
			wall = reached // below the wall clock after a gap: the skipped times are due now
		}
		wall = max(wall, reached)
	}
	wall, ok := c.pattern.next(x, wall)
	if !ok {
		return 0, false
	}
	return firstReach(c.loc, p, wall), true
}

// nextWild returns the first tick of a wild schedule at or after an instant. It goes from period to period: within
// one of them, wall times and instants differ by a constant, so neither gaps nor folds need a rule.
func (c *cron) nextWild(x *Search, sec, limit int64) (int64, bool) {
	for x.take(periodSteps) {
		p := periodAt(c.loc, sec)
		if wall, ok := c.nextWall(x, sec+p.offset, limit); ok && wall < p.end+p.offset {
			return wall - p.offset, true
		}
		if p.end == endless {
			return 0, false
		}
		// Even if no wall time is left there may be ticks, because a fold repeats the last ones.
		wall, ok := c.nextWall(x, p.end-skewMax, limit)
		if !ok {
			return 0, false
		}
		sec = max(p.end, wall-skewMax)
	}
	return 0, false
}

// nextFixedKept is nextFixed with exclusions. A tick at the end of a gap is judged, like any other, by what the clock
// shows then, and not by the skipped time that it stands for. So a schedule of which only such ticks are left is
// followed from gap to gap.
func (c *cron) nextFixedKept(x *Search, sec, limit int64) (int64, bool) {
	wall, ok := int64(math.MinInt64), true // Invariant: no wall time of the schedule that counts from sec on is below it.
	p := periodAt(c.loc, sec)
	// Without a limit, a schedule of which nothing is left would be followed from change to change for ever.
	limit = min(limit, sec+calendarYears*366*daySeconds)
	for ; p.start < limit && x.take(2*periodSteps); p = periodAt(c.loc, sec) {
		low := sec + p.offset
		if sec-p.start < skewMax {
			reached := reachedBefore(c.loc, p)
			if sec == p.start && c.isDueAfterGap(x, reached, low) && !c.without.excludes(instant.Millis(sec*1000)) {
				return sec, true
			}
			low = max(low, reached)
		}
		if ok && wall < low {
			wall, ok = c.nextWall(x, low, limit)
		}
		if ok && wall < p.end+p.offset {
			return wall - p.offset, true
		}
		if p.end == endless {
			break
		}
		sec = c.skip(x, p.end)
	}
	return 0, false
}

// isDueAfterGap reports whether a time of the pattern lies in a gap, before the first wall time after the gap.
func (c *cron) isDueAfterGap(x *Search, gap, first int64) bool {
	wall, ok := c.pattern.next(x, gap)
	return ok && wall < first
}

// skip returns an instant, the given one or later, before which no wall time of the pattern can come, so that for a
// date years away the changes in between need no visit. It asks the pattern only, without exclusions: an instant
// that is too early costs a further visit, one that is too late would lose a tick.
func (c *cron) skip(x *Search, sec int64) int64 {
	if wall, ok := c.pattern.next(x, sec-skewMax); ok {
		return max(sec, wall-skewMax)
	}
	return sec
}
