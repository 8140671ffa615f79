package job

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
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
		code        apierr.Code
		spoil       func(*Calendar)
	}{
		{"tenant", "tenant", apierr.InvalidField, func(c *Calendar) { c.Tenant = "a.b" }},
		{"name", "name", apierr.InvalidName, func(c *Calendar) { c.Name = "" }},
		{"lines", "exclude", apierr.TooLarge, func(c *Calendar) { c.Exclude = make([]string, CalendarLinesMax+1) }},
		{"expressions", "exclude", apierr.TooLarge, func(c *Calendar) {
			for n := range schedule.ExcludeCronsMax + 1 {
				c.Exclude = append(c.Exclude, fmt.Sprintf("%d 1 * * *", n%60))
			}
		}},
		{"nested", "exclude.1", apierr.InvalidSchedule, lines("2026-12-25", "@calendar other")},
		{"bad line", "exclude.1", apierr.InvalidSchedule, lines("2026-12-25", "2026-12-32")},
		{"line break", "exclude.0", apierr.InvalidSchedule, lines("2026-12-25\n2026-12-26")},
		{"empty line", "exclude.0", apierr.InvalidSchedule, lines("")},
		{"description", "description", apierr.TooLarge, func(c *Calendar) { c.Description = strings.Repeat("x", DescriptionBytesMax+1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cal := valid
			c.spoil(&cal)
			e, ok := errors.AsType[*apierr.Error](cal.Validate())
			if !ok || e.Code != c.code || e.Field != c.field || e.Message == "" {
				t.Errorf("got %+v; want %s on %s", e, c.code, c.field)
			}
		})
	}
}

func TestSchedulesWithCalendars(t *testing.T) {
	calendars := map[string][]string{
		"acme/holidays": {"2026-12-25"}, "other/holidays": {"2026-12-26"}, "acme/weekend": {"* * * * 0,6"},
	}
	find := func(ref string) ([]string, bool) { exclude, ok := calendars[ref]; return exclude, ok }
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
		s, err := schedule.ParseWith(d.Spec(), find)
		if err != nil {
			t.Fatal(err)
		}
		var days []int
		times, _, err := s.Preview(t.Context(), instant.Of(time.Date(2026, 12, 22, 15, 0, 0, 0, time.UTC)), 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range times {
			days = append(days, tick.Time().Add(9*3600e9).Day())
		}
		if fmt.Sprint(days) != c.want {
			t.Errorf("%s without %q: days %v, want %s", c.tenant, c.exclude, days, c.want)
		}
		if again, err := schedule.ParseWith(s.Spec(), find); err != nil || again.Spec() != s.Spec() || !strings.Contains(s.Spec().Exclude, "@calendar "+c.tenant+"/holidays") {
			t.Errorf("the canonical text %+v does not parse to itself: %v", s.Spec(), err)
		}
	}
}

func TestDefinitionSpec(t *testing.T) {
	d := validDefinition()
	d.Schedule, d.Schedules = "", []string{"0 8 * * *", "@daily"}
	d.Exclude = []string{"2026-12-25", "@calendar  holidays", "* * * * 6"}
	want := schedule.Spec{Expr: "0 8 * * *\n@daily", Exclude: "2026-12-25\n@calendar default/holidays\n* * * * 6"}
	if d.Spec() != want {
		t.Errorf("spec %+v, want %+v", d.Spec(), want)
	}
	if refs := d.Spec().Calendars(); fmt.Sprint(refs) != "[default/holidays]" {
		t.Errorf("calendars %q", refs)
	}
	d.Schedules = d.Schedules[:1]
	if d.Spec().Expr != "0 8 * * *" || (schedule.Spec{}).Calendars() != nil {
		t.Errorf("spec %+v", d.Spec())
	}
}

// TestProfileKeepsExclusions: a one-shot that nothing can be left out of needs no text in its profile.
func TestProfileKeepsExclusions(t *testing.T) {
	for exclude, want := range map[string]bool{"": false, "2026-12-25": true} {
		s, err := schedule.Parse(schedule.Spec{Expr: "@at 2026-12-01T08:00:00Z", Exclude: exclude})
		if err != nil {
			t.Fatal(err)
		}
		d := Defaults()
		if got := ProfileOf(&d, s).Spec != (schedule.Spec{}); got != want || s.Kind() != schedule.At {
			t.Errorf("exclude %q: the profile has a spec: %t", exclude, got)
		}
	}
}
