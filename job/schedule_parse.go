package job

import (
	"strings"
	"unicode/utf8"
)

// ScheduleBytesMax bounds the text of a schedule.
const ScheduleBytesMax = 256

// schedulesKept bounds each of the two generations of remembered schedules.
const schedulesKept = 4096

// schedules remembers what texts compiled to: most jobs share few schedules, and a compiled one is
// immutable. It changes the cost of parsing, never its result.
var schedules = newIntern[Spec, *Schedule](schedulesKept)

// ParseSchedule compiles a schedule. The error is an [*Error]: [CodeInvalidSchedule] for the
// expression, [CodeInvalidTimezone] for the zone, [CodeInvalidField] for starts_at and ends_at; its
// message says what is wrong and what would be right. It is safe for concurrent use and quick for
// texts seen before. It never panics.
func ParseSchedule(spec Spec) (*Schedule, error) {
	// One-shots are nearly all different: remembering them would only push out the others.
	if strings.HasPrefix(spec.Expr, atPrefix+" ") {
		return compileSchedule(spec)
	}
	if s, ok := schedules.get(spec); ok {
		return s, nil
	}
	s, err := compileSchedule(spec)
	if err != nil {
		return nil, err
	}
	if s.kind != ScheduleAt {
		// The caller's strings may be slices of a whole request.
		spec.Expr, spec.Zone = strings.Clone(spec.Expr), strings.Clone(spec.Zone)
		schedules.put(spec, s)
	}
	return s, nil
}

func badSchedule(format string, args ...any) error {
	return Errorf(CodeInvalidSchedule, "schedule", format, args...)
}

func compileSchedule(spec Spec) (*Schedule, error) {
	if err := checkScheduleText(spec.Expr); err != nil {
		return nil, err
	}
	s, err := newWindow(spec.StartsAt, spec.EndsAt)
	if err != nil {
		return nil, err
	}
	prefix, expr, err := cutZonePrefix(spec.Expr)
	if err != nil {
		return nil, err
	}
	name, err := mergeZones(spec.Zone, prefix)
	if err != nil {
		return nil, err
	}
	loc, err := loadZone(name)
	if err != nil {
		return nil, err
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
	if err != nil {
		return nil, err
	}
	return s, nil
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
