package crontab_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/crontab"
	"github.com/carillon-io/carillon/job"
)

// TestReadMachines reads crontabs such as machines have, and counts.
func TestReadMachines(t *testing.T) {
	for file, want := range map[string]struct{ entries, refusals int }{
		"cron.d/catch-up": {1, 0}, "cron.d/web-statistics": {2, 0}, "cron.d/backup": {4, 3}, "cron.d/quiet-lines": {2, 0},
		"cron.d/renew-certificates": {1, 0}, "cron.d/check-disks": {2, 0}, "cron.d/mail-queue": {2, 0}, "cron.d/watch-logs": {1, 1},
		"cron.d/array-check": {1, 0}, "cron.d/node-agent": {1, 0}, "cron.d/bsd-style": {3, 1}, "cron.d/time-server": {4, 0},
		"cron.d/sessions": {1, 0}, "cron.d/survey": {1, 0}, "cron.d/activity": {2, 0}, "cron.d/volumes": {2, 0},
		"etc/crontab": {4, 0}, "user-crontab": {4, 0},
	} {
		path := filepath.Join("testdata", file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entries, refusals := readAll(crontab.Reader{System: crontab.HasUserColumn(path), Check: check}, string(text))
		if len(entries) != want.entries || len(refusals) != want.refusals {
			t.Errorf("%s: %d entries and %d refusals, want %d and %d: %v",
				file, len(entries), len(refusals), want.entries, want.refusals, refusals)
		}
	}
}

// FuzzRead checks that no text panics, and that the names of the entries are unique and valid for jobs.
func FuzzRead(f *testing.F) {
	f.Add("*/5 * * * * root run%in\\%put\n@daily x\nA='b'\n", true)
	f.Add("-@weekly a\nCRON_TZ=Europe/Rome\n0 0 * * 7 \"b c\" d\r\n0 0 * * 7 \"b c\" d", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		names, seen, line := crontab.NewNames("file"), map[string]bool{}, 0
		for entry, refusal := range (crontab.Reader{System: system, Zone: "UTC", Check: check}).Read(text) {
			if refusal != nil {
				if refusal.Line <= line || refusal.Error() == "" {
					t.Fatalf("after line %d: %+v", line, refusal)
				}
				line = refusal.Line
				continue
			}
			name := names.Next(entry)
			if err := job.ValidateName(name); err != nil || seen[name] || entry.Line <= line {
				t.Errorf("line %d after %d: name %q: taken twice, or %v", entry.Line, line, name, err)
			}
			seen[name], line = true, entry.Line
		}
	})
}
