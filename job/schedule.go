package job

import (
	"slices"
	"strings"
	"time"
)

// Spec is a schedule as text. It is comparable: two jobs with equal specs tick alike, apart from the
// anchor of an @every. The zero value is no schedule.
type Spec struct {
	Expr     string // cron of five to seven fields, @daily and its kin, @every or @at; several are joined by newlines
	Exclude  string // what is no tick although Expr has it; several are joined by newlines
	Zone     string // IANA name of the timezone that cron expressions and exclusions are read in; "" is UTC
	StartsAt Millis // no tick before it; 0 is none
	EndsAt   Millis // no tick at or after it; 0 is none
}

// Calendars returns the calendars that the exclusions refer to, in their order: as TENANT/NAME if the
// spec is that of a definition. The slice is the caller's; without calendars it is nil.
func (s Spec) Calendars() []string {
	if !s.hasCalendars() {
		return nil
	}
	var refs []string
	for line := range strings.SplitSeq(s.Exclude, "\n") {
		if ref, ok := cutCalendar(line); ok && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// hasCalendars is quick, and true at least where there are any.
func (s Spec) hasCalendars() bool { return strings.Contains(s.Exclude, calendarPrefix) }

// ScheduleKind tells the shapes of a schedule apart. Zero is no schedule.
type ScheduleKind uint8

// The kinds of schedule.
const (
	ScheduleAt    ScheduleKind = iota + 1 // one tick
	ScheduleEvery                         // ticks at a fixed distance, from an anchor
	ScheduleCron                          // ticks where the wall clock of a zone matches
	ScheduleMany                          // ticks of several expressions of any kind; equal ones are one
)

// Schedule is a compiled [Spec]: a set of instants, its ticks. Ticks lie after 1970-01-01 and before
// [MillisMax]. [ParseSchedule] makes one; the zero value has no tick. It is immutable, and safe for
// concurrent use.
type Schedule struct {
	spec     Spec // canonical, but Expr is "" for a one-shot: its text is made when asked for
	kind     ScheduleKind
	at       Millis      // one-shot only
	interval Millis      // every only: a length
	cron     *cron       // cron only
	members  []*Schedule // many only: one for each expression, with the same window and filter
	filter   *filter     // what is left out; nil is nothing
	from     Millis      // no tick before it, at least 1
	until    Millis      // no tick at or after it
}

// Kind returns the shape of the schedule.
func (s *Schedule) Kind() ScheduleKind { return s.kind }

// Spec returns the canonical text of the schedule, which parses to an equal schedule: the CRON_TZ=
// prefix is moved to Zone, names are numbers, the @daily family is fields, whitespace is single, and
// Zone is "" where it says nothing (UTC, and @every and @at without exclusions). Of several expressions
// those in another zone than Zone keep the prefix.
func (s *Schedule) Spec() Spec {
	spec := s.spec
	if s.kind == ScheduleAt {
		spec.Expr = atPrefix + " " + s.at.String()
	}
	return spec
}

// Interval returns the distance between the ticks of an @every, and 0 for any other kind.
func (s *Schedule) Interval() time.Duration { return time.Duration(s.interval) * time.Millisecond }

// At returns the tick of a one-shot, and 0 for any other kind.
func (s *Schedule) At() Millis { return s.at }

// Next returns the first tick strictly after the given instant, or false if there is none. A later
// instant never gives an earlier tick. The anchor is any instant on the grid of an @every, and is not
// looked at for the other kinds: an @every among several expressions counts from starts_at, or from
// 1970-01-01T00:00:00Z. Next does not allocate.
func (s *Schedule) Next(after, anchor Millis) (Millis, bool) {
	after = max(after, s.from-1)
	if after >= s.until-1 {
		return 0, false
	}
	if s.filter != nil {
		return s.keptBetween(after, s.until, anchor)
	}
	tick, ok := s.rawNext(after, anchor, s.until)
	if !ok || tick >= s.until {
		return 0, false
	}
	return tick, true
}

// rawNext returns the first tick after an instant, of which the filter is still to be asked unless there
// are several expressions. It need not find one at or after the limit.
func (s *Schedule) rawNext(after, anchor, limit Millis) (Millis, bool) {
	switch s.kind {
	case ScheduleAt:
		return s.at, s.at > after
	case ScheduleEvery:
		return nextOnGrid(after, anchor, s.interval), true
	case ScheduleCron:
		return s.cron.after(after, limit)
	case ScheduleMany:
		return s.nextOfMany(after, limit)
	}
	return 0, false
}

// Latest returns the last tick that is after the first instant and not after the second, or false if
// there is none. It costs at most about fifty times as much as Next, however far apart they are.
func (s *Schedule) Latest(after, upto, anchor Millis) (Millis, bool) {
	after, upto = max(after, s.from-1), min(upto, s.until-1)
	if upto <= after {
		return 0, false
	}
	tick, ok := s.rawLatest(after, upto, anchor)
	if s.filter != nil && s.kind != ScheduleMany && ok {
		return s.latestKept(after, tick, anchor)
	}
	return tick, ok
}

func (s *Schedule) rawLatest(after, upto, anchor Millis) (Millis, bool) {
	switch s.kind {
	case ScheduleAt:
		return s.at, s.at > after && s.at <= upto
	case ScheduleEvery:
		tick := latestOnGrid(upto, anchor, s.interval)
		return tick, tick > after
	case ScheduleCron:
		return s.cron.latest(after, upto)
	case ScheduleMany:
		return s.latestOfMany(after, upto)
	}
	return 0, false
}
