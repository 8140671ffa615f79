package schedule

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

func TestParseCanonical(t *testing.T) {
	for _, c := range []struct {
		expr, zone string
		kind       Kind
		want       Spec // Expr and Zone
	}{
		{"*/5 * * * *", "", Cron, Spec{Expr: "*/5 * * * *"}},
		{" \t0  8\t* *   1-5 ", "UTC", Cron, Spec{Expr: "0 8 * * 1-5"}},
		{"0 8 * * MON-fri", "America/New_York", Cron, Spec{Expr: "0 8 * * 1-5", Zone: "America/New_York"}},
		{"CRON_TZ=America/New_York 0 8 * * 1-5", "", Cron, Spec{Expr: "0 8 * * 1-5", Zone: "America/New_York"}},
		{"TZ=Europe/Berlin  @daily", "Europe/Berlin", Cron, Spec{Expr: "0 0 * * *", Zone: "Europe/Berlin"}},
		{"TZ=UTC @hourly", "", Cron, Spec{Expr: "0 * * * *"}},
		{"0 0 8 * * *", "", Cron, Spec{Expr: "0 8 * * *"}},
		{"00 00 08 ? Jan,DEC ?", "", Cron, Spec{Expr: "0 8 * 1,12 *"}},
		{"30 0 8 * * *", "", Cron, Spec{Expr: "30 0 8 * * *"}},
		{"*/1 * * * *", "", Cron, Spec{Expr: "* * * * *"}},
		{"5/15 1-1 * * *", "", Cron, Spec{Expr: "5-59/15 1 * * *"}},
		{"0 0 * * 7", "", Cron, Spec{Expr: "0 0 * * 0"}},
		{"0 0 * * 5-7", "", Cron, Spec{Expr: "0 0 * * 5,6,0"}},
		{"0 0 * * fri-sun", "", Cron, Spec{Expr: "0 0 * * 5,6,0"}},
		{"0 0 * * 1-7/2", "", Cron, Spec{Expr: "0 0 * * 1,3,5,0"}},
		{"0 0 * * 7-2", "", Cron, Spec{Expr: "0 0 * * 0-2"}},
		{"0 0 * * 7/2", "", Cron, Spec{Expr: "0 0 * * 0-6/2"}},
		{"0 0 * * sun-tue", "", Cron, Spec{Expr: "0 0 * * 0-2"}},
		{"0 0 l,lw,L-03,015w * *", "", Cron, Spec{Expr: "0 0 L,LW,L-3,15W * *"}},
		{"0 0 1,L ? FRIl,7#02,sunL", "", Cron, Spec{Expr: "0 0 1,L * 5L,0#2,0L"}},
		{"0 0 8 1 1 ? 2027", "", Cron, Spec{Expr: "0 0 8 1 1 * 2027"}},
		{"0 0 8 L * ? *", "", Cron, Spec{Expr: "0 8 L * *"}},
		{"5 0 8 * * * 2027-2030/3,1999", "", Cron, Spec{Expr: "5 0 8 * * * 2027-2030/3,1999"}},
		{"0 0 8 * * * 2190/3", "", Cron, Spec{Expr: "0 0 8 * * * 2190-2199/3"}},
		{"*/20,5 * * * *", "", Cron, Spec{Expr: "*/20,5 * * * *"}},
		{"@yearly", "", Cron, Spec{Expr: "0 0 1 1 *"}},
		{"@annually", "", Cron, Spec{Expr: "0 0 1 1 *"}},
		{"@monthly", "", Cron, Spec{Expr: "0 0 1 * *"}},
		{"@weekly", "", Cron, Spec{Expr: "0 0 * * 0"}},
		{"@midnight", "", Cron, Spec{Expr: "0 0 * * *"}},
		{"@every  90s", "Europe/Berlin", Every, Spec{Expr: "@every 1m30s"}},
		{"@every 1d12h", "", Every, Spec{Expr: "@every 36h"}},
		{"@every 10ms", "", Every, Spec{Expr: "@every 10ms"}},
		{"@at 2026-12-01T09:00:00.0001+01:00", "", At, Spec{Expr: "@at 2026-12-01T08:00:00.001Z"}},
		{"\t@at  2026-12-01T08:00:00Z ", "", At, Spec{Expr: "@at 2026-12-01T08:00:00.000Z"}},
		{"CRON_TZ=Asia/Tokyo @at 2026-12-01T08:00:00Z", "", At, Spec{Expr: "@at 2026-12-01T08:00:00.000Z"}},
	} {
		s := mustSchedule(t, c.expr, c.zone)
		if s.Kind() != c.kind || s.Spec() != c.want {
			t.Errorf("%q in %q: kind %d %+v, want %d %+v", c.expr, c.zone, s.Kind(), s.Spec(), c.kind, c.want)
		}
		if again, err := Parse(s.Spec()); err != nil || again.Spec() != s.Spec() {
			t.Errorf("%q: the canonical text does not parse to itself: %+v, %v", c.expr, again, err)
		}
	}
}

