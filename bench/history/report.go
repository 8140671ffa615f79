package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"text/tabwriter"
	"time"
)

// historiesMax bounds the jobs whose history is printed. The first of them mostly show the cause; all of them are
// in the file.
const historiesMax = 5

// linesMax bounds the printed lines of a history. The whole history goes to a file.
const linesMax = 60

// violationsMax bounds the printed violations of one check. One fault often breaks a promise for hundreds of jobs; the
// first ones are enough to find it.
const violationsMax = 10

// Report prints the figures of the run, the findings, and as the last line the number of checks that passed and
// failed. It returns the number that failed. It prints to w only; an error of w is ignored.
func Report(w io.Writer, h *History, findings []Finding) int {
	printFigures(w, h)
	passed, failed := printTable(w, findings)
	printViolations(w, h, findings)
	fmt.Fprintf(w, "\n%d passed, %d failed\n", passed, failed)
	return failed
}

// printTable prints one line for each finding, and counts the checks that passed and failed. A check
// that examined nothing counts as neither.
func printTable(w io.Writer, findings []Finding) (passed, failed int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\ncheck\texamined\tviolations\t\n")
	for _, f := range findings {
		note := f.Promise
		switch {
		case len(f.Violations) > 0:
			failed++
			note = "BROKEN: " + note
		case f.Examined == 0:
			// A check that had nothing to examine must not look like one that passed.
			note = "not tested: " + note
		default:
			passed++
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", f.Name, f.Examined, len(f.Violations), note)
	}
	_ = t.Flush()
	return passed, failed
}

// printFigures prints the numbers of requests, deliveries and so on. They decide nothing.
func printFigures(w io.Writer, h *History) {
	counts := make(map[string]int)
	for i := range h.Ops {
		counts[string(h.Ops[i].Kind)+" "+string(h.Ops[i].Outcome)]++
	}
	kinds := make([]string, 0, len(counts))
	for k := range counts {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	fmt.Fprintf(w, "\nrequests    %d:", len(h.Ops))
	for _, k := range kinds {
		fmt.Fprintf(w, " %s %d,", k, counts[k])
	}
	retries, lost, repeats := countRepeats(h)
	fmt.Fprintf(w, "\ndeliveries  %d, of them %d refused by the sink\n", len(h.Deliveries), countRefused(h))
	fmt.Fprintf(w, "duplicates  %d after a refusal, %d after a lost answer, %d for another reason\n", retries, lost, repeats)
	if h.Cluster {
		fmt.Fprintf(w, "faults      %d\n", countFaults(h))
	} else {
		fmt.Fprintf(w, "deaths      %d; starts %s\n", len(h.Deaths), Spread(startTimes(h)))
	}
	fmt.Fprintf(w, "lateness    %s (over all first arrivals, those after a death included)\n", Spread(latenesses(h)))
}

// countFaults returns how many faults the program caused, without those that only prepared another.
func countFaults(h *History) int {
	n := 0
	for _, f := range h.Faults {
		if !f.Prepares {
			n++
		}
	}
	return n
}

// countRefused returns how many deliveries the sink refused on purpose.
func countRefused(h *History) int {
	n := 0
	for i := range h.Deliveries {
		if h.Deliveries[i].Refused {
			n++
		}
	}
	return n
}

// countRepeats counts the deliveries of runs after their first: those after a refusal by the sink, those whose answer was lost, and
// those after a death or a fault.
func countRepeats(h *History) (retries, lost, repeats int) {
	ix := newIndex(h)
	for _, name := range ix.names {
		for _, ds := range byRun(ix.deliveries[name]) {
			for i := 1; i < len(ds); i++ {
				// A refusal makes the server try again, which is what it promises; other repeats need a death or a
				// fault.
				switch {
				case ds[i-1].Refused:
					retries++
				case isUnanswered(ds[i-1], ds[i]):
					lost++
				default:
					repeats++
				}
			}
		}
	}
	return retries, lost, repeats
}

// startTimes returns how long each start took until the ready line.
func startTimes(h *History) []time.Duration {
	var out []time.Duration
	for _, s := range h.Starts {
		out = append(out, s.Ready.Sub(s.Began))
	}
	return out
}

// latenesses returns the lateness of the first arrival of each run.
func latenesses(h *History) []time.Duration {
	var out []time.Duration
	for i := range h.Deliveries {
		// Later attempts wait for the retry policy, so they would say nothing about lateness.
		if d := &h.Deliveries[i]; d.Attempt == 1 {
			out = append(out, d.Arrived.Sub(d.Scheduled))
		}
	}
	return out
}

// Spread summarizes durations by exact nearest ranks.
func Spread(ds []time.Duration) string {
	if len(ds) == 0 {
		return "none"
	}
	slices.Sort(ds)
	at := func(permille int) time.Duration {
		// Nearest rank: the smallest value that at least this share of all values do not exceed.
		rank := (len(ds)*permille + 999) / 1000
		return ds[max(rank, 1)-1].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s of %d", at(500), at(990), at(1000), len(ds))
}

// printViolations prints breaches, and for some of them the job's history around the breach.
func printViolations(w io.Writer, h *History, findings []Finding) {
	var shown []Violation
	for _, f := range findings {
		for i, v := range f.Violations {
			if i == violationsMax {
				fmt.Fprintf(w, "  … and %d more of %s\n", len(f.Violations)-i, f.Name)
				break
			}
			fmt.Fprintf(w, "\nVIOLATION  %s\n", v)
			known := slices.ContainsFunc(shown, func(o Violation) bool { return o.Job == v.Job })
			// Two stories for each check show more than many of the same one.
			if v.Job != "" && i < 2 && !known && len(shown) < historiesMax {
				shown = append(shown, v)
			}
		}
	}
	for _, v := range shown {
		lines := h.history(v.Job)
		fmt.Fprintf(w, "\nhistory of %s (%d lines, those around the violation)\n", v.Job, len(lines))
		printLines(w, around(lines, v.At, linesMax))
	}
}

// WriteDeliveries writes all deliveries, one per line, with times in microseconds of Unix time. The columns are
// separated by tabs, for tools that search a run for a pattern that no check has.
func WriteDeliveries(path string, h *History) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	fmt.Fprintln(out, "arrived\tscheduled\ttarget\tjob\trun\tattempt\tfence\trefused")
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%s\t%d\t%d\t%t\n", d.Arrived, d.Scheduled, d.Target, d.Job, d.RunID, d.Attempt, d.Fence, d.Refused)
	}
	return errors.Join(out.Flush(), file.Close())
}

// WriteFindings writes what the checks found into a file, as Report prints it, so that a kept directory says which check
// failed even if no job has a part in it.
func WriteFindings(path string, h *History, findings []Finding) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	Report(file, h, findings)
	return file.Close()
}

// WriteHistories writes the whole history of each job with a violation.
func WriteHistories(path string, h *History, violations []Violation) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	// A violation without a job has no history to write.
	written := map[string]bool{"": true}
	for _, v := range violations {
		if !written[v.Job] {
			written[v.Job] = true
			fmt.Fprintf(out, "\nhistory of %s\n", v.Job)
			printLines(out, h.history(v.Job))
		}
	}
	return errors.Join(out.Flush(), file.Close())
}
