package dashboard

import (
	"strings"
	"testing"
	"time"
)

// typedAs reads a text as the field of a form with times in a zone.
func typedAs(t *testing.T, field, text, zone string) (string, error) {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := typed{get: func(string) string { return text }, in: clock{zone, loc}}.instant(field)
	return at.UTC().Format(time.RFC3339Nano), err
}

// TestTypedTwice: a time that comes twice is the earlier one at the start of a range and the later one at its end, so that
// the range has what it names. A time that does not exist is refused, save the beginning of a day.
func TestTypedTwice(t *testing.T) {
	for _, c := range []struct{ zone, text, from, to string }{
		{"Europe/Berlin", "2025-10-26T02:30", "2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"},
		{"Europe/Berlin", "2025-10-26T01:59:59", "2025-10-25T23:59:59Z", "2025-10-25T23:59:59Z"},
		{"Europe/Berlin", "2025-10-26T03:00", "2025-10-26T02:00:00Z", "2025-10-26T02:00:00Z"},
		{"America/New_York", "2025-11-02 01:00", "2025-11-02T05:00:00Z", "2025-11-02T06:00:00Z"},
		{"Australia/Lord_Howe", "2025-04-06T01:45", "2025-04-05T14:45:00Z", "2025-04-05T15:15:00Z"},
		{"America/Santiago", "2025-09-07", "2025-09-07T04:00:00Z", "2025-09-07T04:00:00Z"},
		{"America/Havana", "2025-11-02", "2025-11-02T04:00:00Z", "2025-11-02T05:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Europe/Berlin", "2025-10-26t02:30+02:00", "2025-10-26T00:30:00Z", "2025-10-26T00:30:00Z"},
		{"Europe/Berlin", "2025-10-26T02:30:00.5Z", "2025-10-26T02:30:00.5Z", "2025-10-26T02:30:00.5Z"},
	} {
		from, err := typedAs(t, "from", c.text, c.zone)
		to, toErr := typedAs(t, "to", c.text, c.zone)
		if err != nil || toErr != nil || from != c.from || to != c.to {
			t.Errorf("%s in %s: from %s (%v), to %s (%v); want %s and %s", c.text, c.zone, from, err, to, toErr, c.from, c.to)
		}
	}
	for text, c := range map[string]struct{ zone, want string }{
		"2025-03-30T02:30":    {"Europe/Berlin", "want a time from 2025-03-30T03:30 on"},
		"2025-09-07T00:10":    {"America/Santiago", "want a time from 2025-09-07T01:10 on"},
		"2011-12-30T12:00":    {"Pacific/Apia", "want a time from 2011-12-31T12:00 on"},
		"2025-10-26T02:30+25": {"Europe/Berlin", "is not a time"},
	} {
		if _, err := typedAs(t, "from", text, c.zone); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v; want %s", text, c.zone, err, c.want)
		}
	}
}

// TestTypedShown: each instant of a year, typed as a page shows it, is that instant, or the other one with that time on the
// wall.
func TestTypedShown(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca", "Asia/Kathmandu"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		by := clock{zone, loc}
		for at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2025; at = at.Add(15 * time.Minute) {
			wall := at.In(loc).Format(time.DateTime)
			asUTC, _ := time.Parse(time.DateTime, wall)
			early, err := by.instant(asUTC, false, false)
			late, lateErr := by.instant(asUTC, false, true)
			if err != nil || lateErr != nil || !at.Equal(early) && !at.Equal(late) || early.In(loc).Format(time.DateTime) != wall || late.Before(early) {
				t.Fatalf("%s in %s: %s (%v) and %s (%v)", at, zone, early, err, late, lateErr)
			}
		}
	}
}
