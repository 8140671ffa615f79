package job

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
	if s.kind == ScheduleCron && s.cron.loc != nil && len(times) > 0 {
		notes = s.cron.notes(after, times[len(times)-1])
	}
	return times, notes
}

// change is one setting of a zone's clock, seen by a schedule.
type change struct {
	before, after period
	reached       int64   // wall time that was reached before
	walls         []int64 // times of the schedule in the gap or fold, at most notedMax+1
}

// notes tells of the changes that concern ticks after the first and not after the second instant.
func (c *cron) notes(after, upto Millis) []string {
	low, high := floorDiv(int64(after), 1000)+1, int64(upto)/1000
	var notes []string
	// A fold concerns ticks that come before the change itself, and ones a while after it.
	for sec := low - skewMax; ; {
		p := periodAt(c.loc, sec)
		if p.end > high+skewMax {
			return notes
		}
		if ch := c.changeAt(p, low, high); len(ch.walls) > 0 {
			notes = append(notes, c.note(ch))
		}
		sec = c.skip(p.end)
	}
}

// changeAt looks at the end of a period: which times of the schedule the change there skips or repeats,
// if one of the instants that stand for them is within bounds.
func (c *cron) changeAt(p period, low, high int64) change {
	q := periodAt(c.loc, p.end)
	ch := change{before: p, after: q}
	if q.start != p.end {
		return ch // not really a change
	}
	ch.reached = reachedBefore(c.loc, q)
	first := q.start + q.offset
	within := func(instant int64) bool { return instant >= low && instant <= high }
	for wall := min(first, ch.reached); len(ch.walls) <= notedMax; wall++ {
		var ok bool
		if wall, ok = c.pattern.next(wall); !ok || wall >= max(first, ch.reached) {
			break
		}
		noted := within(q.start)
		if first < ch.reached {
			noted = within(wall-p.offset) || !c.fixed && within(wall-q.offset)
		}
		if noted {
			ch.walls = append(ch.walls, wall)
		}
	}
	return ch
}
