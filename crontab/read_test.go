package crontab_test

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/crontab"
	"github.com/carillon-io/carillon/schedule"
)

// check accepts the schedules that a server accepts.
func check(expr, zone string) error {
	_, err := schedule.Parse(schedule.Spec{Expr: expr, Zone: zone})
	return err
}

// readAll reads a crontab to its end.
func readAll(r crontab.Reader, text string) (entries []crontab.Entry, refusals []*crontab.Refusal) {
	for entry, refusal := range r.Read(text) {
		if refusal != nil {
			refusals = append(refusals, refusal)
		} else {
			entries = append(entries, *entry)
		}
	}
	return entries, refusals
}

func TestReadLine(t *testing.T) {
	for name, c := range map[string]struct {
		line    string
		system  bool
		want    crontab.Entry
		refusal string // part of its text; "": an entry is read
	}{
		"plain":                {line: "*/5 1-3 * * 1,3 run it", want: crontab.Entry{Schedule: "*/5 1-3 * * 1,3", Command: "run it"}},
		"blanks and tabs":      {line: "  1\t2  *\t* *   run  it ", want: crontab.Entry{Schedule: "1 2 * * *", Command: "run  it "}},
		"user":                 {line: "1 2 * * * root run", system: true, want: crontab.Entry{Schedule: "1 2 * * *", User: "root", Command: "run"}},
		"user after macro":     {line: "@daily www-data run", system: true, want: crontab.Entry{Schedule: "@daily", User: "www-data", Command: "run"}},
		"names":                {line: "0 0 * Jan-mar MON-Fri run", want: crontab.Entry{Schedule: "0 0 * Jan-mar MON-Fri", Command: "run"}},
		"sunday is 7":          {line: "0 0 * * 7 run", want: crontab.Entry{Schedule: "0 0 * * 7", Command: "run"}},
		"equal sign in words":  {line: "0 0 * * * X=1 run", want: crontab.Entry{Schedule: "0 0 * * *", Command: "X=1 run"}},
		"hash is no comment":   {line: "0 0 * * * run # now", want: crontab.Entry{Schedule: "0 0 * * *", Command: "run # now"}},
		"leading dash":         {line: "-0 0 * * * root run", system: true, want: crontab.Entry{Schedule: "0 0 * * *", User: "root", Command: "run"}},
		"every minute":         {line: "@every_minute run", want: crontab.Entry{Schedule: "* * * * *", Command: "run"}},
		"input":                {line: "@hourly mail x%Dear x,%%bye", want: crontab.Entry{Schedule: "@hourly", Command: "mail x", Stdin: "Dear x,\n\nbye\n"}},
		"escaped percent":      {line: `@hourly date +\%d`, want: crontab.Entry{Schedule: "@hourly", Command: "date +%d"}},
		"other backslashes":    {line: `@hourly find . \( -name x \)`, want: crontab.Entry{Schedule: "@hourly", Command: `find . \( -name x \)`}},
		"two backslashes":      {line: `@hourly a\\%b`, want: crontab.Entry{Schedule: "@hourly", Command: `a\\`, Stdin: "b\n"}},
		"percent in the input": {line: `@hourly a%b\%c\d`, want: crontab.Entry{Schedule: "@hourly", Command: "a", Stdin: "b%c\\d\n"}},
		"empty input":          {line: "@hourly a%", want: crontab.Entry{Schedule: "@hourly", Command: "a"}},

		"reboot":         {line: "@reboot run", refusal: "init system"},
		"unknown macro":  {line: "@fortnightly run", refusal: "@fortnightly is unknown"},
		"random":         {line: "0~30 * * * * run", refusal: "uses ~"},
		"out of range":   {line: "61 * * * * run", refusal: "minute"},
		"no such day":    {line: "0 0 31 2 * run", refusal: "never runs"},
		"few fields":     {line: "0 0 * *", refusal: "4 of the 5 fields"},
		"no command":     {line: "0 0 * * *", refusal: "no command"},
		"only input":     {line: "0 0 * * * %x", refusal: "no command"},
		"no user":        {line: "0 0 * * * run", system: true, refusal: "a user and a command"},
		"not text":       {line: "0 0 * * * \xff", refusal: "UTF-8"},
		"word":           {line: "hello", refusal: "1 of the 5 fields"},
		"backwards":      {line: "0 22-4 * * * run", refusal: "hour"},
		"random delay":   {line: "RANDOM_DELAY=45", refusal: "RANDOM_DELAY"},
		"not a variable": {line: "1x=2", refusal: "1 of the 5 fields"},
	} {
		t.Run(name, func(t *testing.T) {
			entries, refusals := readAll(crontab.Reader{System: c.system, Check: check}, c.line)
			if c.refusal != "" {
				if len(refusals) != 1 || len(entries) != 0 || !strings.Contains(refusals[0].Error(), c.refusal) {
					t.Fatalf("got entries %v, refusals %v; want one refusal with %q", entries, refusals, c.refusal)
				}
				return
			}
			c.want.Line = 1
			if len(refusals) != 0 || !reflect.DeepEqual(entries, []crontab.Entry{c.want}) {
				t.Errorf("got entries %+v, refusals %v\nwant %+v", entries, refusals, c.want)
			}
		})
	}
}

