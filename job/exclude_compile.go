package job

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// calendarPrefix begins an exclusion that stands for those of a calendar.
const calendarPrefix = "@calendar"

// calendarsKept bounds each of the two generations of remembered calendars.
const calendarsKept = 256

// calendarSets remembers what the lines of calendars compiled to, by their text: many schedules share one.
var calendarSets = newIntern[string, *exclusions](calendarsKept)

// newFilter compiles the exclusions of a schedule, joined by newlines, and returns their one spelling.
func newFilter(text string, loc *time.Location, find func(ref string) (*Calendar, bool)) (*filter, string, error) {
	lines := strings.Split(text, "\n")
	if len(lines) > ExcludesMax {
		return nil, "", Errorf(CodeTooLarge, "exclude", "has %d entries; at most %d are allowed; more fit into a calendar", len(lines), ExcludesMax)
	}
	own := &exclusions{}
	f := &filter{loc: loc, parts: []*exclusions{own}}
	for i, line := range lines {
		var err error
		if ref, ok := cutCalendar(line); ok {
			lines[i], err = f.addCalendar(ref, find)
		} else {
			lines[i], err = own.add(line)
		}
		if err != nil {
			return nil, "", indexed(err, "exclude", i)
		}
	}
	own.seal()
	for _, part := range f.parts {
		for i := range part.crons {
			f.crons = append(f.crons, &part.crons[i])
		}
	}
	if len(f.crons) > ExcludeCronsMax {
		return nil, "", Errorf(CodeTooLarge, "exclude", "has %d cron expressions, those of calendars included; at most %d are allowed", len(f.crons), ExcludeCronsMax)
	}
	return f, strings.Join(lines, "\n"), nil
}

// addCalendar adds what a calendar leaves out.
func (f *filter) addCalendar(ref string, find func(ref string) (*Calendar, bool)) (string, error) {
	_, name, found := strings.Cut(ref, "/")
	if !found {
		name = ref
	}
	if name == "" || ValidateName(name) != nil {
		return "", badExclusion("%q is no name of a calendar; want @calendar NAME, the name being 1 to %d of A-Z a-z 0-9 . _ - /", clip(name), NameBytesMax)
	}
	if find == nil {
		return "", badExclusion("there is no calendar here, so none is called %s", name)
	}
	c, ok := find(ref)
	if !ok {
		return "", badExclusion("there is no calendar %s; put it first", name)
	}
	part, err := c.compile()
	if err != nil {
		return "", badExclusion("calendar %s is not valid: %s", name, AsError(err))
	}
	if !slices.Contains(f.parts, part) {
		f.parts = append(f.parts, part)
	}
	return calendarPrefix + " " + ref, nil
}

// compile returns what a calendar leaves out. The result is shared.
func (c *Calendar) compile() (*exclusions, error) {
	if len(c.Exclude) == 0 {
		return &exclusions{}, nil
	}
	text := strings.Join(c.Exclude, "\n")
	if strings.Count(text, "\n") == len(c.Exclude)-1 { // otherwise it is not the text of these lines alone
		if x, ok := calendarSets.get(text); ok {
			return x, nil
		}
	}
	x := &exclusions{}
	for i, line := range c.Exclude {
		if _, ok := cutCalendar(line); ok {
			return nil, indexed(badExclusion("is a calendar, which no calendar can hold; want its lines, or both calendars in the job"), "exclude", i)
		}
		if _, err := x.add(line); err != nil {
			return nil, indexed(err, "exclude", i)
		}
	}
	if len(x.crons) > ExcludeCronsMax {
		return nil, Errorf(CodeTooLarge, "exclude", "has %d cron expressions; at most %d are allowed", len(x.crons), ExcludeCronsMax)
	}
	x.seal()
	calendarSets.put(text, x)
	return x, nil
}

// cutCalendar returns the name that a line refers to, and whether it does so.
func cutCalendar(line string) (name string, ok bool) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != calendarPrefix {
		return "", false
	}
	return strings.Join(words[1:], " "), true
}

// indexed returns an error of a member of a list as one that names its place, counted from 0.
func indexed(err error, list string, i int) error {
	e := AsError(err)
	return Errorf(e.Code, list+"."+strconv.Itoa(i), "%s", e.Message)
}
