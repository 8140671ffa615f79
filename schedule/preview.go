package schedule

import (
	"context"
	"slices"
	"sort"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// PreviewMax bounds the ticks of one preview, and so the size of its reply. [PreviewStepsMax] bounds the work on it.
const PreviewMax = 1000

// Preview lists the first ticks after an instant, at most n and at most [PreviewMax], with a note on each change of
// the clock that moved, dropped or repeated one of them. anchor is as in [Schedule.Next]. The caller owns both
// slices. The notes are limited to what concerns the listed ticks, so a preview of one tick does not tell the changes
// of a year. The error is that of a search that gave up: the context has ended, or the ticks take too many steps to find.
func (s *Schedule) Preview(ctx context.Context, after, anchor instant.Millis, n int) (times []instant.Millis, notes []string, err error) {
	x := SearchFor(ctx, PreviewStepsMax)
	defer x.Done()
	after = max(after, s.from-1)
	walk := s.Walk(after, anchor)
	for len(times) < min(n, PreviewMax) {
		tick, ok := walk.Next(x)
		if !ok {
			break
		}
		times = append(times, tick)
	}
	if x.Err() == nil && len(times) > 0 {
		notes = s.notesOn(x, after, times[len(times)-1])
	}
	switch {
	case x.Err() == nil:
		return times, notes, nil
	case x.Err() == ErrTooLong && len(times) > 0:
		return nil, nil, apierr.Errorf(apierr.TooLarge, "count", "takes too many steps to find; want %d ticks at most", max(1, len(times)/2))
	}
	return nil, nil, x.Refusal()
}

// notesOn returns the texts of the notes on ticks in (after, upto], at most [PreviewMax].
func (s *Schedule) notesOn(x *Search, after, upto instant.Millis) (notes []string) {
	found := s.notes(x, after, upto)
	// Notes of several expressions come one after another; readers want them in the order of time.
	sort.SliceStable(found, func(i, j int) bool { return found[i].at < found[j].at })
	for _, n := range slices.Compact(found) {
		if len(notes) < PreviewMax {
			notes = append(notes, n.text)
		}
	}
	return notes
}

// notes returns the notes on changes that concern ticks in (after, upto].
func (s *Schedule) notes(x *Search, after, upto instant.Millis) (notes []note) {
	for _, m := range s.members {
		notes = append(notes, m.notes(x, after, upto)...)
	}
	if s.kind == Cron && s.cron.loc != nil {
		notes = s.cron.notes(x, after, upto, s.filter)
	}
	return notes
}

// note is a text about a change, and the instant of the change in seconds.
type note struct {
	// Equal notes of several expressions are next to each other after the sort by at, and are shown once.
	at   int64
	text string
}

// change is one change of a zone's clock, as it affects a schedule. walls is empty for a change that concerns no
// listed tick.
type change struct {
	before, after period
	reached       int64   // highest wall time that was reached before
	walls         []int64 // times of the schedule in the gap or fold, at most notedMax+1
}

// notes returns the notes on changes that concern ticks in (after, upto], except changes that only concern excluded
// ticks. A nil f excludes nothing.
func (c *cron) notes(x *Search, after, upto instant.Millis, f *filter) (notes []note) {
	seen := func(sec int64) bool {
		at := instant.Millis(sec * 1000)
		return at > after && at <= upto && !f.excludes(at)
	}
	low, high := floorDiv(int64(after), 1000)+1, int64(upto)/1000
	// A fold concerns ticks before the change itself, and ticks a while after it.
	for sec := low - skewMax; x.take(4 * periodSteps); {
		p := periodAt(c.loc, sec)
		if p.end > high+skewMax {
			return notes
		}
		if ch := c.changeAt(x, p, seen); len(ch.walls) > 0 {
			notes = append(notes, note{at: p.end, text: c.note(ch)})
		}
		sec = c.skip(x, p.end)
	}
	return notes
}

// changeAt returns the change at the end of a period, with the times of the schedule that it skips or repeats, if
// seen is true for one of the instants that stand for them.
func (c *cron) changeAt(x *Search, p period, seen func(sec int64) bool) change {
	q := periodAt(c.loc, p.end)
	ch := change{before: p, after: q}
	if q.start != p.end {
		return ch // not really a change
	}
	ch.reached = reachedBefore(c.loc, q)
	first := q.start + q.offset
	for wall := min(first, ch.reached); len(ch.walls) <= notedMax; wall++ {
		var ok bool
		if wall, ok = c.pattern.next(x, wall); !ok || wall >= max(first, ch.reached) {
			break
		}
		if c.isLeftOut(wall) {
			continue
		}
		noted := seen(q.start)
		// In a fold, a wild schedule runs at both instants, and either one concerns the list.
		if first < ch.reached {
			noted = seen(wall-p.offset) || !c.fixed && seen(wall-q.offset)
		}
		if noted {
			ch.walls = append(ch.walls, wall)
		}
	}
	return ch
}

// isLeftOut reports whether a time can cause no run because it is excluded, so that a change that skips or repeats it
// does not matter. A skipped time of a fixed schedule stands for another one.
func (c *cron) isLeftOut(wall int64) bool {
	if c.without == nil || c.fixed {
		return false
	}
	_, excluded := c.without.wallEnd(wall)
	return excluded
}
