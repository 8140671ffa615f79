package job

import (
	"strings"
	"time"
	"unicode/utf8"
)

// ScheduleBytesMax bounds the text of a schedule.
const ScheduleBytesMax = 256

// schedulesKept bounds each of the two generations of remembered schedules.
const schedulesKept = 4096

// ParseSchedule is that of [EmbeddedZones].
func ParseSchedule(spec Spec) (*Schedule, error) { return embeddedZones.ParseSchedule(spec) }

// ParseScheduleWith is that of [EmbeddedZones].
func ParseScheduleWith(spec Spec, calendars func(ref string) (*Calendar, bool)) (*Schedule, error) {
	return embeddedZones.ParseScheduleWith(spec, calendars)
}

// ParseSchedule compiles a schedule that refers to no calendar. The error is an [*Error]:
// [CodeInvalidSchedule] for an expression or an exclusion, [CodeInvalidTimezone] for the zone,
// [CodeInvalidField] for starts_at and ends_at, [CodeTooLarge] for too many of them; its message says
// what is wrong and what would be right. Its field is "schedule" for a single expression, and
// "schedules.0" or "exclude.0" for a member of a list. It is safe for concurrent use and quick for
// texts seen before. It never panics.
func (z *Zones) ParseSchedule(spec Spec) (*Schedule, error) {
	// One-shots are nearly all different: remembering them would only push out the others.
	if strings.HasPrefix(spec.Expr, atPrefix+" ") {
		return z.compileSchedule(spec, nil)
	}
	// Most jobs share few schedules, and a compiled one is immutable. To remember them changes the cost of
	// parsing, never its result.
	if s, ok := z.schedules.get(spec); ok {
		return s, nil
	}
	s, err := z.compileSchedule(spec, nil)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(spec.Expr, atPrefix) {
		// The caller's strings may be slices of a whole request.
		spec.Expr, spec.Zone, spec.Exclude = strings.Clone(spec.Expr), strings.Clone(spec.Zone), strings.Clone(spec.Exclude)
		z.schedules.put(spec, s)
	}
	return s, nil
}

// ParseScheduleWith compiles a schedule that may refer to calendars, which it asks for by what stands
// after "@calendar": TENANT/NAME in the spec of a definition. A schedule keeps what the calendars were
// when it was parsed. The calendars are only read, and not kept. Otherwise it is [ParseSchedule], and
// as quick for a spec without calendars; one with calendars is compiled each time.
func (z *Zones) ParseScheduleWith(spec Spec, calendars func(ref string) (*Calendar, bool)) (*Schedule, error) {
	if !spec.hasCalendars() {
		return z.ParseSchedule(spec)
	}
	return z.compileSchedule(spec, calendars)
}

func badSchedule(format string, args ...any) error {
	return Errorf(CodeInvalidSchedule, "schedule", format, args...)
}

func (z *Zones) compileSchedule(spec Spec, calendars func(ref string) (*Calendar, bool)) (*Schedule, error) {
	compile := z.compileSingle
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
	if err := s.setFilter(f); err != nil {
		return nil, err
	}
	if err := s.checkKept(f); err != nil {
		return nil, err
	}
	return s, nil
}

// compileSingle compiles the only expression of a schedule, and returns the zone of the exclusions.
func (z *Zones) compileSingle(spec Spec) (*Schedule, *time.Location, error) {
	s, loc, err := z.compileOne(spec)
	if err != nil {
		return nil, nil, err
	}
	return s, loc, s.checkWindow()
}

// compileOne compiles an expression, and returns the zone that it names or is given.
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
	case head == everyPrefix:
		err = s.compileEvery(rest)
	case head[0] == '@':
		err = s.compileMacro(expr, loc)
	default:
		err = s.compileCron(expr, loc)
	}
	return s, loc, err
}

// checkWindow refuses a window that holds no tick: it is a mistake, and the job would complete unseen.
func (s *Schedule) checkWindow() error {
	if s.kind != ScheduleCron || s.spec.StartsAt == 0 && s.spec.EndsAt == 0 {
		return nil
	}
	unended := *s
	unended.until = MillisMax
	first, ok := unended.Next(s.from-1, 0)
	switch {
	case !ok:
		return Errorf(CodeInvalidField, "starts_at", "%s must not be after the last tick of the schedule", s.spec.StartsAt)
	case first >= s.until:
		return Errorf(CodeInvalidField, "ends_at", "%s must be after the first tick of the schedule, which is %s", s.spec.EndsAt, first)
	}
	return nil
}

// newWindow returns a schedule with nothing but its window.
func newWindow(startsAt, endsAt Millis) (*Schedule, error) {
	const span = "1970-01-01T00:00:00.001Z and 9999-12-31T23:59:59.998Z"
	switch {
	case startsAt < 0 || startsAt >= MillisMax:
		return nil, Errorf(CodeInvalidField, "starts_at", "is out of range; want a time between %s, or none", span)
	case endsAt < 0 || endsAt >= MillisMax:
		return nil, Errorf(CodeInvalidField, "ends_at", "is out of range; want a time between %s, or none", span)
	case endsAt != 0 && endsAt <= startsAt:
		return nil, Errorf(CodeInvalidField, "ends_at", "%s must be after starts_at, which is %s", endsAt, startsAt)
	}
	s := &Schedule{from: max(startsAt, 1), until: endsAt}
	s.spec.StartsAt, s.spec.EndsAt = startsAt, endsAt
	if endsAt == 0 {
		s.until = MillisMax
	}
	return s, nil
}

// checkScheduleText refuses what no schedule contains, before anything looks closer.
func checkScheduleText(expr string) error {
	if len(expr) > ScheduleBytesMax {
		return badSchedule("has %d characters; at most %d are allowed", len(expr), ScheduleBytesMax)
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
		return badSchedule(`is empty; want one such as "0 8 * * 1-5", "@every 10s" or "@at 2026-12-01T08:00:00Z"`)
	}
	return nil
}
