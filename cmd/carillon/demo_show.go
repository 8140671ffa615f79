package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/terminal"
)

// demoShow prints the demo and collects the latenesses. It is used from one goroutine, that of the command. Retries
// are shown and not collected, because their delay is wanted.
type demoShow struct {
	con  *console
	late map[string][]time.Duration // lateness of first attempts, by job

	killedAt, backAt time.Time      // of the server; zero before
	jobsAfter        int            // jobs that it had then
	due              map[string]int // runs that were due while it was down, by job; no latenesses of the scheduler
}

// newDemoShow returns a show without a firing.
func newDemoShow(con *console) *demoShow {
	return &demoShow{con: con, late: make(map[string][]time.Duration), due: make(map[string]int)}
}

// paint returns a text in a style, if the output has colours.
func (s *demoShow) paint(style terminal.Style, text string) markup {
	return markup(s.con.screen.Paint(style, terminal.Printable(text)))
}

// opening prints where the server is.
func (s *demoShow) opening(r demoReady, dir string, temporary bool) {
	kept := ""
	if temporary {
		kept = " (removed at the end)"
	}
	s.con.printf("%s\n\n", s.paint(terminal.Bold, "A Carillon server is up."))
	t := s.con.table()
	t.Row("  NATS", r.NATS)
	t.Row("  HTTP", r.HTTP)
	t.Row("  data", dir+kept)
	_ = t.Flush()
}

// jobs prints the jobs, and the head of the list of firings.
func (s *demoShow) jobs(jobs []demoJob, span time.Duration) {
	s.con.printf("\n%s\n\n", s.paint(terminal.Bold, fmt.Sprintf("%d jobs are registered over NATS.", len(jobs))))
	t := s.con.table("  JOB", "SCHEDULE", "TARGET", "WHAT")
	for _, j := range jobs {
		t.Row("  "+j.job.Name, j.job.Schedule, showTarget(j.job.Target), j.note)
	}
	_ = t.Flush()
	s.con.printf("\n%s\n\n", s.paint(terminal.Bold, fmt.Sprintf("This is what they fire in %s (Ctrl-C ends it).", span)))
	s.con.printf("  %-10s  %-12s  %11s   %s\n", "JOB", "SCHEDULED", "LATE", "RECEIVED OVER")
}

// firing prints an attempt. Only the first attempt of a run has a lateness: a retry is late by design.
func (s *demoShow) firing(f firing) {
	late, style := "retry", terminal.Dim
	// An attempt without the header counts as the first.
	switch {
	case s.wasDown(f.scheduled):
		s.due[f.job]++
		late, style = "+"+formatMillis(f.received.Sub(f.scheduled)), terminal.Yellow
		f.how += ", due while it was down"
	case f.attempt <= 1:
		lateness := f.received.Sub(f.scheduled)
		s.late[f.job] = append(s.late[f.job], lateness)
		late, style = "+"+formatMillis(lateness), terminal.Green
		// Both clocks are that of this machine, so an early run cannot be a difference between clocks.
		if lateness < 0 {
			late, style = formatMillis(lateness)+" EARLY", terminal.Red
		}
	}
	how := s.paint(terminal.Plain, f.how)
	if f.failed {
		how = s.paint(terminal.Red, f.how)
	}
	s.con.printf("  %-10s  %-12s  %s   %s\n",
		f.job, f.scheduled.Local().Format("15:04:05.000"), s.paint(style, fmt.Sprintf("%11s", late)), how)
}

// killed notes when the server was killed, and says so.
func (s *demoShow) killed(at time.Time) {
	s.killedAt = at
	s.con.printf("  %s\n", s.paint(terminal.Red, "The server is killed (kill -9)."))
}

// back notes when the server was ready again, and says so.
func (s *demoShow) back(at time.Time, took time.Duration, jobs int) {
	s.backAt, s.jobsAfter = at, jobs
	s.con.printf("  %s\n", s.paint(terminal.Green, fmt.Sprintf("It is back after %s, with %s from its log.", formatMillis(took), plural(jobs, "job"))))
}

// crashSlack is how long before the end of the server, and after its start, a run counts as one of that time: it may have
// been under way.
const crashSlack = 100 * time.Millisecond

