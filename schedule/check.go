package schedule

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// Admit refuses what is a mistake in the definition of a job, and may come about by itself later, when a calendar or the rules of a
// zone change: an expression of several without a tick in the window, a window without a tick, an "@at" that is excluded. A schedule
// that [Zones.Parse] returns has been admitted; one of [Zones.Restore] may not have been. Admit does not look for a tick that exclusions
// leave.
func (s *Schedule) Admit() error {
	if s.kind != Many {
		return s.admitSingle()
	}
	for i, m := range s.members {
		if err := m.admitMember(); err != nil {
			return apierr.Indexed(err, "schedules", i)
		}
	}
	return nil
}

// admitSingle is Admit for an expression that is alone.
func (s *Schedule) admitSingle() error {
	if err := s.checkWindow(); err != nil {
		return err
	}
	return s.checkDate()
}

// admitMember refuses one of several expressions without a tick in the window, even if others have some, because it would never
// have an effect.
func (s *Schedule) admitMember() error {
	raw := s.unfiltered()
	var x Search
	if _, ok := raw.NextIn(&x, raw.from-1, raw.from); !ok {
		if err := x.Refusal(); err != nil {
			return err
		}
		return badSchedule("has no tick between starts_at and ends_at; want one that has, or none")
	}
	return s.checkDate()
}

// unfiltered returns an expression without the exclusions.
func (s *Schedule) unfiltered() *Schedule {
	raw := *s
	if raw.filter = nil; raw.cron != nil && raw.cron.without != nil {
		c := *raw.cron
		c.without = nil
		raw.cron = &c
	}
	return &raw
}

// checkDate refuses an excluded "@at".
func (s *Schedule) checkDate() error {
	if s.kind == At && s.filter != nil && s.filter.excludes(s.at) {
		return badSchedule("@at %s is excluded, so it would never run; want another time, or an exclusion that spares it", s.at)
	}
	return nil
}

// checkWindow refuses a window without a tick: it is a mistake, and the job would complete unnoticed.
func (s *Schedule) checkWindow() error {
	if s.kind != Cron || s.spec.StartsAt == 0 && s.spec.EndsAt == 0 {
		return nil
	}
	unended := s.unfiltered()
	unended.until = instant.Max
	first, ok := unended.Next(s.from-1, 0)
	switch {
	case !ok:
		return apierr.Errorf(apierr.InvalidField, "starts_at", "%s must not be after the last tick of the schedule", s.spec.StartsAt)
	case first >= s.until:
		return apierr.Errorf(apierr.InvalidField, "ends_at", "%s must be after the first tick of the schedule, which is %s", s.spec.EndsAt, first)
	}
	return nil
}

// Check looks for a tick that the window and the exclusions leave, and returns an error if there is none, and the steps that it took.
// A schedule that [Zones.Parse] returns has been checked; one of [Zones.Restore] may not have been.
func (s *Schedule) Check() (steps int, err error) {
	if s.kind == Many || s.kind != At && s.filter != nil {
		return s.checkKept()
	}
	return 0, s.admitSingle()
}

// checkKept refuses a schedule of which the window and the exclusions leave no tick. It accepts one of which it cannot say so within
// its steps: who needs a tick searches from another instant, and judges what that takes. For an @every it does not search the grid
// alone, whose anchor is known only at the registration.
func (s *Schedule) checkKept() (steps int, err error) {
	var x Search
	_, some := s.NextIn(&x, s.from-1, s.from)
	steps = x.steps
	if s.kind == Every && !some {
		x = Search{}
		some = s.leavesTime(&x, s.filter)
		steps += x.steps
	}
	switch {
	case some || x.err != nil:
		return steps, nil
	case s.filter == nil:
		return steps, badSchedule("has no tick between starts_at and ends_at; want expressions that have some")
	}
	return steps, badExclusion("leaves no tick of the schedule until %s; want exclusions that spare some", s.until)
}

// leavesTime reports whether a filter leaves any second of the window. It is the check for an @every, whose ticks
// depend on its anchor. It treats the window as if every second were a tick; an @every whose grid misses the seconds
// that are left is accepted.
func (s *Schedule) leavesTime(x *Search, f *filter) bool {
	everySecond := pattern{second: allSixty, minute: allSixty, hour: allHours, dom: 1<<32 - 2, month: 1<<13 - 2, dow: 1<<7 - 1}
	any := Schedule{kind: Cron, cron: &cron{pattern: everySecond, loc: f.loc, without: f}, filter: f, from: s.from, until: s.until}
	_, ok := any.NextIn(x, any.from-1, 0)
	return ok
}