// TestReadNothing: blank lines, comments and assignments yield nothing.
func TestReadNothing(t *testing.T) {
	for _, text := range []string{"", "\n \t\r\n", "# * * * * * run", "  # indented", "MAILTO=root", "RANDOM_DELAY=0", "CRON_TZ=Mars/Olympus"} {
		if entries, refusals := readAll(crontab.Reader{Check: check}, text); len(entries)+len(refusals) > 0 {
			t.Errorf("%q: got entries %v, refusals %v; want none", text, entries, refusals)
		}
	}
}

// TestReadInOrder: entries and refusals come in the order of their lines, with their places, and reading can stop early.
func TestReadInOrder(t *testing.T) {
	text := "@hourly one\n\n@reboot \x1b two\r\n# three\n@daily four\n  61 * * * * five"
	want := []string{"1 one", "3 @reboot \x1b two", "5 four", "6   61 * * * * five"}
	lines := []int{1, 3, 5, 6}
	for most := 1; most <= len(want); most++ {
		n := 0
		for entry, refusal := range (crontab.Reader{Check: check}).Read(text) {
			got, line := "", 0
			if (entry == nil) == (refusal == nil) {
				t.Fatalf("got the entry %v and the refusal %v; want one of them", entry, refusal)
			}
			if entry != nil {
				got, line = entry.Command, entry.Line
			} else {
				got, line = refusal.Text, refusal.Line
			}
			if _, text, _ := strings.Cut(want[n], " "); got != text || line != lines[n] {
				t.Errorf("item %d is %q of line %d; want %q", n, got, line, want[n])
			}
			if n++; n == most {
				break
			}
		}
		if n != most {
			t.Errorf("%d items; want %d", n, most)
		}
	}
}

func TestReadAssignments(t *testing.T) {
	entries, refusals := readAll(crontab.Reader{Zone: "UTC", Check: check}, `
MAILTO=root
@hourly one
PATH = "/bin: "
MAILTO=''
'QUOTED' = it's
@hourly two
CRON_TZ=Europe/Paris
@hourly three
CRON_TZ=
@hourly four
CRON_TZ=Mars/Olympus
@hourly five
`)
	wantEnv := []map[string]string{
		{"MAILTO": "root"},
		{"MAILTO": "", "PATH": "/bin: ", "QUOTED": "it's"},
	}
	zones := []string{"UTC", "UTC", "Europe/Paris", "UTC"}
	if len(entries) != len(zones) {
		t.Fatalf("got %d entries, want %d; refusals %v", len(entries), len(zones), refusals)
	}
	for i, e := range entries {
		if want := wantEnv[min(i, 1)]; !maps.Equal(e.Env, want) {
			t.Errorf("%s: env %v, want %v", e.Command, e.Env, want)
		}
		if e.Zone != zones[i] {
			t.Errorf("%s: zone %q, want %q", e.Command, e.Zone, zones[i])
		}
	}
	if len(refusals) != 1 || refusals[0].Line != 13 || !strings.Contains(refusals[0].Error(), "Mars/Olympus") {
		t.Errorf("refusals %v, want one of line 13 about the zone", refusals)
	}
}

// TestRefusalReasons: a caller recognizes a missing user and its own errors, and the text says what would be right.
func TestRefusalReasons(t *testing.T) {
	errCheck := errors.New("never in this timezone")
	for _, c := range []struct {
		reader     crontab.Reader
		line, text string
		reason     error // nil: any
	}{
		{crontab.Reader{System: true}, "0 0 * * * run", crontab.ErrNoUser.Error(), crontab.ErrNoUser},
		{crontab.Reader{Check: func(_, _ string) error { return errCheck }}, "0 0 * * * run", errCheck.Error(), errCheck},
		{crontab.Reader{}, "@reboot run", "@reboot means the start of a machine, which is no time on a clock; let that machine's init system start the command", nil},
		{crontab.Reader{}, "RANDOM_DELAY=45", "RANDOM_DELAY is not supported; the jobs below fire at the exact times they name", nil},
		{crontab.Reader{}, "0 ~ * * * run", `uses ~ in "~", a random time, which is not supported; choose a fixed one`, nil},
		{crontab.Reader{}, "@" + strings.Repeat("é", 40) + " run", "@" + strings.Repeat("é", 29) + "… is unknown; want five fields, @hourly, @daily, @weekly, @monthly or @yearly", nil},
	} {
		_, refusals := readAll(c.reader, c.line)
		if len(refusals) != 1 || refusals[0].Error() != c.text || c.reason != nil && !errors.Is(refusals[0], c.reason) {
			t.Errorf("%q: refusals %v; want %q", c.line, refusals, c.text)
		}
	}
}
