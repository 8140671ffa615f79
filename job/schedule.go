package job

import "time"

// Spec is a schedule as text. It is comparable: two jobs with equal specs tick alike, apart from the
// anchor of an @every. The zero value is no schedule.
type Spec struct {
	Expr     string // cron of five or six fields, @daily and its kin, @every or @at
	Zone     string // IANA name of the timezone that a cron expression is read in; "" is UTC
	StartsAt Millis // no tick before it; 0 is none
	EndsAt   Millis // no tick at or after it; 0 is none
}

// ScheduleKind tells the three shapes of a schedule apart. Zero is no schedule.
type ScheduleKind uint8

// The kinds of schedule.
const (
	ScheduleAt    ScheduleKind = iota + 1 // one tick
	ScheduleEvery                         // ticks at a fixed distance, from an anchor
	ScheduleCron                          // ticks where the wall clock of a zone matches
)

// Schedule is a compiled [Spec]: a set of instants, its ticks. Ticks lie after 1970-01-01 and before
// [MillisMax]. [ParseSchedule] makes one; the zero value has no tick. It is immutable, and safe for
// concurrent use.
type Schedule struct {
	spec     Spec // canonical, but Expr is "" for a one-shot: its text is made when asked for
	kind     ScheduleKind
	at       Millis // one-shot only
	interval Millis // every only: a length
	cron     *cron  // cron only
	from     Millis // no tick before it, at least 1
	until    Millis // no tick at or after it
}

// Kind returns the shape of the schedule.
func (s *Schedule) Kind() ScheduleKind { return s.kind }

// Spec returns the canonical text of the schedule, which parses to an equal schedule: the CRON_TZ=
// prefix is moved to Zone, names are numbers, the @daily family is fields, whitespace is single, and
// Zone is "" where it says nothing (UTC, @every, @at).
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
// looked at for the other kinds. Next does not allocate.
func (s *Schedule) Next(after, anchor Millis) (Millis, bool) {
	after = max(after, s.from-1)
	if after >= s.until-1 {
		return 0, false
	}
	var tick Millis
	var ok bool
	switch s.kind {
	case ScheduleAt:
		tick, ok = s.at, s.at > after
	case ScheduleEvery:
		tick, ok = nextOnGrid(after, anchor, s.interval), true
	case ScheduleCron:
		tick, ok = s.cron.after(after)
	}
	if !ok || tick >= s.until {
		return 0, false
	}
	return tick, true
}

// Latest returns the last tick that is after the first instant and not after the second, or false if
// there is none. It costs at most about forty times as much as Next, however far apart they are.
func (s *Schedule) Latest(after, upto, anchor Millis) (Millis, bool) {
	after, upto = max(after, s.from-1), min(upto, s.until-1)
	if upto <= after {
		return 0, false
	}
	switch s.kind {
	case ScheduleAt:
		return s.at, s.at > after && s.at <= upto
	case ScheduleEvery:
		tick := latestOnGrid(upto, anchor, s.interval)
		return tick, tick > after
	case ScheduleCron:
		return s.cron.latest(after, upto)
	}
	return 0, false
}
