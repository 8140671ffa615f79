package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// behindMax is how long after cron Carillon may start a tick.
const behindMax = time.Second

// resultBytes is how much of the end of an output a run has, by docs/worker.md.
const resultBytes = 512

// finding is one check: what it says, how many cases it compared, and what was wrong.
type finding struct {
	promise string
	cases   int
	faults  []string
}

func (f *finding) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// tick is one due time of one line.
type tick struct {
	line string
	at   int64 // minutes since 1970
}

func (t tick) String() string {
	return t.line + " at " + time.Unix(60*t.at, 0).UTC().Format("15:04")
}

// late returns how long after the tick a command began.
func (t tick) late(n note) time.Duration { return n.Began.Sub(time.Unix(60*t.at, 0)) }

// sides are the starts of the window by tick, cron's and Carillon's, and Carillon's runs.
type sides struct {
	*sight
	entries    map[string]entry
	cron, ours map[tick][]note
	runs       map[tick][]recordedRun
	byRun      map[string][]note
}

// comparison is what compare has found.
type comparison struct {
	findings []finding
	late     [2][]time.Duration // of cron's starts, and of Carillon's; sorted
	behind   []time.Duration    // from cron's start of a tick to Carillon's; sorted
	overlaps int                // of cron
	skipped  int                // ticks of long commands
}

func compare(s *sight) comparison {
	d := s.sides()
	c := comparison{overlaps: len(overlaps(s.cron))}
	c.findings = []finding{d.starts(), d.punctual(&c), d.noOverlap(), d.longOnes(&c), d.sameSurroundings(), d.outputs(), d.recorded()}
	return c
}

// sides sorts what belongs to the window. A start of cron belongs to the minute in which it was; a start of Carillon to
// the tick of its run.
func (s *sight) sides() *sides {
	d := &sides{
		sight: s, entries: map[string]entry{}, cron: map[tick][]note{}, ours: map[tick][]note{},
		runs: map[tick][]recordedRun{}, byRun: map[string][]note{},
	}
	for _, e := range s.table {
		d.entries[e.id] = e
	}
	for _, n := range s.cron {
		if !n.Began.Before(s.from) && n.Began.Before(s.to) {
			t := tick{n.ID, n.Began.Unix() / 60}
			d.cron[t] = append(d.cron[t], n)
		}
	}
	for _, n := range s.ours {
		d.byRun[n.Run] = append(d.byRun[n.Run], n)
	}
	for _, run := range s.runs {
		t := tick{run.line, run.ScheduledAt.Unix() / 60}
		d.runs[t] = append(d.runs[t], run)
		d.ours[t] = append(d.ours[t], d.byRun[run.ID]...)
	}
	return d
}

// starts checks that both start each tick of a line that is not long once.
func (d *sides) starts() finding {
	f := finding{promise: "what cron starts, Carillon starts once, and nothing else"}
	for t, starts := range d.cron {
		if d.entries[t.line].isLong() {
			continue
		}
		f.cases++
		if len(starts) != 1 || len(d.ours[t]) != 1 {
			f.fault("%s: %d starts under cron, %d under Carillon", t, len(starts), len(d.ours[t]))
		}
	}
	for t, starts := range d.ours {
		if len(d.cron[t]) == 0 && len(starts) > 0 {
			f.fault("%s: started by Carillon alone", t)
		}
	}
	return f
}

// punctual checks that Carillon starts a tick neither before its minute nor more than a second after cron. How much earlier
// than cron it starts is told and not judged: cron looks at its table a second after the minute, and a herd takes it longer.
func (d *sides) punctual(c *comparison) finding {
	f := finding{promise: "a tick is not started before its minute, nor more than 1 s after cron starts it"}
	for t, cron := range d.cron {
		c.late[0] = append(c.late[0], t.late(cron[0]))
		ours := d.ours[t]
		if len(ours) == 0 {
			continue // starts and longOnes judge this
		}
		f.cases++
		late, behind := t.late(ours[0]), ours[0].Began.Sub(cron[0].Began)
		c.late[1], c.behind = append(c.late[1], late), append(c.behind, behind)
		if late < 0 || behind > behindMax {
			f.fault("%s: Carillon starts %s after the minute, cron %s", t, late, t.late(cron[0]))
		}
	}
	for _, of := range [][]time.Duration{c.late[0], c.late[1], c.behind} {
		slices.Sort(of)
	}
	return f
}

