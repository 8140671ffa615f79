package schedule

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Spec is a schedule as text. It is comparable: two jobs with equal specs have the same ticks, except for the anchor
// of an @every. The zero value is not a valid schedule. It is what is stored and interned; a [Schedule] is compiled
// from it whenever it is needed.
type Spec struct {
	Expr     string         // cron of five to seven fields, @daily and its kin, @every or @at; several are joined by newlines
	Exclude  string         // exclusions: they remove ticks of Expr; several are joined by newlines
	Zone     string         // IANA name of the timezone of cron expressions and exclusions; "" means UTC
	StartsAt instant.Millis // no tick before it; 0 means no bound
	EndsAt   instant.Millis // no tick at or after it; 0 means no bound
}

// Calendars returns the calendars to which the exclusions refer, in order: as TENANT/NAME if the spec is that of a
// definition. The caller owns the slice; it is nil if there are no calendars.
func (s Spec) Calendars() []string {
	if !s.hasCalendars() {
		return nil
	}
	var refs []string
	for line := range strings.SplitSeq(s.Exclude, "\n") {
		if ref, ok := CutCalendar(line); ok && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// hasCalendars is fast. It may return true for a spec without calendars, never false for one with calendars.
func (s Spec) hasCalendars() bool { return strings.Contains(s.Exclude, CalendarPrefix) }

// Kind is the form of a schedule. Zero is none.
type Kind uint8

// The kinds of schedule.
const (
	At    Kind = iota + 1 // one tick
	Every                 // ticks at a fixed distance, from an anchor
	Cron                  // ticks where the wall clock of a zone matches
	Many                  // ticks of several expressions of any kind; equal ticks are one
)

// Schedule is a compiled [Spec]: a set of instants, its ticks. They lie after 1970-01-01 and before [instant.Max].
// [Parse] returns one; the zero value has no tick. It is immutable, and safe for concurrent use. Ticks are whole
// milliseconds. The window [from, until) is part of it, so a caller need not compare with starts_at and ends_at.
type Schedule struct {
	spec Spec // canonical, but Expr is "" for a one-shot, whose text is made on demand
	// kind decides which of the next four fields is set.
	kind     Kind
	at       instant.Millis // one-shot only
	interval instant.Millis // every only: a duration
	cron     *cron          // cron only
	members  []*Schedule    // many only: one for each expression, with the same window and filter
	filter   *filter        // exclusions; nil means none
	from     instant.Millis // no tick before it; at least 1
	until    instant.Millis // no tick at or after it
}

// Excludes reports whether the schedule has exclusions.
func (s *Schedule) Excludes() bool { return s.filter != nil }

// Kind returns the form of the schedule.
func (s *Schedule) Kind() Kind { return s.kind }

// Spec returns the canonical text of the schedule, which parses to an equal schedule: the CRON_TZ= prefix is moved to
// Zone, names are numbers, the @daily family is written as fields, whitespace is single, and Zone is "" where it has
// no effect (UTC, and @every and @at without exclusions). With several expressions, those in another zone than Zone
// keep the prefix.
func (s *Schedule) Spec() Spec {
	spec := s.spec
	if s.kind == At {
		spec.Expr = atPrefix + " " + s.at.String()
	}
	return spec
}

// Interval returns the distance between the ticks of an @every; 0 for any other kind.
func (s *Schedule) Interval() time.Duration { return time.Duration(s.interval) * time.Millisecond }

// At returns the tick of a one-shot; 0 for any other kind.
func (s *Schedule) At() instant.Millis { return s.at }

// Next returns the first tick strictly after the given instant, or false if there is none. It is monotone: a later
// instant never gives an earlier tick. anchor is any instant on the grid of an @every and is ignored for the other
// kinds: an @every among several expressions counts from starts_at, or from 1970-01-01T00:00:00Z. Next does not
// allocate. The monotony is what lets Latest bisect. A search that takes more than [StepsMax] steps has found none; a
// caller for which that is not the same asks NextIn.
func (s *Schedule) Next(after, anchor instant.Millis) (instant.Millis, bool) {
	var x Search
	return s.NextIn(&x, after, anchor)
}

// NextIn is Next, with its steps counted. If it returns false, x.Err says whether the search gave up.
func (s *Schedule) NextIn(x *Search, after, anchor instant.Millis) (instant.Millis, bool) {
	if !x.begin(StepsMax) {
		return 0, false
	}
	return s.next(x, after, anchor, nil)
}

// next is NextIn within a search that has begun. known is as in nextOfMany.
func (s *Schedule) next(x *Search, after, anchor instant.Millis, known []instant.Millis) (instant.Millis, bool) {
	after = max(after, s.from-1)
	if after >= s.until-1 {
		return 0, false
	}
	if s.kind == Many {
		return s.nextOfMany(x, after, s.until, known)
	}
	if s.filter != nil {
		return s.keptBetween(x, after, s.until, anchor)
	}
	tick, ok := s.rawNext(x, after, anchor, s.until)
	if !ok || tick >= s.until {
		return 0, false
	}
	return tick, true
}

// rawNext returns the first tick after an instant, without applying the filter unless there are several expressions.
// It need not find a tick at or after the limit. It may return one beyond the limit, which the caller must check.
func (s *Schedule) rawNext(x *Search, after, anchor, limit instant.Millis) (instant.Millis, bool) {
	switch s.kind {
	case At:
		return s.at, s.at > after
	case Every:
		return nextOnGrid(after, anchor, s.interval), true
	case Cron:
		return s.cron.after(x, after, limit)
	case Many:
		return s.nextOfMany(x, after, limit, nil)
	}
	return 0, false
}

// Latest returns the last tick in (after, upto], or false if there is none. It costs at most about fifty times as
// much as Next, however large the range is.
func (s *Schedule) Latest(after, upto, anchor instant.Millis) (instant.Millis, bool) {
	var x Search
	return s.LatestIn(&x, after, upto, anchor)
}

// LatestIn is Latest, with its steps counted. If it returns false, x.Err says whether the search gave up.
func (s *Schedule) LatestIn(x *Search, after, upto, anchor instant.Millis) (instant.Millis, bool) {
	if !x.begin(latestStepsMax) {
		return 0, false
	}
	return s.latest(x, after, upto, anchor)
}

// latest is LatestIn within a search that has begun.
func (s *Schedule) latest(x *Search, after, upto, anchor instant.Millis) (instant.Millis, bool) {
	after, upto = max(after, s.from-1), min(upto, s.until-1)
	if upto <= after {
		return 0, false
	}
	tick, ok := s.rawLatest(x, after, upto, anchor)
	if s.filter != nil && s.kind != Many && ok {
		return s.latestKept(x, after, tick, anchor)
	}
	return tick, ok
}

// rawLatest is Latest without the window and, unless there are several expressions, without the filter.
func (s *Schedule) rawLatest(x *Search, after, upto, anchor instant.Millis) (instant.Millis, bool) {
	switch s.kind {
	case At:
		return s.at, s.at > after && s.at <= upto
	case Every:
		tick := latestOnGrid(upto, anchor, s.interval)
		return tick, tick > after
	case Cron:
		return s.cron.latest(x, after, upto)
	case Many:
		return s.latestOfMany(x, after, upto)
	}
	return 0, false
}
