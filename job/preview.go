package job

import (
	"cmp"
	"slices"
)

// PreviewMax bounds the ticks of one preview.
const PreviewMax = 1000

// Preview lists the first ticks after an instant, at most n and at most [PreviewMax], with a note on
// each change of the clock that moved, dropped or repeated one of them. The anchor is as in
// [Schedule.Next]. Both slices are the caller's.
func (s *Schedule) Preview(after, anchor Millis, n int) (times []Millis, notes []string) {
	after = max(after, s.from-1)
	for at := after; len(times) < min(n, PreviewMax); {
		tick, ok := s.Next(at, anchor)
		if !ok {
			break
		}
		times = append(times, tick)
		at = tick
	}
	if len(times) == 0 {
		return nil, nil
	}
	found := s.notes(after, times[len(times)-1])
	slices.SortStableFunc(found, func(a, b note) int { return cmp.Compare(a.at, b.at) })
	for _, n := range slices.Compact(found) {
		if len(notes) < PreviewMax {
			notes = append(notes, n.text)
		}
	}
	return times, notes
}

// notes tells of the changes that concern ticks after the first and not after the second instant.
func (s *Schedule) notes(after, upto Millis) (notes []note) {
	for _, m := range s.members {
		notes = append(notes, m.notes(after, upto)...)
	}
	if s.kind == ScheduleCron && s.cron.loc != nil {
		notes = s.cron.notes(after, upto, s.filter)
	}
	return notes
}

// note is a text on a change, which is at an instant in seconds.
type note struct {
	at   int64
	text string
}

// change is one setting of a zone's clock, seen by a schedule.
type change struct {
	before, after period
	reached       int64   // wall time that was reached before
	walls         []int64 // times of the schedule in the gap or fold, at most notedMax+1
}

// notes tells of the changes that concern ticks after the first and not after the second instant, and
// not of those that only concern what a filter, nil for none, leaves out.
func (c *cron) notes(after, upto Millis, f *filter) (notes []note) {
	seen := func(sec int64) bool {
		at := Millis(sec * 1000)
		return at > after && at <= upto && !f.excludes(at)
	}
	low, high := floorDiv(int64(after), 1000)+1, int64(upto)/1000
	// A fold concerns ticks that come before the change itself, and ones a while after it.
	for sec := low - skewMax; ; {
		p := periodAt(c.loc, sec)
		if p.end > high+skewMax {
			return notes
		}
		if ch := c.changeAt(p, seen); len(ch.walls) > 0 {
			notes = append(notes, note{at: p.end, text: c.note(ch)})
		}
		sec = c.skip(p.end)
	}
}

// changeAt looks at the end of a period: which times of the schedule the change there skips or repeats,
// if one of the instants that stand for them is seen.
func (c *cron) changeAt(p period, seen func(sec int64) bool) change {
	q := periodAt(c.loc, p.end)
	ch := change{before: p, after: q}
	if q.start != p.end {
		return ch // not really a change
	}
	ch.reached = reachedBefore(c.loc, q)
	first := q.start + q.offset
	for wall := min(first, ch.reached); len(ch.walls) <= notedMax; wall++ {
		var ok bool
		if wall, ok = c.pattern.next(wall); !ok || wall >= max(first, ch.reached) {
			break
		}
		if c.isLeftOut(wall) {
			continue
		}
		noted := seen(q.start)
		if first < ch.reached {
			noted = seen(wall-p.offset) || !c.fixed && seen(wall-q.offset)
		}
		if noted {
			ch.walls = append(ch.walls, wall)
		}
	}
	return ch
}

// isLeftOut tells whether no run could come of a time, so that a change that skips or repeats it means
// nothing. A skipped time of a fixed schedule stands for another one.
func (c *cron) isLeftOut(wall int64) bool {
	if c.without == nil || c.fixed {
		return false
	}
	_, excluded := c.without.wallEnd(wall)
	return excluded
}