// noOverlap checks that no command of Carillon runs beside another of its line.
func (d *sides) noOverlap() finding {
	return finding{promise: "no command runs beside itself under Carillon", cases: len(d.sight.ours), faults: overlaps(d.sight.ours)}
}

// overlaps returns each start that came while the one before it was running. A command without an end runs for ever.
func overlaps(notes []note) (found []string) {
	ordered := slices.SortedFunc(slices.Values(notes), func(a, b note) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), a.Began.Compare(b.Began))
	})
	for i := 1; i < len(ordered); i++ {
		before, n := ordered[i-1], ordered[i]
		if before.ID == n.ID && (before.Ended.IsZero() || n.Began.Before(before.Ended)) {
			found = append(found, fmt.Sprintf("%s began at %s, before the end of the one before", n.ID, n.Began.Format(time.TimeOnly)))
		}
	}
	return found
}

// longOnes checks that each tick of a long line is started or recorded as skipped.
func (d *sides) longOnes(c *comparison) finding {
	f := finding{promise: "a tick of a command that still runs is recorded as skipped"}
	for t := range d.cron {
		if !d.entries[t.line].isLong() {
			continue
		}
		f.cases++
		skipped := slices.ContainsFunc(d.runs[t], func(r recordedRun) bool { return r.Status == "skipped" })
		if skipped {
			c.skipped++
		}
		if starts := len(d.ours[t]); len(d.runs[t]) != 1 || skipped == (starts > 0) || starts > 1 {
			f.fault("%s: %d runs, %d starts, skipped: %t", t, len(d.runs[t]), starts, skipped)
		}
	}
	return f
}

// sameSurroundings checks what the commands of a tick have found.
func (d *sides) sameSurroundings() finding {
	f := finding{promise: "same user, directory, environment and input"}
	for t, cron := range d.cron {
		for _, n := range d.ours[t] {
			f.cases++
			if n.surroundings != cron[0].surroundings {
				f.fault("%s: cron %+v, Carillon %+v", t, cron[0].surroundings, n.surroundings)
			}
		}
	}
	return f
}

// outputs checks that each run has the exit status of its command and the end of what it printed.
func (d *sides) outputs() finding {
	f := finding{promise: "each run has its exit status and the end of its output"}
	for t, runs := range d.runs {
		for _, run := range runs {
			if run.Status == "skipped" {
				continue
			}
			f.cases++
			if len(d.byRun[run.ID]) != 1 {
				f.fault("%s: run %s is %s and has %d starts (%s)", t, run.ID, run.Status, len(d.byRun[run.ID]), run.Error)
				continue
			}
			if fault := outputFault(run, d.byRun[run.ID][0]); fault != "" {
				f.fault("%s: %s", t, fault)
			}
		}
	}
	return f
}

func outputFault(run recordedRun, n note) string {
	whole := shown(n.Printed)
	if n.Exit == 0 {
		if want := end(whole, resultBytes); run.Status != "succeeded" || run.Result != want {
			return fmt.Sprintf("%s with %q; printed: %q", run.Status, run.Result, want)
		}
		return ""
	}
	prefix := fmt.Sprintf("exit status %d", n.Exit)
	want := prefix
	if whole != "" {
		want = prefix + ": " + end(whole, resultBytes-len(prefix)-2)
	}
	if run.Status != "dead" || run.Error != want {
		return fmt.Sprintf("%s with %q; want %q", run.Status, run.Error, want)
	}
	return ""
}

// shown returns an output as docs/worker.md promises it for runs: text without blanks around it, and with question marks
// for what is no text.
func shown(output []byte) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(output), "?"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text))
}

// end returns at most n bytes of the end of a text, in whole characters.
func end(text string, n int) string {
	text = text[max(0, len(text)-n):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// recorded checks that the commands of Carillon are those of its runs, and that all have ended.
func (d *sides) recorded() finding {
	f := finding{promise: "each command under Carillon is of one run and has ended"}
	known := map[string]bool{}
	for _, run := range d.sight.runs {
		known[run.ID] = true
	}
	for id, notes := range d.byRun {
		n := notes[0]
		if n.Began.Before(d.from) || !n.Began.Before(d.to) {
			continue
		}
		f.cases++
		if !known[id] || len(notes) > 1 || n.Ended.IsZero() {
			f.fault("%s began at %s: run %q is known: %t, starts: %d, ended: %t", n.ID, n.Began.Format(time.TimeOnly), id, known[id], len(notes), !n.Ended.IsZero())
		}
	}
	return f
}
