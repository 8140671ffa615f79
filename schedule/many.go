package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// compileMany compiles expressions joined by newlines, and returns the zone of the exclusions. Each member has the
// window of the whole, so that the members can be searched one by one.
func (z *Zones) compileMany(spec Spec) (*Schedule, *time.Location, error) {
	exprs := strings.Split(spec.Expr, "\n")
	if len(exprs) > ExpressionsMax {
		return nil, nil, apierr.Errorf(apierr.TooLarge, "schedules", "has %d entries; at most %d are allowed", len(exprs), ExpressionsMax)
	}
	s, err := newWindow(spec.StartsAt, spec.EndsAt)
	if err != nil {
		return nil, nil, err
	}
	zone, err := mergeZones(spec.Zone, "")
	if err != nil {
		return nil, nil, err
	}
	loc, err := z.load(zone)
	if err != nil {
		return nil, nil, err
	}
	s.kind, s.spec.Zone = Many, zone
	for i, expr := range exprs {
		m, err := s.compileMember(z, expr)
		if err != nil {
			return nil, nil, apierr.Indexed(err, "schedules", i)
		}
		s.members = append(s.members, m)
		exprs[i] = m.spec.Expr
	}
	s.spec.Expr = strings.Join(exprs, "\n")
	return s, loc, nil
}

// compileMember compiles one of several expressions. A zone of its own overrides that of the schedule.
func (s *Schedule) compileMember(z *Zones, expr string) (*Schedule, error) {
	spec := s.spec
	if spec.Expr = expr; hasZonePrefix(expr) {
		spec.Zone = ""
	}
	m, loc, err := z.compileOne(spec)
	if err != nil {
		return nil, err
	}
	m.spec = Spec{Expr: m.Spec().Expr}
	if m.kind == Cron && zoneName(loc) != s.spec.Zone {
		m.spec.Expr = "CRON_TZ=" + orUTC(zoneName(loc)) + " " + m.spec.Expr
	}
	return m, nil
}

// hasZonePrefix reports whether an expression begins with a zone.
func hasZonePrefix(expr string) bool {
	expr = strings.TrimLeft(expr, " \t")
	return strings.HasPrefix(expr, "CRON_TZ=") || strings.HasPrefix(expr, "TZ=")
}

// zoneName returns the name of a zone, "" for UTC.
func zoneName(loc *time.Location) string {
	if loc == nil {
		return ""
	}
	return loc.String()
}

// orUTC returns the name of a zone as a prefix needs it, which cannot be empty. A member in UTC among others needs
// a prefix too, or it would be read in the zone of the job.
func orUTC(zone string) string {
	if zone == "" {
		return "UTC"
	}
	return zone
}

// nextOfMany returns the first tick of any member after an instant and before the limit. Exclusions may make one
// member search far in vain while the next tick of another is near, so the members search one day first, and then
// longer and longer ranges. known has the next ticks of the members as far as earlier calls found them, with earlier
// instants; 0: none. It may be nil.
func (s *Schedule) nextOfMany(x *Search, after, limit instant.Millis, known []instant.Millis) (instant.Millis, bool) {
	stretch := limit - after
	if s.filter != nil {
		stretch = daySeconds * 1000
	}
	for ; x.err == nil; stretch *= 16 {
		upto := min(after+stretch, limit)
		first := upto
		for i, m := range s.members {
			// Each member searches only up to the best tick so far, which bounds the later ones.
			if tick, ok := s.nextOfMember(x, i, m, after, first, known); ok {
				first = tick
			}
		}
		switch {
		case first < upto && x.err == nil:
			return first, true
		case upto == limit:
			return 0, false
		}
	}
	return 0, false
}

// nextOfMember returns the first tick of a member after an instant and before a limit. What it finds beyond the limit it
// records as known, so that of many ticks each is searched for once.
func (s *Schedule) nextOfMember(x *Search, i int, m *Schedule, after, limit instant.Millis, known []instant.Millis) (instant.Millis, bool) {
	if known == nil {
		return m.keptBetween(x, after, limit, s.spec.StartsAt)
	}
	if known[i] <= after {
		tick, ok := instant.Millis(0), false
		if s.filter != nil {
			tick, ok = m.keptBetween(x, after, limit+1, s.spec.StartsAt)
		} else if tick, ok = m.rawNext(x, after, s.spec.StartsAt, m.until); !ok && x.err == nil {
			tick, ok = instant.Max, true // without exclusions, a search that ends has seen all
		}
		if !ok {
			return 0, false
		}
		known[i] = tick
	}
	return known[i], known[i] < limit
}

// latestOfMany returns the last tick of any member in (after, upto]. It needs no ranges as nextOfMany does, because
// latest of a member bisects.
func (s *Schedule) latestOfMany(x *Search, after, upto instant.Millis) (last instant.Millis, ok bool) {
	for _, m := range s.members {
		if tick, some := m.latest(x, after, upto, s.spec.StartsAt); some && (!ok || tick > last) {
			last, ok = tick, true
		}
	}
	return last, ok && x.err == nil
}