// refused is a schedule that must not be accepted. The message must contain every one of the hints.
type refused struct {
	spec  Spec
	hints string // separated by "|"
}

func (r refused) check(t *testing.T, code apierr.Code, field string) {
	t.Helper()
	_, err := Parse(r.spec)
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		t.Errorf("%+v: got %v, want a refusal", r.spec, err)
		return
	}
	if e.Code != code || e.Field != field {
		t.Errorf("%+v: code %s, field %q; want %s, %q", r.spec, e.Code, e.Field, code, field)
	}
	for hint := range strings.SplitSeq(r.hints, "|") {
		if !strings.Contains(e.Message, hint) {
			t.Errorf("%+v: message %q does not say %q", r.spec, e.Message, hint)
		}
	}
}

func TestParseRefusesExpressions(t *testing.T) {
	for expr, hints := range map[string]string{
		"": "empty", " \t ": "empty", strings.Repeat("*", 257): "257|256",
		"é * * * *": "'é'|ASCII", "0 8 * *\x00 *": "ASCII", "* * * *\u00a0*": "ASCII",
		"* * * *": "4|want 5", "*": "1|want 5", "0 0 0 1 1 ? 2027 *": "8|want 5",
		"0 0 0 1 1 ? 1969": "year|1969|want 1970-2199", "0 0 0 1 1 ? 2200": "year|2200", "0 0 0 1 1 ? 2027-2026": "wraps", "0 0 0 1 1 ? 99999": "too long", "0 0 0 1 1 ? */300": "step of 300",
		"0 0 1 1 ? 2027": "2027|seven fields", "0 0 1 1 2027": "2027|seven fields", "0 0 0 29 2 ? 2025-2027": "never runs", "0 0 0 31W 2,4 ? *": "never runs", "0 0 0 L-29 2 ? 2025": "never runs",
		"10s": "want @every 10s", "2026-12-01T08:00:00Z": "want @at 2026-12-01T08:00:00Z",
		"61 * * * *": "minute|61|want 0-59", "* 24 * * *": "hour|want 0-23", "* * 0 * *": "day of month|want 1-31",
		"* * * 13 *": "month|want 1-12", "* * * * 8": "day of week|want 0-6", "60 * * * * *": "second|want 0-59",
		"99999 * * * *": "too long", "12345678901234567890 * * * *": "too long",
		", * * * *": "empty list item", "0 0 , * *": "empty list item", "1,,2 * * * *": "empty list item", "1, * * * *": "empty list item",
		"*,5 * * * *": "star alone", "5,* * * * *": "star", "5,*/20 * * * *": "*/n first", "*5 * * * *": "after the star", "** * * * *": "after the star",
		"-5 * * * *": "range", "5- * * * *": "range", "1-2-3 * * * *": "2-3", "+5 * * * *": "sign", "1.5 * * * *": "no value",
		"*/0 * * * *": "at least 1", "*/60 * * * *": "want 0", "0 */24 * * *": "want 0", "*/x * * * *": "slash", "*/ * * * *": "slash", "*/5/5 * * * *": "slash",
		"5-5/3 * * * *": "want 5", "10-20/11 * * * *": "want 10", "*/-5 * * * *": "slash", "0 0 */31 * *": "want 1", "50/10 * * * *": "want 50",
		"0 22-2 * * *": "wraps|22-23,0-2", "0 22-2/2 * * *": "wraps|22,0,2", "0 23-2 * * *": "23,0-2", "0 0 * nov-feb *": "11-12,1-2",
		"0 0 * * fri-mon": "5-6,0-1", "0 0 * * 5-0": "want 5-7", "50-10 * * * *": "50-59,0-10",
		"0 0 * * L": "Saturday to some|5L", "0 0 5L * *": "day of week", "0 0 1-L * *": "L with something else", "0 0 L/2 * *": "L with something else", "0 0 WL * *": "L with something else",
		"0 0 L-0 * *": "count back|L-30", "0 0 L-31 * *": "count back", "0 0 L-x * *": "count back", "0 0 L-3W * *": "count back", "0 0 *,L * *": "star alone", "0 0 5,*,L * *": "star",
		"0 0 W * *": "W without one day|15W", "0 0 0W * *": "1W-31W", "0 0 32W * *": "1W-31W", "0 0 1-15W * *": "W without one day", "0 0 5#3 * *": "belongs into the day of week",
		"0 0 * * 5#0": "from 1 to 5", "0 0 * * 5#6": "from 1 to 5", "0 0 * * 5#": "from 1 to 5", "0 0 * * #3": "one weekday", "0 0 * * 1-5#1": "one weekday", "0 0 * * *#1": "one weekday",
		"0 0 * * 8#1": "8|want 0-6", "0 0 * * fooL": "foo", "0 0 * * 1-5L": "one weekday", "0 0 * * L-2": "day of month", "0 0 * * LW": "day of month", "0 0 * * 5W": "day of month|1-5",
		"0 0 * * fridayL": "want fri", "L * * * *": "day of month or", "5L * * * *": "day of month or", "* 15W * * *": "day of month", "* * * 3#1 *": "day of week", "0 0 * * 5#3/2": "from 1 to 5",
		"H * * * *": "H|number", "H/15 * * * *": "H|number", "0 H(0-7) * * *": "H|number",
		"0 0 * * monday": "want mon", "0 0 * January *": "want jan", "0 0 * * foo": "foo|sun", "mon * * * *": "no value",
		"0 0 30 2 *": "never runs", "0 0 31 4,6,9,11 *": "never runs", "0 0 30 2 */2": "never runs",
		"@reboot": "@at", "@minutely": "@hourly", "@Daily": "@daily", "@daily 5": "@daily", "@": "@daily", "@every5m": "@every",
		"@every": "@every 10s", "@every ": "@every 10s", "@every -5m": "sign", "@every +5m": "sign", "@every 0s": "10ms", "@every 9ms": "10ms",
		"@every 10.5ms": "whole milliseconds", "@every 3661d": "3660d", "@every 99999999999d": "duration", "@every 999999999d": "3660d",
		"@every 90000h": "3660d", "@every 5": "duration", "@every 1.5d": "duration", "@every d": "duration", "@every 1d-1h": "duration", "@every 1h1d": "duration",
		"@every 5 m": "duration", "@every 1w": "duration", "@every 9999999999999h": "duration",
		"@at": "RFC 3339", "@at ": "RFC 3339", "@at 2026-12-01": "RFC 3339", "@at 2026-12-01T08:00:00": "with a zone", "@at 2026-12-01 08:00:00Z": "RFC 3339",
		"@at 2026-02-30T08:00:00Z": "RFC 3339", "@at 2026-12-01T8:00:00Z": "RFC 3339", "@at 2026-12-01T08:00:00,5Z": "RFC 3339", "@at 2026-12-01T08:00:00+24:00": "RFC 3339", "@at 2026-12-01T08:00:00+01:60": "RFC 3339",
		"@at 2026-12-01T08:00:00.Z": "RFC 3339", "@at 2026-12-01T08:00:00z": "RFC 3339", "@at 2026-12-01T08:00:60Z": "RFC 3339", "@at 2026-12-01T24:00:00Z": "RFC 3339",
		"@at 2026-12-01T08:00:00.0000000001Z": "RFC 3339", "@at 1970-01-01T00:00:00Z": "out of range", "@at 1969-12-31T23:59:59Z": "out of range",
		"@at 9999-12-31T23:59:59.999Z": "out of range", "@at 9999-12-31T23:59:59-01:00": "out of range",
		"TZ=UTC": "after the zone", "CRON_TZ=UTC ": "after the zone", "TZ=": "after the zone",
	} {
		refused{Spec{Expr: expr}, hints}.check(t, apierr.InvalidSchedule, "schedule")
	}
}

