package job

import "strings"

// ValidateSchedules checks that there is one schedule or a list of them, and that they and the exclusions
// can be joined to one text. What they say [ParseSchedule] checks. Validate does it, too.
func (d *Definition) ValidateSchedules() error {
	switch {
	case d.Schedule != "" && len(d.Schedules) > 0:
		return badEntry("schedules", "excludes schedule; want schedule or schedules, one of the two")
	case d.Schedule == "" && len(d.Schedules) == 0:
		return badSchedule("is missing; want schedule, or a list in schedules")
	}
	if i := strings.IndexByte(d.Schedule, '\n'); i >= 0 {
		return badSchedule("has a line break at position %d; want one line, or schedules for several", i+1)
	}
	if err := validateLines("schedules", d.Schedules, SchedulesMax); err != nil {
		return err
	}
	return validateLines("exclude", d.Exclude, ExcludesMax)
}

func badEntry(field, text string) error { return Errorf(CodeInvalidSchedule, field, "%s", text) }

func validateLines(field string, lines []string, most int) error {
	if len(lines) > most {
		return Errorf(CodeTooLarge, field, "has %d entries; at most %d are allowed", len(lines), most)
	}
	for i, line := range lines {
		switch {
		case strings.Trim(line, " \t") == "":
			return indexed(badEntry(field, "is empty; want an expression, or leave it out"), field, i)
		case strings.Contains(line, "\n"):
			return indexed(badEntry(field, "has a line break; want one expression, and several as a list"), field, i)
		}
	}
	return nil
}