// wasDown reports whether the server was down at an instant.
func (s *demoShow) wasDown(at time.Time) bool {
	return !s.killedAt.IsZero() && at.After(s.killedAt.Add(-crashSlack)) && (s.backAt.IsZero() || at.Before(s.backAt.Add(crashSlack)))
}

// missing reports whether the job that was due while the server was down has not been fired yet.
func (s *demoShow) missing() bool { return !s.backAt.IsZero() && s.due[demoDue] == 0 }

// summary prints the percentiles of the lateness for each job and for all.
func (s *demoShow) summary(jobs []demoJob) {
	s.con.printf("\n%s\n\n", s.paint(terminal.Bold, "How late the runs reached their receivers:"))
	t := s.con.table("  JOB", "RUNS", "EARLY", "P50", "P99", "MAX")
	var all []time.Duration
	for _, j := range jobs {
		// The receivers know a job by the end of its subject or path, which has no prefix.
		name := j.job.Name[len("demo/"):]
		if name == demoDue {
			continue // its lateness is that of the crash
		}
		s.summaryRow(t, name, s.late[name])
		all = append(all, s.late[name]...)
	}
	s.summaryRow(t, "all", all)
	_ = t.Flush()
	if n := s.dueInAll(); n > 0 {
		s.con.printf("\nThe server was killed once. Runs that were due while it was down, fired after its return and not in the table: %d.\n", n)
	}
}

// dueInAll returns how many runs were due while the server was down, and were fired after that.
func (s *demoShow) dueInAll() (n int) {
	for _, runs := range s.due {
		n += runs
	}
	return n
}

// summaryRow adds the row of one job to the summary. It sorts late in place.
func (s *demoShow) summaryRow(t *terminal.Table, name string, late []time.Duration) {
	slices.Sort(late)
	if len(late) == 0 {
		t.Row("  "+name, "0", "0", "-", "-", "-")
		return
	}
	t.Row("  "+name, fmt.Sprint(len(late)), fmt.Sprint(countEarly(late)),
		formatMillis(percentile(late, 50)), formatMillis(percentile(late, 99)), formatMillis(late[len(late)-1]))
}

// nextSteps prints commands to go on with.
func (s *demoShow) nextSteps() {
	s.con.printf("\n%s\n\n", s.paint(terminal.Bold, "Next steps:"))
	for _, step := range [][2]string{
		{"carillon serve", "run a server, data in ./carillon-data"},
		{"carillon job put hello --schedule '@every 10s' --target nats:hello", "register a job with it"},
		{"carillon run list hello", "see what it did"},
		{"carillon import --crontab /etc/crontab --dry-run", "see what your crontab would be"},
	} {
		s.con.printf("  %s\n      %s\n", step[0], s.paint(terminal.Dim, step[1]))
	}
}

// verdict returns an error if a run came early, or if no run came and the demo was not interrupted. The demo is a
// check of the promises as well: a run that came early, or what the crash has lost, makes it fail.
func (s *demoShow) verdict(ctx context.Context, jobs []demoJob) error {
	runs, early := 0, 0
	for _, late := range s.late {
		runs += len(late)
		early += countEarly(late)
	}
	switch {
	case early > 0:
		return fmt.Errorf("%s came early; was the clock of this machine set back?", plural(early, "run"))
	case !s.backAt.IsZero() && s.jobsAfter != len(jobs):
		return fmt.Errorf("the server came back with %s of %d", plural(s.jobsAfter, "job"), len(jobs))
	case s.missing():
		return errors.New("the job that was due while the server was down was not fired")
	case runs == 0 && ctx.Err() == nil:
		return errors.New("no run was received; the log above says why")
	}
	return nil
}

// countEarly returns how many latenesses are negative, which a correct scheduler never has.
func countEarly(late []time.Duration) int {
	n := 0
	for _, d := range late {
		if d < 0 {
			n++
		}
	}
	return n
}

// percentile returns a percentile of a sorted list, which is not empty, by nearest rank. Exact, since a demo has few
// runs.
func percentile(sorted []time.Duration, percent int) time.Duration {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// formatMillis returns a duration in milliseconds, with two decimals.
func formatMillis(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
