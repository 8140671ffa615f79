package job

import (
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// ValidateSchedules checks that there is one schedule or a list of them, and that these and the exclusions can be
// joined into one text. [schedule.Parse] checks their content. Validate calls it too.
func (d *Definition) ValidateSchedules() error {
	switch {
	case d.Schedule != "" && len(d.Schedules) > 0:
		return badEntry("schedules", "excludes schedule; want schedule or schedules, one of the two")
	case d.Schedule == "" && len(d.Schedules) == 0:
		return errSchedule("is missing; want schedule, or a list in schedules")
	}
	if i := strings.IndexByte(d.Schedule, '\n'); i >= 0 {
		return errSchedule("has a line break at position %d; want one line, or schedules for several", i+1)
	}
	if err := validateLines("schedules", d.Schedules, schedule.ExpressionsMax); err != nil {
		return err
	}
	return validateLines("exclude", d.Exclude, schedule.ExcludesMax)
}

// Settle replaces each "@in" of the schedules by the "@at" that it means at now, see [schedule.Settle]. The part that accepts a
// definition calls it once, before it compiles or stores it. The strings change; the caller's list of them does not.
func (d *Definition) Settle(now instant.Millis) (err error) {
	if d.Schedule, err = schedule.Settle(d.Schedule, now); err != nil {
		return err
	}
	list := slices.Clone(d.Schedules)
	for i := range list {
		if list[i], err = schedule.Settle(list[i], now); err != nil {
			return apierr.Indexed(err, "schedules", i)
		}
	}
	d.Schedules = list
	return nil
}

func errSchedule(format string, args ...any) error {
	return apierr.Errorf(apierr.InvalidSchedule, "schedule", format, args...)
}

func badEntry(field, text string) error {
	return apierr.Errorf(apierr.InvalidSchedule, field, "%s", text)
}

// validateLines checks that lines can be joined by newlines and separated again: a line with a newline in it would
// become two.
func validateLines(field string, lines []string, most int) error {
	if len(lines) > most {
		return apierr.Errorf(apierr.TooLarge, field, "has %d entries; at most %d are allowed", len(lines), most)
	}
	for i, line := range lines {
		switch {
		case strings.Trim(line, " \t") == "":
			return apierr.Indexed(badEntry(field, "is empty; want an expression, or leave it out"), field, i)
		case strings.Contains(line, "\n"):
			return apierr.Indexed(badEntry(field, "has a line break; want one expression, and several as a list"), field, i)
		}
	}
	return nil
}
