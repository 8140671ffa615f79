package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// alike returns a run in which both sides did the same: a short line that ticks at three minutes, and a long one of which
// Carillon skips the second tick.
func alike() *sight {
	from := time.Unix(60*1000, 0)
	s := &sight{
		table: []entry{{id: "line0000", takes: time.Second}, {id: "line0001", takes: 70 * time.Second, exit: 3}},
		from:  from, to: from.Add(3 * time.Minute),
	}
	for minute := range 3 {
		for i, e := range s.table {
			due := from.Add(time.Duration(minute) * time.Minute)
			n := note{ID: e.id, PID: 10*minute + i, Began: due.Add(1200 * time.Millisecond), Exit: e.exit, surroundings: surroundings{User: "root"}}
			n.Ended, n.Printed = n.Began.Add(e.takes), outputOf(outputs[minute+i], e.id, n.Began)
			s.cron = append(s.cron, n)
			n.Run = fmt.Sprintf("run-%d-%d", i, minute)
			run := recordedRun{ID: n.Run, ScheduledAt: due, Status: "succeeded", Result: end(shown(n.Printed), resultBytes), line: e.id}
			switch {
			case e.isLong() && minute == 1:
				run.Status, run.Result = "skipped", ""
			case e.exit != 0:
				run.Status, run.Result, run.Error = "dead", "", "exit status 3: "+end(shown(n.Printed), resultBytes-15)
				fallthrough
			default:
				n.Began = due.Add(40 * time.Millisecond)
				n.Ended = n.Began.Add(e.takes)
				s.ours = append(s.ours, n)
			}
			s.runs = append(s.runs, run)
		}
	}
	return s
}

// TestCompare plants one fault at a time; each is found by the checks that are about it and by no other.
func TestCompare(t *testing.T) {
	faults := []struct {
		name  string
		plant func(*sight)
		found []int // of the checks, in the order of compare
	}{
		{"none", func(*sight) {}, nil},
		{"a start is missing, with its run", func(s *sight) { s.ours, s.runs = s.ours[1:], s.runs[1:] }, []int{0}},
		{"a start is missing, its run is there", func(s *sight) { s.ours = s.ours[1:] }, []int{0, 5}},
		{"a run is missing, its start is there", func(s *sight) { s.runs = s.runs[1:] }, []int{0, 6}},
		{"a start is doubled", func(s *sight) { s.ours = append(s.ours, s.ours[0]) }, []int{0, 2, 5, 6}},
		{"a start that cron does not know", func(s *sight) { s.cron = slices.Delete(s.cron, 2, 3) }, []int{0}},
		{"a start is late", func(s *sight) { s.ours[0].Began = s.ours[0].Began.Add(2200 * time.Millisecond) }, []int{1}},
		{"both start late", func(s *sight) {
			s.cron[0].Began, s.ours[0].Began = s.cron[0].Began.Add(5*time.Second), s.ours[0].Began.Add(5*time.Second)
		}, nil},
		{"a start is early", func(s *sight) { s.ours[0].Began = s.ours[0].Began.Add(-50 * time.Millisecond) }, []int{1}},
		{"cron's herd is slow", func(s *sight) { s.cron[2].Began = s.cron[2].Began.Add(2 * time.Second) }, nil},
		{"a command runs beside itself", func(s *sight) { s.ours[0].Ended = s.ours[0].Began.Add(61 * time.Second) }, []int{2}},
		{"a command has no end", func(s *sight) { s.ours[0].Ended = time.Time{} }, []int{2, 6}},
		{"a skipped tick is not recorded", func(s *sight) { s.runs = slices.Delete(s.runs, 3, 4) }, []int{3}},
		{"another user", func(s *sight) { s.ours[0].User = "bin" }, []int{4}},
		{"another input", func(s *sight) { s.ours[1].Stdin = "x" }, []int{4}},
		{"an output is lost", func(s *sight) { s.runs[2].Result = "" }, []int{5}},
		{"an output is another's", func(s *sight) { s.runs[1].Error = s.runs[5].Error }, []int{5}},
		{"another exit status", func(s *sight) { s.runs[1].Error = strings.Replace(s.runs[1].Error, "3", "4", 1) }, []int{5}},
		{"a failure counts as a success", func(s *sight) { s.runs[1].Status = "succeeded" }, []int{5}},
	}
	for _, f := range faults {
		s := alike()
		f.plant(s)
		c := compare(s)
		var found []int
		for i, finding := range c.findings {
			if len(finding.faults) > 0 {
				found = append(found, i)
			}
		}
		if !slices.Equal(found, f.found) {
			t.Errorf("%s: found by the checks %v, want %v: %+v", f.name, found, f.found, c.findings)
		}
		if failed, err := report(io.Discard, s, c); err != nil || failed != len(f.found) {
			t.Errorf("%s: %d failed (%v), want %d", f.name, failed, err, len(f.found))
		}
	}
}

// TestNothingCompared checks that a run in which nothing happened does not pass.
func TestNothingCompared(t *testing.T) {
	s := alike()
	s.cron, s.ours, s.runs = nil, nil, nil
	if failed, _ := report(io.Discard, s, compare(s)); failed != 7 {
		t.Errorf("%d checks failed without a start, want all 7", failed)
	}
}

// TestTable draws the same table for the same seed, with every form in it.
func TestTable(t *testing.T) {
	table := drawTable(7, 200)
	if text(table, "/x") != text(drawTable(7, 200), "/x") {
		t.Error("one seed gave two tables")
	}
	got := text(table, "/x")
	for _, want := range []string{" root ", " daemon ", "%one line", "SHELL=/bin/bash", "PATH=/x:", "*/3 * 1 * ", "mon,tue", `\%Y`, "* * * * *"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table has no %q", want)
		}
	}
	long := 0
	for _, e := range table {
		if e.isLong() {
			long++
		}
	}
	if long != 10 {
		t.Errorf("%d of 200 lines are long, want 10", long)
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--for 5m --seed 3", ""},
		{"--for 90s", "whole minutes"},
		{"--for 1m", "from 2m0s"},
		{"--for 48h", "to 24h0m0s"},
		{"--jobs 1", "want 20 to"},
		{"--jobs 5000", "want 20 to 1000"},
		{"--binary /nowhere/at/all", "make build"},
		{"more", "unknown argument"},
	}
	for _, tt := range tests {
		_, err := parse(append([]string{"--binary", "compare_test.go"}, strings.Fields(tt.args)...), io.Discard)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", tt.args, err, tt.want)
		}
	}
}
