package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// newFilter compiles the exclusions of a schedule, joined by newlines, and returns their normalised text. The bound
// of cron expressions includes those of calendars, because keptWalk has a bit for each of them. An error names the
// line that is wrong by its index.
func newFilter(text string, loc *time.Location, find CalendarLookup) (*filter, string, error) {
	lines := strings.Split(text, "\n")
	if len(lines) > ExcludesMax {
		return nil, "", apierr.Errorf(apierr.TooLarge, "exclude", "has %d entries; at most %d are allowed; more fit into a calendar", len(lines), ExcludesMax)
	}
	// The schedule's own lines are one part, and each calendar another, because those are shared with other
	// schedules.
	own := &exclusions{}
	f := &filter{loc: loc, parts: []*exclusions{own}}
	for i, line := range lines {
		var err error
		if ref, ok := CutCalendar(line); ok {
			lines[i], err = f.addCalendar(ref, find)
		} else {
			lines[i], err = own.add(line)
		}
		if err != nil {
			return nil, "", apierr.Indexed(err, "exclude", i)
		}
	}
	// The parts of calendars are sealed already; only the own lines were added one by one.
	own.seal()
	for _, part := range f.parts {
		for i := range part.crons {
			f.crons = append(f.crons, &part.crons[i])
			f.hasYears = f.hasYears || part.crons[i].years != nil
		}
	}
	if len(f.crons) > ExcludeCronsMax {
		return nil, "", apierr.Errorf(apierr.TooLarge, "exclude", "has %d cron expressions, those of calendars included; at most %d are allowed", len(f.crons), ExcludeCronsMax)
	}
	return f, strings.Join(lines, "\n"), nil
}
