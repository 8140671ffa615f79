package worker

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/testkit"
)

var discard = slog.New(slog.DiscardHandler)

// TestCronD runs each line of files such as packages of Debian have, as the import sends them.
func TestCronD(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the lines are those of root")
	}
	dir := filepath.Join(t.TempDir(), "cron.d")
	if err := os.CopyFS(dir, os.DirFS("testdata/cron.d")); err != nil {
		t.Fatal(err)
	}
	allow := filepath.Join(filepath.Dir(dir), "allow.yaml")
	// In these files a test that fails says that there is nothing to do.
	write(t, allow, "crontabs: [{file: '"+dir+"/*', success: [1, 127]}]")
	chmodAll(t, dir)
	b := startWorker(t, allow, nil)
	ran := 0
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := crontab.NewNames(file)
		for entry, refusal := range (crontab.Reader{System: true}).Read(string(text)) {
			if refusal != nil {
				t.Fatal(refusal)
			}
			payload, err := json.Marshal(order{entry.Command, entry.Stdin, entry.User, entry.Env})
			if err != nil {
				t.Fatal(err)
			}
			name := names.Next(entry)
			b.put(name, "", func(j *client.Job) { j.Payload, j.Schedule = payload, entry.Schedule })
			want := map[bool]string{true: "dead", false: "succeeded"}[strings.HasSuffix(file, ".dpkg-old")]
			run := b.run(name, want)
			if ran++; strings.HasSuffix(file, "logrotate") && (!strings.HasPrefix(run.Result, "rotated on 2") || !strings.HasSuffix(run.Result, "by bash")) {
				t.Errorf("%s: %q", file, run.Result)
			}
		}
	}
	if ran != 10 {
		t.Errorf("%d lines ran", ran)
	}
}

func chmodAll(t *testing.T, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range append(files, dir) {
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyJobs runs two hundred jobs on schedules of seconds: each run that the schedule names is carried out once, at no
// other time, and reported.
func TestManyJobs(t *testing.T) {
	const jobs, runs = 200, 2
	dir, allow := place(t, "")
	out := filepath.Join(dir, "out")
	commands := make([]string, jobs)
	for i := range commands {
		commands[i] = fmt.Sprintf("echo %d,$CARILLON_RUN_ID >> %s", i, out)
	}
	write(t, allow, commandsAllowed(commands...))
	b := startWorker(t, allow, func(o *Options) { o.Heartbeat = 5 * time.Second })
	for i, command := range commands {
		b.put(fmt.Sprint(i), command, func(j *client.Job) {
			j.Schedule, j.MaxRuns, j.OverlapPolicy = secondly(i), runs, "buffer_all"
		})
	}
	testkit.Until(t, "all runs are over", func() bool { return len(lines(out)) >= jobs*runs })
	seen := map[string]int{}
	for _, line := range lines(out) {
		seen[line]++
	}
	for i := range jobs {
		s, err := schedule.Parse(schedule.Spec{Expr: secondly(i), Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		var page client.RunPage
		testkit.Until(t, "the runs of a job are reported", func() bool {
			page, err = b.c.ListRuns(t.Context(), client.RunListRequest{Job: fmt.Sprintf("%s/%d", b.name, i), Status: "succeeded"})
			return err == nil && len(page.Runs) == runs
		})
		for _, run := range page.Runs {
			at := instant.Millis(run.ScheduledAt.UnixMilli())
			if next, ok := s.Next(at-1, 0); !ok || next != at {
				t.Errorf("job %d (%s) ran for %s", i, secondly(i), run.ScheduledAt)
			}
			if n := seen[fmt.Sprintf("%d,%s", i, run.RunID)]; n != 1 {
				t.Errorf("run %s of job %d was carried out %d times", run.RunID, i, n)
			}
		}
	}
	if len(seen) != jobs*runs {
		t.Errorf("%d runs were carried out; want %d", len(seen), jobs*runs)
	}
}

// secondly returns the schedule of a job: each second, each second one, and others.
func secondly(i int) string {
	return []string{"* * * * * *", "*/2 * * * * *", "1-59/2 * * * * *", "*/3 * * * * *"}[i%4]
}
