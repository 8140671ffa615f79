package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// faultsShown bounds how many faults of a check are printed.
const faultsShown = 10

// report prints what was compared, and returns how many checks failed.
func report(out io.Writer, s *sight, c comparison) (failed int, err error) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "check\tcases\tfaults")
	for _, f := range c.findings {
		fmt.Fprintf(t, "%s\t%d\t%d\n", f.promise, f.cases, len(f.faults))
		if len(f.faults) > 0 || f.cases == 0 {
			failed++
		}
	}
	fmt.Fprint(t, "\nstarts\tmin\tmedian\tp99\tmax\n")
	for _, row := range []struct {
		name string
		of   []time.Duration
	}{{"cron, after the minute", c.late[0]}, {"Carillon, after the minute", c.late[1]}, {"Carillon after cron", c.behind}} {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.name, at(row.of, 0), at(row.of, 50), at(row.of, 99), at(row.of, 100))
	}
	if err := t.Flush(); err != nil {
		return failed, err
	}
	fmt.Fprintf(out, "%d lines, of which %d ticked, %s; commands that began beside themselves under cron: %d; ticks skipped under Carillon: %d\n",
		len(s.table), ticked(s), s.to.Sub(s.from), c.overlaps, c.skipped)
	for _, f := range c.findings {
		slices.Sort(f.faults)
		for i, text := range f.faults {
			if i == faultsShown {
				fmt.Fprintf(out, "  and %d more\n", len(f.faults)-i)
				break
			}
			fmt.Fprintf(out, "FAULT: %s: %s\n", f.promise, text)
		}
	}
	_, err = fmt.Fprintf(out, "%d passed, %d failed\n", len(c.findings)-failed, failed)
	return failed, err
}

// ticked counts the lines that cron has started.
func ticked(s *sight) int {
	lines := map[string]bool{}
	for _, n := range s.cron {
		lines[n.ID] = true
	}
	return len(lines)
}

// at returns a percentile of sorted durations, by nearest rank, in whole milliseconds.
func at(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(time.Millisecond)
}
