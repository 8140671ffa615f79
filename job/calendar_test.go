package job

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCalendarValidate(t *testing.T) {
	valid := Calendar{Tenant: "acme", Name: "de/holidays", Exclude: []string{"2026-12-25", "2026-12-24/2026-12-26", "* * * * 0"}}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, exclude := range [][]string{nil, {"2026-12-25", "2026-12-26"}} {
		if err := (&Calendar{Tenant: "acme", Name: "x", Exclude: exclude}).Validate(); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(list ...string) func(*Calendar) { return func(c *Calendar) { c.Exclude = list } }
	for _, c := range []struct {
		name, field string
		code        Code
		spoil       func(*Calendar)
	}{
		{"tenant", "tenant", CodeInvalidField, func(c *Calendar) { c.Tenant = "a.b" }},
		{"name", "name", CodeInvalidName, func(c *Calendar) { c.Name = "" }},
		{"lines", "exclude", CodeTooLarge, func(c *Calendar) { c.Exclude = make([]string, CalendarLinesMax+1) }},
		{"expressions", "exclude", CodeTooLarge, func(c *Calendar) {
			for n := range ExcludeCronsMax + 1 {
				c.Exclude = append(c.Exclude, fmt.Sprintf("%d 1 * * *", n%60))
			}
		}},
		{"nested", "exclude.1", CodeInvalidSchedule, lines("2026-12-25", "@calendar other")},
		{"bad line", "exclude.1", CodeInvalidSchedule, lines("2026-12-25", "2026-12-32")},
		{"line break", "exclude.0", CodeInvalidSchedule, lines("2026-12-25\n2026-12-26")},
		{"empty line", "exclude.0", CodeInvalidSchedule, lines("")},
		{"description", "description", CodeTooLarge, func(c *Calendar) { c.Description = strings.Repeat("x", DescriptionBytesMax+1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cal := valid
			c.spoil(&cal)
			e, ok := errors.AsType[*Error](cal.Validate())
			if !ok || e.Code != c.code || e.Field != c.field || e.Message == "" {
				t.Errorf("got %+v; want %s on %s", e, c.code, c.field)
			}
		})
	}
}

// someCalendars finds calendars by reference.
func someCalendars(list ...*Calendar) func(ref string) (*Calendar, bool) {
	return func(ref string) (*Calendar, bool) {
		for _, c := range list {
			if c.Tenant+"/"+c.Name == ref {
				return c, true
			}
		}
		return nil, false
	}
}

func TestParseScheduleWithCalendars(t *testing.T) {
	acme := &Calendar{Tenant: "acme", Name: "holidays", Exclude: []string{"2026-12-25"}}
	other := &Calendar{Tenant: "other", Name: "holidays", Exclude: []string{"2026-12-26"}}
	weekend := &Calendar{Tenant: "acme", Name: "weekend", Exclude: []string{"* * * * 0,6"}}
	find := someCalendars(acme, other, weekend)
	for _, c := range []struct {
		tenant  string
		exclude []string
		want    string
	}{
		{"acme", []string{"@calendar holidays"}, "[24 26 27 28]"},
		{"other", []string{" @calendar  holidays"}, "[24 25 27 28]"},
		{"acme", []string{"2026-12-24", "@calendar holidays", "@calendar weekend", "@calendar weekend"}, "[28 29 30 31]"},
	} {
		d := validDefinition()
		d.Tenant, d.Schedule, d.Timezone, d.Exclude = c.tenant, "0 0 * * *", "Asia/Tokyo", c.exclude
		s, err := ParseScheduleWith(d.Spec(), find)
		if err != nil {
			t.Fatal(err)
		}
		var days []int
		times, _ := s.Preview(instant(t, "2026-12-23T00:00:00+09:00"), 0, 4)
		for _, tick := range times {
			days = append(days, tick.Time().Add(9*3600e9).Day())
		}
		if fmt.Sprint(days) != c.want {
			t.Errorf("%s without %q: days %v, want %s", c.tenant, c.exclude, days, c.want)
		}
		if again, err := ParseScheduleWith(s.Spec(), find); err != nil || again.Spec() != s.Spec() || !strings.Contains(s.Spec().Exclude, "@calendar "+c.tenant+"/holidays") {
			t.Errorf("the canonical text %+v does not parse to itself: %v", s.Spec(), err)
		}
	}
}

// TestCalendarsAreReadEachTime changes one between two parses of the same text.
func TestCalendarsAreReadEachTime(t *testing.T) {
	c := &Calendar{Tenant: "acme", Name: "holidays", Exclude: []string{"2026-12-25"}}
	spec := Spec{Expr: "0 0 * * *", Exclude: "@calendar acme/holidays"}
	after := instant(t, "2026-12-24T12:00:00Z")
	for _, day := range []string{"2026-12-25", "2026-12-26"} {
		c.Exclude = []string{day}
		s, err := ParseScheduleWith(spec, someCalendars(c))
		if err != nil {
			t.Fatal(err)
		}
		if tick, _ := s.Next(after, 0); tick.String()[:10] == day {
			t.Errorf("%s is a tick", day)
		}
	}
}

func TestParseScheduleWithRefuses(t *testing.T) {
	find := someCalendars(&Calendar{Tenant: "acme", Name: "all", Exclude: []string{"* * * * *"}}, &Calendar{Tenant: "acme", Name: "broken", Exclude: []string{"x"}})
	for _, c := range []struct{ exclude, field, hint string }{
		{"2026-12-25\n@calendar acme/none", "exclude.1", "there is no calendar none"},
		{"@calendar acme/all", "exclude", "leaves no tick"},
		{"@calendar acme/broken", "exclude.0", "calendar broken is not valid: exclude.0: "},
		{"@calendar acme/", "exclude.0", "no name"},
		{"@calendar acme/a b", "exclude.0", "no name"},
	} {
		_, err := ParseScheduleWith(Spec{Expr: "0 8 * * *", Exclude: c.exclude}, find)
		if e := AsError(err); e.Code != CodeInvalidSchedule || e.Field != c.field || !strings.Contains(e.Message, c.hint) {
			t.Errorf("%q: %v; want %q on %s", c.exclude, err, c.hint, c.field)
		}
	}
}

func TestDefinitionSpec(t *testing.T) {
	d := validDefinition()
	d.Schedule, d.Schedules = "", []string{"0 8 * * *", "@daily"}
	d.Exclude = []string{"2026-12-25", "@calendar  holidays", "* * * * 6"}
	want := Spec{Expr: "0 8 * * *\n@daily", Exclude: "2026-12-25\n@calendar default/holidays\n* * * * 6"}
	if d.Spec() != want {
		t.Errorf("spec %+v, want %+v", d.Spec(), want)
	}
	if refs := d.Spec().Calendars(); fmt.Sprint(refs) != "[default/holidays]" {
		t.Errorf("calendars %q", refs)
	}
	d.Schedules = d.Schedules[:1]
	if d.Spec().Expr != "0 8 * * *" || (Spec{}).Calendars() != nil {
		t.Errorf("spec %+v", d.Spec())
	}
}

// TestProfileKeepsExclusions: a one-shot that nothing can be left out of needs no text in its profile.
func TestProfileKeepsExclusions(t *testing.T) {
	for exclude, want := range map[string]bool{"": false, "2026-12-25": true} {
		s, err := ParseSchedule(Spec{Expr: "@at 2026-12-01T08:00:00Z", Exclude: exclude})
		if err != nil {
			t.Fatal(err)
		}
		d := Defaults()
		if got := ProfileOf(&d, s).Spec != (Spec{}); got != want || s.Kind() != ScheduleAt {
			t.Errorf("exclude %q: the profile has a spec: %t", exclude, got)
		}
	}
}
