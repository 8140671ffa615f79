package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// badExclusion returns the error of one exclusion; its place in the list is added later.
func badExclusion(format string, args ...any) error {
	return apierr.Errorf(apierr.InvalidSchedule, "exclude", format, args...)
}

// add adds a line that is not a calendar, and returns its normalised form. x must not be sealed. A line is recognized
// by its form, in an order in which no text has two meanings.
func (x *exclusions) add(line string) (string, error) {
	if strings.Trim(line, " \t") == "" {
		return "", badExclusion("is empty; want one such as 2026-12-25 or * * * * 6, or no such line")
	}
	if err := checkScheduleText(line); err != nil {
		return "", err
	}
	line = strings.Join(strings.Fields(line), " ")
	// A cron expression may have a slash too, but it has spaces, which a range has not.
	low, high, ranged := strings.Cut(line, "/")
	switch {
	case strings.Contains(line, "TZ="):
		return "", badExclusion("%q has a zone; exclusions are read in the job's timezone, so want it without", apierr.Clip(line))
	case strings.HasPrefix(line, "@"):
		return "", badExclusion("%q is not possible here; want a date, a range, a cron expression or @calendar NAME", apierr.Clip(line))
	case strings.Contains(line, " "):
		return x.addCron(line)
	case ranged && isDate(low) && isDate(high):
		return x.addDays(line, low, high)
	case ranged && strings.Contains(low, "T") && strings.Contains(high, "T"):
		return x.addInstants(line, low, high)
	case isDate(line):
		return x.addDays(line, line, line)
	}
	return "", badExclusion("%q is not understood; want a date 2026-12-25, a range of dates 2026-12-24/2026-12-26 or of instants "+
		"2026-12-24T18:00:00Z/2026-12-27T06:00:00Z, or a cron expression such as * * * * 6", apierr.Clip(line))
}

// isDate reports whether a text has the form of a date, whether or not the date exists. The check is cheap and
// decides only how the line is read; parseDay refuses 2026-02-30.
func isDate(text string) bool {
	return len(text) == len(time.DateOnly) && text[4] == '-' && text[7] == '-'
}

// addDays adds the days from first to last. Both ends are included, as in a range of dates in ordinary use; instants
// exclude their end, as times do.
func (x *exclusions) addDays(line, first, last string) (string, error) {
	from, err := parseDay(first)
	if err != nil {
		return "", err
	}
	to, err := parseDay(last)
	if err != nil {
		return "", err
	}
	if to < from {
		return "", badExclusion("%q ends before it begins; want %s/%s", apierr.Clip(line), last, first)
	}
	// Spans exclude their end, so the last day is the one before it.
	x.days = append(x.days, span{from, to + 1})
	// A range of one day is kept as that day, so that both ways to write it are the same definition.
	if from == to {
		return first, nil
	}
	return line, nil
}

// parseDay parses a date into a day counted from the Unix epoch. The bound is that of the year field; an earlier
// day could not exclude a tick.
func parseDay(text string) (int64, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < yearMin {
		return 0, badExclusion("%q is no date from 1970 on; want one such as 2026-12-25", apierr.Clip(text))
	}
	return t.Unix() / daySeconds, nil
}

// addInstants adds the instants from first up to, not including, end. The text becomes that of UTC, so that the
// same range in two zones is one.
func (x *exclusions) addInstants(line, first, end string) (string, error) {
	from, ok := parseInstant(first)
	to, alsoOK := parseInstant(end)
	if !ok || !alsoOK {
		return "", badExclusion("%q is no range of instants; want RFC 3339 with a zone, such as 2026-12-24T18:00:00Z/2026-12-27T06:00:00+01:00", apierr.Clip(line))
	}
	if to <= from {
		return "", badExclusion("%q holds no instant: it ends before it begins, or just then", apierr.Clip(line))
	}
	x.spans = append(x.spans, span{int64(from), int64(to)})
	return string(to.Append(append(from.Append(nil), '/'))), nil
}

// addCron adds the times of an expression. Without a field for the second it means whole minutes. That way "* * * *
// 6" excludes all of a Saturday, also for schedules with seconds.
func (x *exclusions) addCron(line string) (string, error) {
	if len(strings.Fields(line)) == 5 {
		line = "* " + line
	}
	fields, p, err := parseCron(line)
	if err != nil {
		return "", err
	}
	x.crons = append(x.crons, p)
	// The shortest form that means the same; a field for the second is left out only if it is any second, which is
	// what its absence means here.
	if fields[fieldYear] != "*" {
		return strings.Join(fields[:], " "), nil
	}
	if fields[fieldSecond] == "*" {
		return strings.Join(fields[fieldMinute:fieldYear], " "), nil
	}
	return strings.Join(fields[:fieldYear], " "), nil
}
