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

// compileMember compiles one of several expressions. A zone of its own overrides that of the schedule. A member
// without a tick is refused even if others have some, because it would never have an effect.
func (s *Schedule) compileMember(z *Zones, expr string) (*Schedule, error) {
	spec := s.spec
	if spec.Expr = expr; hasZonePrefix(expr) {
		spec.Zone = ""
	}
	m, loc, err := z.compileOne(spec)
	if err != nil {
		return nil, err
	}
	if _, ok := m.Next(m.from-1, m.from); !ok {
		return nil, badSchedule("has no tick between starts_at and ends_at; want one that has, or none")
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
// longer and longer ranges.
func (s *Schedule) nextOfMany(after, limit instant.Millis) (instant.Millis, bool) {
	stretch := limit - after
	if s.filter != nil {
		stretch = daySeconds * 1000
	}
	for ; ; stretch *= 16 {
		upto := min(after+stretch, limit)
		first := upto
		for _, m := range s.members {
			// Each member searches only up to the best tick so far, which bounds the later ones.
			if tick, ok := m.keptBetween(after, first, s.spec.StartsAt); ok {
				first = tick
			}
		}
		if first < upto || upto == limit {
			return first, first < upto
		}
	}
}

// latestOfMany returns the last tick of any member in (after, upto]. It needs no ranges as nextOfMany does, because
// Latest of a member bisects.
func (s *Schedule) latestOfMany(after, upto instant.Millis) (last instant.Millis, ok bool) {
	for _, m := range s.members {
		if tick, some := m.Latest(after, upto, s.spec.StartsAt); some && (!ok || tick > last) {
			last, ok = tick, true
		}
	}
	return last, ok
}
