package crontab_test

import (
	"testing"

	"github.com/carillon-io/carillon/crontab"
)

// TestPaths: the path of a crontab says whether it has a user column, and which table is anacron's.
func TestPaths(t *testing.T) {
	for path, want := range map[string]struct{ system, anacron bool }{
		"/etc/crontab":                {system: true},
		"testdata/etc/crontab":        {system: true},
		"/etc/cron.d/sysstat":         {system: true},
		"/var/spool/cron/root":        {},
		"/home/ann/crontab":           {},
		"/etc/crontab.bak":            {},
		"/etc/cron.d/deeper/in/there": {},
		"/etc/anacrontab":             {anacron: true},
		"anacrontab":                  {anacron: true},
	} {
		if got := crontab.HasUserColumn(path); got != want.system {
			t.Errorf("%s: a user column: %t; want %t", path, got, want.system)
		}
		if got := crontab.IsAnacron(path); got != want.anacron {
			t.Errorf("%s: of anacron: %t; want %t", path, got, want.anacron)
		}
	}
}
