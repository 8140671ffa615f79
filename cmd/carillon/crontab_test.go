package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
)

func TestCrontabLines(t *testing.T) {
	for name, c := range map[string]struct {
		line   string
		system bool
		want   cronEntry
		fault  string // part of the reason; the entry is not looked at
	}{
		"plain":                {line: "*/5 1-3 * * 1,3 run it", want: cronEntry{schedule: "*/5 1-3 * * 1,3", command: "run it"}},
		"blanks and tabs":      {line: "  1\t2  *\t* *   run  it ", want: cronEntry{schedule: "1 2 * * *", command: "run  it "}},
		"user":                 {line: "1 2 * * * root run", system: true, want: cronEntry{schedule: "1 2 * * *", user: "root", command: "run"}},
		"user after macro":     {line: "@daily www-data run", system: true, want: cronEntry{schedule: "@daily", user: "www-data", command: "run"}},
		"names":                {line: "0 0 * Jan-mar MON-Fri run", want: cronEntry{schedule: "0 0 * Jan-mar MON-Fri", command: "run"}},
		"sunday is 7":          {line: "0 0 * * 7 run", want: cronEntry{schedule: "0 0 * * 7", command: "run"}},
		"equal sign in words":  {line: "0 0 * * * X=1 run", want: cronEntry{schedule: "0 0 * * *", command: "X=1 run"}},
		"hash is no comment":   {line: "0 0 * * * run # now", want: cronEntry{schedule: "0 0 * * *", command: "run # now"}},
		"leading dash":         {line: "-0 0 * * * root run", system: true, want: cronEntry{schedule: "0 0 * * *", user: "root", command: "run"}},
		"every minute":         {line: "@every_minute run", want: cronEntry{schedule: "* * * * *", command: "run"}},
		"input":                {line: "@hourly mail x%Dear x,%%bye", want: cronEntry{schedule: "@hourly", command: "mail x", stdin: "Dear x,\n\nbye\n"}},
		"escaped percent":      {line: `@hourly date +\%d`, want: cronEntry{schedule: "@hourly", command: "date +%d"}},
		"other backslashes":    {line: `@hourly find . \( -name x \)`, want: cronEntry{schedule: "@hourly", command: `find . \( -name x \)`}},
		"two backslashes":      {line: `@hourly a\\%b`, want: cronEntry{schedule: "@hourly", command: `a\\`, stdin: "b\n"}},
		"percent in the input": {line: `@hourly a%b\%c\d`, want: cronEntry{schedule: "@hourly", command: "a", stdin: "b%c\\d\n"}},
		"empty input":          {line: "@hourly a%", want: cronEntry{schedule: "@hourly", command: "a"}},

		"reboot":         {line: "@reboot run", fault: "init system"},
		"unknown macro":  {line: "@fortnightly run", fault: "@fortnightly is unknown"},
		"random":         {line: "0~30 * * * * run", fault: "uses ~"},
		"out of range":   {line: "61 * * * * run", fault: "minute"},
		"no such day":    {line: "0 0 31 2 * run", fault: "never runs"},
		"few fields":     {line: "0 0 * *", fault: "4 of the 5 fields"},
		"no command":     {line: "0 0 * * *", fault: "no command"},
		"only input":     {line: "0 0 * * * %x", fault: "no command"},
		"no user":        {line: "0 0 * * * run", system: true, fault: "a user and a command"},
		"not text":       {line: "0 0 * * * \xff", fault: "UTF-8"},
		"word":           {line: "hello", fault: "1 of the 5 fields"},
		"backwards":      {line: "0 22-4 * * * run", fault: "hour"},
		"random delay":   {line: "RANDOM_DELAY=45", fault: "RANDOM_DELAY"},
		"not a variable": {line: "1x=2", fault: "1 of the 5 fields"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := readCrontab(c.line, c.system, "")
			if c.fault != "" {
				if len(tab.faults) != 1 || len(tab.entries) != 0 || !strings.Contains(tab.faults[0].reason, c.fault) {
					t.Fatalf("got entries %v, faults %v; want one fault with %q", tab.entries, tab.faults, c.fault)
				}
				return
			}
			if len(tab.entries) != 1 || len(tab.faults) != 0 {
				t.Fatalf("got entries %v, faults %v; want one entry", tab.entries, tab.faults)
			}
			got := tab.entries[0]
			if got.schedule != c.want.schedule || got.user != c.want.user || got.command != c.want.command || got.stdin != c.want.stdin {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestCrontabAssignments(t *testing.T) {
	tab := readCrontab(`
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
`, false, "UTC")
	wantEnv := []map[string]string{
		{"MAILTO": "root"},
		{"MAILTO": "", "PATH": "/bin: ", "QUOTED": "it's"},
	}
	zones := []string{"UTC", "UTC", "Europe/Paris", "UTC"}
	if len(tab.entries) != len(zones) {
		t.Fatalf("got %d entries, want %d; faults %v", len(tab.entries), len(zones), tab.faults)
	}
	for i, e := range tab.entries {
		if want := wantEnv[min(i, 1)]; !maps.Equal(e.env, want) {
			t.Errorf("%s: env %v, want %v", e.command, e.env, want)
		}
		if e.zone != zones[i] {
			t.Errorf("%s: zone %q, want %q", e.command, e.zone, zones[i])
		}
	}
	if len(tab.faults) != 1 || tab.faults[0].line != 13 || !strings.Contains(tab.faults[0].reason, "Mars/Olympus") {
		t.Errorf("faults %v, want one of line 13 about the zone", tab.faults)
	}
}

func TestCronNames(t *testing.T) {
	names := newCronNames("/etc/cron.d/my jobs.cron")
	entries := []cronEntry{
		{command: "/usr/bin/run --now"}, {command: "/usr/bin/run --now", schedule: "@daily"}, {command: "/usr/bin/run --now", user: "root"},
		{command: `A=1 B="2" "/opt/my tools/go.sh" x`}, {command: "[ -x /bin/y ] && y"}, {command: "$(x)"},
	}
	want := []string{"my-jobs-cron/run-", "-2", "my-jobs-cron/run-", "my-jobs-cron/go-sh-", "my-jobs-cron/test-", "my-jobs-cron/x-"}
	seen := map[string]bool{}
	for i := range entries {
		name := names.next(&entries[i])
		if !strings.HasPrefix(name, want[i]) && !strings.HasSuffix(name, want[i]) {
			t.Errorf("entry %d is named %q, want %q at its beginning or end", i, name, want[i])
		}
		if seen[name] {
			t.Errorf("entry %d has the name %q of another", i, name)
		}
		seen[name] = true
	}
}

// TestCrontabFixtures reads crontabs such as machines have, and counts.
func TestCrontabFixtures(t *testing.T) {
	for file, want := range map[string]struct{ entries, faults int }{
		"cron.d/catch-up": {1, 0}, "cron.d/web-statistics": {2, 0}, "cron.d/backup": {4, 3}, "cron.d/quiet-lines": {2, 0},
		"cron.d/renew-certificates": {1, 0}, "cron.d/check-disks": {2, 0}, "cron.d/mail-queue": {2, 0}, "cron.d/watch-logs": {1, 1},
		"cron.d/array-check": {1, 0}, "cron.d/node-agent": {1, 0}, "cron.d/bsd-style": {3, 1}, "cron.d/time-server": {4, 0},
		"cron.d/sessions": {1, 0}, "cron.d/survey": {1, 0}, "cron.d/activity": {2, 0}, "cron.d/volumes": {2, 0},
		"etc/crontab": {4, 0}, "user-crontab": {4, 0},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		tab := readCrontab(string(text), isSystemCrontab(filepath.Join("testdata", file)), "")
		if len(tab.entries) != want.entries || len(tab.faults) != want.faults {
			t.Errorf("%s: %d entries and %d faults, want %d and %d: %v",
				file, len(tab.entries), len(tab.faults), want.entries, want.faults, tab.faults)
		}
	}
}

// FuzzCrontab checks that no text panics, and that what is taken makes valid, unique names.
func FuzzCrontab(f *testing.F) {
	f.Add("*/5 * * * * root run%in\\%put\n@daily x\nA='b'\n", true)
	f.Add("-@weekly a\nCRON_TZ=Europe/Rome\n0 0 * * 7 \"b c\" d\r\n0 0 * * 7 \"b c\" d", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		tab := readCrontab(text, system, "UTC")
		names, seen := newCronNames("file"), map[string]bool{}
		for i := range tab.entries {
			name := names.next(&tab.entries[i])
			if err := job.ValidateName(name); err != nil || seen[name] {
				t.Errorf("line %d: name %q: taken twice, or %v", tab.entries[i].line, name, err)
			}
			seen[name] = true
		}
	})
}
