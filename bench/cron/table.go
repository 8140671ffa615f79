package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// entry is a line of the table that runs a command.
type entry struct {
	id    string
	when  string // five fields or a macro
	user  string
	stdin string
	kind  string // of its output
	takes time.Duration
	exit  int
}

// isLong tells whether the command takes longer than the time to its next tick. Cron starts it beside itself; Carillon
// skips these ticks.
func (e entry) isLong() bool { return e.takes > time.Minute }

// section is a part of the table: assignments, and the form of the commands below them.
type section struct {
	assignments string // "{bin}" stands for the directory of act
	command     string // "{act}" stands for act and its arguments
}

var sections = []section{
	{"MAILTO=\"\"", "{bin}/{act}"},
	{"MARK=one", "{bin}/{act}"},
	{"PATH={bin}:/usr/bin:/bin\nMARK = 'two words'", "{act}"},
	{"SHELL=/bin/bash\nMARK=\"three\"", `[[ -n $MARK ]] && cd / && cd "$OLDPWD" && {act}`},
	{"# The escaped percent is the command's own; the first bare one ends it.\nMARK=four", `test "$(date +\%Y | wc -c)" = 5 && {act}`},
}

var users = []string{"root", "daemon", "bin"}

// drawTable draws the lines of a table: most tick every few minutes and take less than a second, one in twenty takes
// longer than its interval.
func drawTable(seed uint64, jobs int) []entry {
	rng := rand.New(rand.NewPCG(seed, 0))
	table := make([]entry, jobs)
	for i := range table {
		e := entry{
			id: fmt.Sprintf("line%04d", i), when: drawTimes(rng), user: users[rng.IntN(len(users))],
			kind: outputs[rng.IntN(len(outputs))], takes: time.Duration(rng.IntN(900)) * time.Millisecond,
		}
		if rng.IntN(3) == 0 {
			e.stdin = "one line of " + e.id + "%%a second\\% line"
		}
		if rng.IntN(4) == 0 {
			e.exit = 1 + rng.IntN(100)
		}
		switch i % 20 {
		case 7:
			e.when, e.takes = "* * * * *", time.Duration(65+rng.IntN(20))*time.Second
		case 13:
			e.takes = time.Duration(10+rng.IntN(40)) * time.Second
		}
		table[i] = e
	}
	return table
}

// drawTimes draws when a line ticks, in the forms that crontabs use.
func drawTimes(rng *rand.Rand) string {
	minute := func() int { return rng.IntN(60) }
	switch rng.IntN(12) {
	case 0, 1, 2:
		return "* * * * *"
	case 3, 4:
		return fmt.Sprintf("*/%d * * * *", 2+rng.IntN(6))
	case 5:
		from := rng.IntN(40)
		return fmt.Sprintf("%d-%d * * * *", from, from+1+rng.IntN(19))
	case 6:
		return fmt.Sprintf("%d-59/%d * * * *", rng.IntN(10), 2+rng.IntN(4))
	case 7:
		return fmt.Sprintf("%d,%d,%d-%d,%d * * * *", minute(), minute(), 20, 20+rng.IntN(30), minute())
	case 8:
		return fmt.Sprintf("*/%d * * Jan-DEC mon,tue,Wed-Fri,6,7", 1+rng.IntN(4))
	case 9:
		return fmt.Sprintf("*/%d * 31 1,%d *", 1+rng.IntN(3), 1+rng.IntN(12))
	case 10: // one of the two days suffices
		return fmt.Sprintf("*/3 * 1 * %d", rng.IntN(8))
	default:
		return fmt.Sprintf("%d %s * * *", minute(), []string{"*", "*/2", "0-23", "1-23/2"}[rng.IntN(4)])
	}
}

// text returns the table as a system crontab, whose commands stand in bin.
func text(table []entry, bin string) string {
	var b strings.Builder
	each := (len(table) + len(sections) - 1) / len(sections)
	for i, e := range table {
		s := sections[i/each]
		if i%each == 0 {
			fmt.Fprintf(&b, "\n%s\n", strings.ReplaceAll(s.assignments, "{bin}", bin))
		}
		call := fmt.Sprintf("%s --id %s --takes %s --prints %s --exits %d", actName, e.id, e.takes, e.kind, e.exit)
		command := strings.NewReplacer("{bin}", bin, "{act}", call).Replace(s.command)
		if e.stdin != "" {
			command += "%" + e.stdin
		}
		fmt.Fprintf(&b, "%s %s %s\n", e.when, e.user, command)
	}
	return b.String()
}