func TestParseRefusesZones(t *testing.T) {
	for _, r := range []refused{
		{Spec{Expr: "@daily", Zone: "Local"}, "machine"},
		{Spec{Expr: "@daily", Zone: "localtime"}, "machine"},
		{Spec{Expr: "@daily", Zone: "right/Europe/Berlin"}, "machine"},
		{Spec{Expr: "@daily", Zone: "posix/Europe/Berlin"}, "machine"},
		{Spec{Expr: "TZ=Local @daily"}, "machine"},
		{Spec{Expr: "@daily", Zone: "Mars/Phobos"}, "Mars/Phobos|IANA"},
		{Spec{Expr: "@every 1s", Zone: "Mars/Phobos"}, "IANA"},
		{Spec{Expr: "@at 2026-12-01T08:00:00Z", Zone: "Mars/Phobos"}, "IANA"},
		{Spec{Expr: "@daily", Zone: "europe/berlin"}, "want Europe/Berlin"},
		{Spec{Expr: "@daily", Zone: "america/st_johns"}, "want America/St_Johns"},
		{Spec{Expr: "@daily", Zone: "utc"}, "want UTC"},
		{Spec{Expr: "@daily", Zone: "+02:00"}, "Etc/GMT-2"},
		{Spec{Expr: "@daily", Zone: "../../etc/passwd"}, "IANA"},
		{Spec{Expr: "@daily", Zone: "/etc/localtime"}, "IANA"},
		{Spec{Expr: "@daily", Zone: "Europe//Berlin"}, "IANA"},
		{Spec{Expr: "@daily", Zone: "Europe/"}, "IANA"},
		{Spec{Expr: "@daily", Zone: "Europe\\Berlin"}, "IANA"},
		{Spec{Expr: "@daily", Zone: " "}, "IANA"},
		{Spec{Expr: "@daily", Zone: strings.Repeat("A", 65)}, "65|64"},
		{Spec{Expr: "CRON_TZ= 0 8 * * *"}, "missing"},
		{Spec{Expr: "CRON_TZ=Europe/Berlin 0 8 * * *", Zone: "UTC"}, "UTC|Europe/Berlin|want one"},
		{Spec{Expr: "TZ=UTC 0 8 * * *", Zone: "Europe/Berlin"}, "want one"},
	} {
		r.check(t, apierr.InvalidTimezone, "timezone")
	}
}

