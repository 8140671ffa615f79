package crontab_test

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/crontab"
)

func TestNames(t *testing.T) {
	names := crontab.NewNames("/etc/cron.d/my jobs.cron")
	seen := map[string]bool{}
	for i, c := range []struct {
		entry        crontab.Entry
		prefix, tail string
	}{
		{crontab.Entry{Command: "/usr/bin/run --now"}, "my-jobs-cron/run-", ""},
		{crontab.Entry{Command: "/usr/bin/run --now", Schedule: "@daily"}, "my-jobs-cron/run-", "-2"},
		{crontab.Entry{Command: "/usr/bin/run --now", User: "root"}, "my-jobs-cron/run-", ""},
		{crontab.Entry{Command: `A=1 B="2" "/opt/my tools/go.sh" x`}, "my-jobs-cron/go-sh-", ""},
		{crontab.Entry{Command: "[ -x /bin/y ] && y"}, "my-jobs-cron/test-", ""},
		{crontab.Entry{Command: "$(x)"}, "my-jobs-cron/x-", ""},
		{crontab.Entry{Command: "é"}, "my-jobs-cron/command-", ""},
		{crontab.Entry{Command: strings.Repeat("a", 99)}, "my-jobs-cron/" + strings.Repeat("a", 40) + "-", ""},
	} {
		name := names.Next(&c.entry)
		if !strings.HasPrefix(name, c.prefix) || !strings.HasSuffix(name, c.tail) {
			t.Errorf("entry %d is named %q, want %q at its beginning and %q at its end", i, name, c.prefix, c.tail)
		}
		if seen[name] {
			t.Errorf("entry %d has the name %q of another", i, name)
		}
		seen[name] = true
	}
}

// TestNamesAreStable: a later release that names an entry otherwise would double the jobs of a crontab that is imported
// again.
func TestNamesAreStable(t *testing.T) {
	names := crontab.NewNames("/etc/cron.d/backup")
	for _, c := range []struct {
		entry crontab.Entry
		want  string
	}{
		{crontab.Entry{Command: "rsync -a /srv /mnt"}, "backup/rsync-5f1c60a2"},
		{crontab.Entry{User: "root", Command: "rsync -a /srv /mnt", Stdin: "secret\n"}, "backup/rsync-7671248a"},
		{crontab.Entry{Command: "rsync -a /srv /mnt", Schedule: "@weekly", Zone: "Asia/Tokyo"}, "backup/rsync-5f1c60a2-2"},
	} {
		if got := names.Next(&c.entry); got != c.want {
			t.Errorf("%+v is named %q; want %q", c.entry, got, c.want)
		}
	}
}

// TestNamesOfMachines: the same line on two machines is two jobs, whose names are stable.
func TestNamesOfMachines(t *testing.T) {
	e := crontab.Entry{Command: "rsync -a /srv /mnt"}
	for host, want := range map[string]string{"web-1": "backup/rsync-de087fac", "web-2": "backup/rsync-3740254b", "": "backup/rsync-5f1c60a2"} {
		names := crontab.NewMachineNames("/etc/cron.d/backup", host)
		if got := names.Next(&e); got != want {
			t.Errorf("on %q it is named %q; want %q", host, got, want)
		}
		if got := names.Next(&e); got != want+"-2" {
			t.Errorf("on %q the second is named %q", host, got)
		}
	}
}

// TestTokens: what stands for a file and a user is one token of a subject.
func TestTokens(t *testing.T) {
	for path, want := range map[string]string{"-": "crontab", "/etc/cron.d/a.b c": "a-b-c", "x" + strings.Repeat("y", 99): "x" + strings.Repeat("y", 63)} {
		if got := crontab.NewNames(path).File(); got != want {
			t.Errorf("the file %s is called %q; want %q", path, got, want)
		}
	}
	for user, want := range map[string]string{"": "none", "www-data": "www-data", "a.b@c": "a-b-c"} {
		if got := (&crontab.Entry{User: user}).UserToken(); got != want {
			t.Errorf("the user %q is called %q; want %q", user, got, want)
		}
	}
}

func TestHostToken(t *testing.T) {
	for name, want := range map[string]string{"web-1.example.com": "web-1", "web_1": "web_1", "": "localhost", ".": "localhost", "a b>*": "a-b"} {
		if got := crontab.HostToken(name); got != want {
			t.Errorf("%q is %q; want %q", name, got, want)
		}
	}
}
