package job

import (
	"errors"
	"fmt"
	"strings"
	"time"

	robfig "github.com/robfig/cron/v3"
)

// cronMacros are the named schedules and the fields that they stand for.
var cronMacros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// cronParser turns fields into bits. It is used for nothing else: it checks too little, so it gets
// normalised text only, and it errs around changes of the clock, so it evaluates nothing.
var cronParser = robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

func (s *Schedule) compileMacro(text string, loc *time.Location) error {
	if fields, ok := cronMacros[text]; ok {
		return s.compileCron(fields, loc)
	}
	if strings.HasPrefix(text, "@reboot") {
		return badSchedule("@reboot is not supported: there is no boot to wait for; want @at with a time to run once, or trigger the job")
	}
	return badSchedule("%q is unknown; want @yearly, @monthly, @weekly, @daily, @hourly, @every 10s or @at 2026-12-01T08:00:00Z", clip(text))
}

func (s *Schedule) compileCron(text string, loc *time.Location) error {
	fields, err := splitFields(text)
	if err != nil {
		return err
	}
	for i := range fields {
		if fields[i], err = cronFields[i].normalise(fields[i]); err != nil {
			return err
		}
	}
	pattern, err := parsePattern(fields)
	if err != nil {
		return err
	}
	if _, ok := pattern.next(0); !ok {
		return badSchedule("never runs: no date has the day, month and weekday of %q; want days that exist, such as 28 2 for the end of February", clip(text))
	}
	fixed := fields[fieldMinute][0] != '*' && fields[fieldHour][0] != '*'
	s.kind, s.cron = ScheduleCron, &cron{pattern: pattern, fixed: fixed, loc: loc}
	s.spec.Expr = joinFields(fields)
	if loc != nil {
		s.spec.Zone = loc.String()
	}
	return s.checkWindow()
}

// checkWindow refuses a window that holds no tick: it is a mistake, and the job would complete unseen.
func (s *Schedule) checkWindow() error {
	if s.spec.EndsAt == 0 {
		return nil
	}
	unended := *s
	unended.until = MillisMax
	if first, ok := unended.Next(s.from-1, 0); ok && first >= s.until {
		return Errorf(CodeInvalidField, "ends_at", "%s must be after the first tick of the schedule, which is %s", s.spec.EndsAt, first)
	}
	return nil
}

// splitFields returns the six fields of an expression.
func splitFields(text string) (fields [6]string, err error) {
	words := strings.Fields(strings.ReplaceAll(text, "?", "*"))
	switch len(words) {
	case 6:
		copy(fields[:], words)
		return fields, nil
	case 5:
		fields[fieldSecond] = "0"
		copy(fields[fieldMinute:], words)
		return fields, nil
	case 7:
		return fields, badSchedule("has 7 fields; a year is not supported yet; want 6 fields, with starts_at and ends_at for the year")
	case 1:
		if _, err := time.ParseDuration(text); err == nil {
			return fields, badSchedule("%q is no schedule; want @every %s", clip(text), clip(text))
		}
		if _, err := time.Parse(time.RFC3339, text); err == nil {
			return fields, badSchedule("%q is no schedule; want @at %s", clip(text), clip(text))
		}
	}
	return fields, badSchedule("has the wrong number of fields, %d; want 5 (minute, hour, day of month, month, day of week) or 6 (a second first)", len(words))
}

// joinFields writes the canonical expression; a second of 0 is not written.
func joinFields(fields [6]string) string {
	if fields[fieldSecond] == "0" {
		return strings.Join(fields[fieldMinute:], " ")
	}
	return strings.Join(fields[:], " ")
}

// parsePattern turns normalised fields into a pattern.
func parsePattern(fields [6]string) (pattern, error) {
	parsed, err := parseBits(strings.Join(fields[:], " "))
	if err != nil {
		return pattern{}, badSchedule("%q is not understood; want fields such as 0 8 * * 1-5", clip(joinFields(fields)))
	}
	const starBit = 1 << 63 // the parser's own mark, not kept for */n
	return pattern{
		second: parsed.Second &^ starBit,
		minute: parsed.Minute &^ starBit,
		hour:   uint32(parsed.Hour &^ starBit),
		dom:    uint32(parsed.Dom &^ starBit),
		month:  uint32(parsed.Month &^ starBit),
		dow:    parsed.Dow &^ starBit,
		either: fields[fieldDom][0] != '*' && fields[fieldDow][0] != '*',
	}, nil
}

// parseBits calls the parser, which is known to panic on some malformed texts. None of those should
// come so far; if one does, it must not take the process with it.
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
