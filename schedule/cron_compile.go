package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	robfig "github.com/robfig/cron/v3"

	"github.com/carillon-io/carillon/apierr"
)

// cronMacros are the named schedules and the fields for which they stand. All of them are fixed schedules except
// @hourly, whose hour is a star.
var cronMacros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// cronParser converts fields into bits, and does nothing else. It validates too little, so it gets only normalised
// text; and it is wrong around changes of the clock, so it evaluates nothing. Beside a brute-force search its own
// search misses and doubles ticks around such changes; docs/adr/0005 has the comparison.
var cronParser = robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

// compileMacro compiles a named schedule as the fields for which it stands, so that both spellings have the same
// canonical form.
func (s *Schedule) compileMacro(text string, loc *time.Location) error {
	if fields, ok := cronMacros[text]; ok {
		return s.compileCron(fields, loc)
	}
	if strings.HasPrefix(text, "@reboot") {
		return badSchedule("@reboot is not supported: there is no boot to wait for; want @at with a time to run once, or trigger the job")
	}
	return badSchedule("%q is unknown; want @yearly, @monthly, @weekly, @daily, @hourly, @every 10s, @in 10m or @at 2026-12-01T08:00:00Z", apierr.Clip(text))
}

// compileCron compiles a cron expression in a zone; nil means UTC. Whether it is fixed depends on how the fields are
// written: * and 0-59 match the same minutes and differ at clock changes, as they do in ISC cron.
func (s *Schedule) compileCron(text string, loc *time.Location) error {
	fields, pattern, err := parseCron(text)
	if err != nil {
		return err
	}
	fixed := fields[fieldMinute][0] != '*' && fields[fieldHour][0] != '*'
	s.kind, s.cron = Cron, &cron{pattern: pattern, fixed: fixed, loc: loc}
	s.spec.Expr = joinFields(fields)
	if loc != nil {
		s.spec.Zone = loc.String()
	}
	return nil
}

// parseCron parses an expression. It returns its normalised fields and the pattern that they match. A pattern that
// never matches is refused, because the job would complete without a run and without a sign of why.
func parseCron(text string) (fields cronText, p pattern, err error) {
	if fields, err = splitFields(text); err != nil {
		return fields, p, err
	}
	for i := range fields {
		if fields[i], err = cronFields[i].normalise(fields[i]); err != nil {
			return fields, p, err
		}
	}
	if p, err = parsePattern(fields); err != nil {
		return fields, p, err
	}
	if _, ok := p.next(&Search{}, 0); !ok {
		return fields, p, badSchedule("never runs: no date has the day, month, weekday and year of %q; want days that exist, such as L 2 for the end of February", apierr.Clip(text))
	}
	return fields, p, nil
}

// splitFields returns the seven fields of an expression. A question mark means a star, in whichever field it
// stands.
func splitFields(text string) (fields cronText, err error) {
	words := strings.Fields(strings.ReplaceAll(text, "?", "*"))
	fields[fieldSecond], fields[fieldYear] = "0", "*"
	switch len(words) {
	case 6, 7:
		copy(fields[:], words)
		return fields, nil
	case 5:
		copy(fields[fieldMinute:], words)
		return fields, nil
	case 1:
		if _, err := time.ParseDuration(text); err == nil {
			return fields, badSchedule("%q is no schedule; want @every %s", apierr.Clip(text), apierr.Clip(text))
		}
		if _, err := time.Parse(time.RFC3339, text); err == nil {
			return fields, badSchedule("%q is no schedule; want @at %s", apierr.Clip(text), apierr.Clip(text))
		}
	}
	return fields, badSchedule("has the wrong number of fields, %d; want 5 (minute, hour, day of month, month, day of week), 6 (a second first) or 7 (a year last too)", len(words))
}

// joinFields returns the canonical expression. A second of 0 and every year are left out, as long as the number of
// fields still says which they are. The result has five, six or seven fields and parses to the same schedule.
func joinFields(fields cronText) string {
	switch {
	case fields[fieldYear] != "*":
		return strings.Join(fields[:], " ")
	case fields[fieldSecond] != "0":
		return strings.Join(fields[:fieldYear], " ")
	}
	return strings.Join(fields[fieldMinute:fieldYear], " ")
}

// parsePattern converts normalised fields into a pattern. The parser does not see the parts that it does not know:
// the moving items of the day fields, and the year. The star bit is removed, because whether a field is a star is
// read from its text.
func parsePattern(fields cronText) (pattern, error) {
	const starBit = 1 << 63 // the parser's own mark, which it does not set for */n
	dates, movingDates := cutMoving(fields[fieldDom])
	weekdays, movingWeekdays := cutMoving(fields[fieldDow])
	plain := fields
	plain[fieldDom], plain[fieldDow] = orStar(dates), orStar(weekdays)
	parsed, err := parseBits(strings.Join(plain[:fieldYear], " "))
	if err != nil {
		return pattern{}, badSchedule("%q is not understood; want fields such as 0 8 * * 1-5", apierr.Clip(joinFields(fields)))
	}
	p := pattern{
		second: parsed.Second &^ starBit,
		minute: parsed.Minute &^ starBit,
		hour:   uint32(parsed.Hour &^ starBit),
		month:  uint32(parsed.Month &^ starBit),
		either: fields[fieldDom][0] != '*' && fields[fieldDow][0] != '*',
		moving: newMovingDays(movingDates, movingWeekdays),
	}
	// A field of moving items only has no plain days: the star that stood in for them must not match every day.
	if dates != "" {
		p.dom = uint32(parsed.Dom &^ starBit)
	}
	if weekdays != "" {
		p.dow = parsed.Dow &^ starBit
	}
	p.years, err = parseYears(fields[fieldYear])
	return p, err
}

// orStar returns the field, or a star instead of an empty one. The parser accepts no empty field; parsePattern
// ignores what it returns for one.
func orStar(field string) string {
	if field == "" {
		return "*"
	}
	return field
}

// parseBits calls the parser, which panics on some malformed texts. None of those should get here; if one does, the
// panic becomes an error. The expression must have six fields, without a year, a moving item or a macro.
func parseBits(expr string) (spec *robfig.SpecSchedule, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parser panicked on %q: %v", expr, r)
		}
	}()
	parsed, err := cronParser.Parse(expr)
	if err != nil {
		return nil, err
	}
	spec, ok := parsed.(*robfig.SpecSchedule)
	if !ok {
		return nil, errors.New("parser returned no fields")
	}
	return spec, nil
}
