package schedule

import (
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// CalendarPrefix begins an exclusion that stands for the lines of a calendar.
const CalendarPrefix = "@calendar"

// calendarNameBytesMax is the length of the longest name. It is that of names in package job, which this package
// may not import.
const calendarNameBytesMax = 128

// CalendarLookup returns the lines of a calendar to which exclusions refer as "@calendar REF", and whether it exists.
// REF is TENANT/NAME in the spec of a definition. It is called while a schedule is compiled, once for each reference,
// from that goroutine.
type CalendarLookup = func(ref string) (exclude []string, ok bool)

// calendarsKept bounds each of the two generations of cached calendars. A calendar of a thousand lines is some tens
// of kilobytes compiled, so fewer are kept than schedules.
const calendarsKept = 256

// calendarSets caches the compiled lines of calendars by their text, because many schedules share a calendar. The
// key is the content and not the name, so a changed calendar is another entry and the cache needs no invalidation.
var calendarSets = newIntern[string, *exclusions](calendarsKept)

// addCalendar adds the exclusions of a calendar. It returns the normalised line. The text keeps the reference and not
// the lines, so that a stored schedule gets the later content when it is compiled again.
func (f *filter) addCalendar(ref string, find CalendarLookup) (string, error) {
	_, name, found := strings.Cut(ref, "/")
	if !found {
		name = ref
	}
	if name == "" || len(name) > calendarNameBytesMax || apierr.IndexOutside(name, "._-/") >= 0 {
		return "", badExclusion("%q is no name of a calendar; want @calendar NAME, the name being 1 to %d of A-Z a-z 0-9 . _ - /", apierr.Clip(name), calendarNameBytesMax)
	}
	if find == nil {
		return "", badExclusion("there is no calendar here, so none is called %s", name)
	}
	exclude, ok := find(ref)
	if !ok {
		return "", badExclusion("there is no calendar %s; put it first", name)
	}
	part, err := compileCalendar(exclude)
	if err != nil {
		return "", badExclusion("calendar %s is not valid: %s", name, apierr.From(err))
	}
	// A calendar that two lines name is compiled once, and judged once.
	if !slices.Contains(f.parts, part) {
		f.parts = append(f.parts, part)
	}
	return CalendarPrefix + " " + ref, nil
}

// CheckCalendar checks the lines of a calendar: each is an exclusion, and none refers to a calendar. The error is an
// [*apierr.Error] that names the line as exclude.0.
func CheckCalendar(exclude []string) error {
	_, err := compileCalendar(exclude)
	return err
}

// compileCalendar compiles the lines of a calendar. The result is shared. It compiles without a zone, so that jobs in
// different zones share it.
func compileCalendar(exclude []string) (*exclusions, error) {
	if len(exclude) == 0 {
		return &exclusions{}, nil
	}
	text := strings.Join(exclude, "\n")
	if strings.Count(text, "\n") == len(exclude)-1 { // otherwise a line contains a newline, and the text could be that of other lines
		if x, ok := calendarSets.get(text); ok {
			return x, nil
		}
	}
	x := &exclusions{}
	for i, line := range exclude {
		if _, ok := CutCalendar(line); ok {
			return nil, apierr.Indexed(badExclusion("is a calendar, which no calendar can hold; want its lines, or both calendars in the job"), "exclude", i)
		}
		if _, err := x.add(line); err != nil {
			return nil, apierr.Indexed(err, "exclude", i)
		}
	}
	if len(x.crons) > ExcludeCronsMax {
		return nil, apierr.Errorf(apierr.TooLarge, "exclude", "has %d cron expressions; at most %d are allowed", len(x.crons), ExcludeCronsMax)
	}
	x.seal()
	calendarSets.put(text, x)
	return x, nil
}

// CutCalendar returns the name of the calendar to which an exclusion refers, and whether it refers to one. The name
// is not checked, and may be "".
func CutCalendar(line string) (name string, ok bool) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != CalendarPrefix {
		return "", false
	}
	return strings.Join(words[1:], " "), true
}
