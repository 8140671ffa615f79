package schedule

import (
	"math/bits"
	"sort"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// span is a range of numbers; end is excluded.
type span struct{ from, end int64 }

// exclusions are parsed lines. They are independent of zones, shared by all schedules with the same lines, and
// immutable once sealed. The spans are then sorted and disjoint. Only seal may change them, once, before they are
// shared.
type exclusions struct {
	days  []span // whole days of the wall clock, counted from the Unix epoch
	spans []span // instants, in milliseconds
	// crons exclude every second that they match, by the wall clock of the filter's zone.
	crons []pattern
}

// seal sorts and joins the spans. A lookup can then bisect, and a run of adjacent lines is jumped over at once.
func (x *exclusions) seal() {
	x.days, x.spans = joinSpans(x.days), joinSpans(x.spans)
}

// joinSpans sorts spans and joins those that touch or overlap. It works in place. A span that touches the next one
// is joined with it, so that one lookup finds the end of both.
func joinSpans(spans []span) []span {
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.from <= joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// endOfSpan returns the end of the span that contains a number; false if none does.
func endOfSpan(spans []span, n int64) (end int64, ok bool) {
	if i := spanAfter(spans, n); i < len(spans) && spans[i].from <= n {
		return spans[i].end, true
	}
	return 0, false
}

// spanAfter returns the index of the first span that ends after a number.
func spanAfter(spans []span, n int64) int {
	low, high := 0, len(spans)
	for low < high {
		if middle := (low + high) / 2; spans[middle].end > n {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// filter is everything that a schedule excludes: its own lines and those of its calendars, in its zone. A tick is
// excluded if its instant is in a span, or if the wall clock shows an excluded day or time. It is immutable once its
// schedule is shared. crons points into the parts, so that a search visits one list.
type filter struct {
	loc *time.Location // nil means UTC
	// parts begin with the schedule's own lines; a calendar that several lines name is in it once.
	parts []*exclusions
	crons []*pattern // of all parts; at most ExcludeCronsMax
	// hasYears is true if one of crons has years, so that months of different years differ.
	hasYears bool
}

// endOf reports whether an instant is excluded, and returns a later instant up to which all are. It looks no further
// than the end of the month or of the zone's period, so it is cheap. p is a period that was found before, or zero; it
// is replaced by that of the instant. The end is a lower bound of what is excluded: the caller asks again from there.
// The time from there on may be excluded too.
func (f *filter) endOf(at instant.Millis, p *period) (end instant.Millis, excluded bool) {
	for _, part := range f.parts {
		if end, ok := endOfSpan(part.spans, int64(at)); ok {
			return instant.Millis(end), true
		}
	}
	sec := floorDiv(int64(at), 1000)
	if sec < p.start || sec >= p.end {
		*p = f.periodAt(sec)
	}
	wall, excluded := f.wallEnd(sec + p.offset)
	return instant.Millis(min(wall-p.offset, p.end)) * 1000, excluded
}

// steps returns what endOf takes, in steps.
func (f *filter) steps() int { return periodSteps + len(f.parts) + len(f.crons) }

// periodAt returns the period of the filter's zone that contains an instant; in UTC, all of time is one.
func (f *filter) periodAt(sec int64) period {
	if f.loc == nil {
		return period{start: -endless, end: endless}
	}
	return periodAt(f.loc, sec)
}

// excludes reports whether an instant is excluded. A nil filter excludes nothing. For a series of instants, endOf is
// cheaper, because it keeps the period.
func (f *filter) excludes(at instant.Millis) bool {
	if f == nil {
		return false
	}
	_, excluded := f.endOf(at, &period{})
	return excluded
}

// wallEnd is endOf for a wall time. The end of a time that is not excluded is that time. It visits expressions one
// by one and stops at the first that excludes the time, although another may exclude more: the caller asks again
// from the end that it returns.
func (f *filter) wallEnd(wall int64) (end int64, excluded bool) {
	day := floorDiv(wall, daySeconds)
	for _, part := range f.parts {
		if end, ok := endOfSpan(part.days, day); ok {
			return end * daySeconds, true
		}
	}
	if len(f.crons) == 0 {
		return wall, false
	}
	m, dom := monthAt(day)
	sec := int(wall - day*daySeconds)
	for _, c := range f.crons {
		if days := c.days(&m) >> dom; days&1 != 0 && c.hasTime(sec) {
			return wall + int64(c.run(sec, days)), true
		}
	}
	return wall, false
}

// Bits of fields that match all seconds, all minutes, all hours.
const (
	allSixty = 1<<60 - 1
	allHours = 1<<24 - 1
)

// hasTime reports whether a second of a day matches the time of day.
func (p *pattern) hasTime(sec int) bool {
	return p.hour>>(sec/3600)&1 != 0 && p.minute>>(sec/60%60)&1 != 0 && p.second>>(sec%60)&1 != 0
}

// run returns for how many seconds the pattern continues without a break, from a matching second of a day. Bit n of
// days is the n-th day from then on. The result is a lower bound: it may stop at the end of a minute, an hour or a
// day.
func (p *pattern) run(sec int, days uint32) int {
	switch {
	case p.second != allSixty:
		return bits.TrailingZeros64(^(p.second >> (sec % 60)))
	case p.minute != allSixty:
		return bits.TrailingZeros64(^(p.minute>>(sec/60%60)))*60 - sec%60
	case p.hour != allHours:
		return bits.TrailingZeros32(^(p.hour>>(sec/3600)))*3600 - sec%3600
	}
	return bits.TrailingZeros32(^days)*daySeconds - sec
}
