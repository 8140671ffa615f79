package schedule

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// ExprBytesMax bounds the text of a schedule. It holds several times the longest expression in use, and bounds the
// cost of parsing.
const ExprBytesMax = 256

// schedulesKept bounds each of the two generations of cached schedules. A larger cache costs memory in every process;
// a smaller one makes the compilation of all jobs at a start slower.
const schedulesKept = 4096

// Parse is [Zones.Parse] with [EmbeddedZones].
func Parse(spec Spec) (*Schedule, error) { return embeddedZones.Parse(spec) }

// ParseWith is [Zones.ParseWith] with [EmbeddedZones].
func ParseWith(spec Spec, calendars CalendarLookup) (*Schedule, error) {
	return embeddedZones.ParseWith(spec, calendars)
}

// Parse compiles a schedule that refers to no calendar. The error is an [*apierr.Error] with the code
// [apierr.InvalidSchedule] for an expression or an exclusion, [apierr.InvalidTimezone] for the zone,
// [apierr.InvalidField] for starts_at and ends_at, or [apierr.TooLarge] for too many expressions; its message says
// what is wrong and what would be right. Its field is "schedule" for a single expression, and "schedules.0" or
// "exclude.0" for a member of a list. Parse is safe for concurrent use, fast for texts seen before, and never panics.
func (z *Zones) Parse(spec Spec) (*Schedule, error) {
	// One-shots are nearly all different: caching them would only displace the others.
	if strings.HasPrefix(spec.Expr, atPrefix+" ") {
		return z.compileSchedule(spec, nil)
	}
	// Most jobs share few schedules, and a compiled one is immutable. The cache changes the cost of parsing, never
	// its result.
	if s, ok := z.schedules.get(spec); ok {
		return s, nil
	}
	s, err := z.compileSchedule(spec, nil)
	if err != nil {
		return nil, err
	}
	// A list with a one-shot in it is as particular as a one-shot alone.
	if !strings.Contains(spec.Expr, atPrefix) {
		// The caller's strings may be slices of a whole request.
		spec.Expr, spec.Zone, spec.Exclude = strings.Clone(spec.Expr), strings.Clone(spec.Zone), strings.Clone(spec.Exclude)
		z.schedules.put(spec, s)
	}
	return s, nil
}

// ParseWith compiles a schedule that may refer to calendars. It asks calendars for them by the text after
// "@calendar": TENANT/NAME in the spec of a definition. The schedule has the content of the calendars at the time of
// the call; calendars itself is not kept. Otherwise ParseWith is like [Parse], and as fast for a spec without
// calendars; one with calendars is compiled each time.
func (z *Zones) ParseWith(spec Spec, calendars CalendarLookup) (*Schedule, error) {
	if !spec.hasCalendars() {
		return z.Parse(spec)
	}
	return z.compileSchedule(spec, calendars)
}

// Restore compiles a schedule that was accepted before. Its calendars and the rules of its zones may have changed since, so that
// some of its expressions have no tick any more: the others go on. A caller that needs to know whether any tick is left asks
// [Schedule.Check], and one that gives the schedule to a job [Schedule.Admit]. Restore does not search for a tick that exclusions leave,
// so it takes as long as the text is. Otherwise it is like ParseWith.
func (z *Zones) Restore(spec Spec, calendars CalendarLookup) (*Schedule, error) {
	if spec.Exclude == "" {
		if s, err := z.Parse(spec); err == nil {
			return s, nil
		}
	} else if s, ok := z.schedules.get(spec); ok {
		return s, nil
	}
	return z.compileUnchecked(spec, calendars)
}

// badSchedule returns the error of an expression. For a member of a list its field is replaced by the member's place.
func badSchedule(format string, args ...any) error {
	return apierr.Errorf(apierr.InvalidSchedule, "schedule", format, args...)
}