func TestParseRefusesWindows(t *testing.T) {
	at := rfc3339(t, "2026-12-01T08:00:00Z")
	refused{Spec{Expr: "@daily", StartsAt: -1}, "out of range"}.check(t, apierr.InvalidField, "starts_at")
	refused{Spec{Expr: "@daily", StartsAt: instant.Max}, "out of range"}.check(t, apierr.InvalidField, "starts_at")
	refused{Spec{Expr: "@daily", EndsAt: -1}, "out of range"}.check(t, apierr.InvalidField, "ends_at")
	refused{Spec{Expr: "@daily", EndsAt: instant.Max}, "out of range"}.check(t, apierr.InvalidField, "ends_at")
	refused{Spec{Expr: "@daily", StartsAt: at, EndsAt: at}, "after starts_at"}.check(t, apierr.InvalidField, "ends_at")
	refused{Spec{Expr: "@yearly", StartsAt: at, EndsAt: at + 1000}, "first tick"}.check(t, apierr.InvalidField, "ends_at")
	refused{Spec{Expr: "@at 2026-12-01T08:00:00Z", EndsAt: at}, "never run"}.check(t, apierr.InvalidSchedule, "schedule")
	refused{Spec{Expr: "@at 2026-12-01T08:00:00Z", StartsAt: at + 1}, "never run"}.check(t, apierr.InvalidSchedule, "schedule")
}