// compileSchedule compiles a spec without asking the cache, and refuses exclusions that leave nothing.
func (z *Zones) compileSchedule(spec Spec, calendars CalendarLookup) (*Schedule, error) {
	s, err := z.compileUnchecked(spec, calendars)
	if err != nil {
		return nil, err
	}
	if err := s.Admit(); err != nil {
		return nil, err
	}
	if _, err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// compileUnchecked compiles a spec. The exclusions come last, because they are read in the zone that the expression
// names.
func (z *Zones) compileUnchecked(spec Spec, calendars CalendarLookup) (*Schedule, error) {
	compile := z.compileOne
	if strings.IndexByte(spec.Expr, '\n') >= 0 {
		compile = z.compileMany
	}
	s, loc, err := compile(spec)
	if err != nil {
		return nil, err
	}
	if spec.Exclude == "" {
		return s, nil
	}
	f, text, err := newFilter(spec.Exclude, loc, calendars)
	if err != nil {
		return nil, err
	}
	s.spec.Exclude, s.spec.Zone = text, zoneName(loc)
	s.setFilter(f)
	return s, nil
}

// compileOne compiles an expression, and returns the zone that it names or is given. The result has no exclusions,
// and its window is not checked.
func (z *Zones) compileOne(spec Spec) (*Schedule, *time.Location, error) {
	if err := checkScheduleText(spec.Expr); err != nil {
		return nil, nil, err
	}
	s, err := newWindow(spec.StartsAt, spec.EndsAt)
	if err != nil {
		return nil, nil, err
	}
	prefix, expr, err := cutZonePrefix(spec.Expr)
	if err != nil {
		return nil, nil, err
	}
	name, err := mergeZones(spec.Zone, prefix)
	if err != nil {
		return nil, nil, err
	}
	loc, err := z.load(name)
	if err != nil {
		return nil, nil, err
	}
	head, rest, _ := strings.Cut(expr, " ")
	rest = strings.TrimLeft(rest, " ")
	switch {
	case head == atPrefix:
		err = s.compileAt(rest)
	case head == inPrefix:
		err = badSchedule("@in counts from the moment at which a server accepts the job, and there is none here; want @at with a time")
	case head == everyPrefix:
		err = s.compileEvery(rest)
	// head is not empty: a blank text has been refused.
	case head[0] == '@':
		err = s.compileMacro(expr, loc)
	default:
		err = s.compileCron(expr, loc)
	}
	return s, loc, err
}

// newWindow returns a schedule that has only its window. from and until replace zero by the bounds of time, so that a
// search compares and has no special case.
func newWindow(startsAt, endsAt instant.Millis) (*Schedule, error) {
	const span = "1970-01-01T00:00:00.001Z and 9999-12-31T23:59:59.998Z"
	switch {
	case startsAt < 0 || startsAt >= instant.Max:
		return nil, apierr.Errorf(apierr.InvalidField, "starts_at", "is out of range; want a time between %s, or none", span)
	case endsAt < 0 || endsAt >= instant.Max:
		return nil, apierr.Errorf(apierr.InvalidField, "ends_at", "is out of range; want a time between %s, or none", span)
	case endsAt != 0 && endsAt <= startsAt:
		return nil, apierr.Errorf(apierr.InvalidField, "ends_at", "%s must be after starts_at, which is %s", endsAt, startsAt)
	}
	s := &Schedule{from: max(startsAt, 1), until: endsAt}
	s.spec.StartsAt, s.spec.EndsAt = startsAt, endsAt
	if endsAt == 0 {
		s.until = instant.Max
	}
	return s, nil
}

// checkScheduleText refuses texts that no schedule can contain, before they are parsed.
func checkScheduleText(expr string) error {
	if len(expr) > ExprBytesMax {
		return badSchedule("has %d characters; at most %d are allowed", len(expr), ExprBytesMax)
	}
	blank := true
	for i := range len(expr) {
		c := expr[i]
		if c >= 0x7f || c < ' ' && c != '\t' {
			r, _ := utf8.DecodeRuneInString(expr[i:])
			return badSchedule("has %q at position %d; want plain ASCII on one line", r, i+1)
		}
		blank = blank && (c == ' ' || c == '\t')
	}
	if blank {
		return badSchedule(`is empty; want one such as "0 8 * * 1-5", "@every 10s", "@in 10m" or "@at 2026-12-01T08:00:00Z"`)
	}
	return nil
}
