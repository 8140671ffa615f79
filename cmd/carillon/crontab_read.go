package main

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/carillon-io/carillon/job"
)

// crontab is what one crontab says, by the rules of crontab(5). Reading it never fails as a whole: a
// line that cannot become a job is a fault, and the lines after it are read all the same.
type crontab struct {
	entries []cronEntry
	faults  []lineFault

	system bool // a user column stands before the command, as in /etc/crontab and /etc/cron.d
	base   string
	zone   string            // timezone in force: base, or what CRON_TZ said last
	env    map[string]string // assignments in force; entries share it, so it is replaced and never changed
}

// cronEntry is one line that runs a command.
type cronEntry struct {
	line     int // counted from 1
	schedule string
	zone     string
	user     string // "" in a user's own crontab
	command  string
	stdin    string
	env      map[string]string
}

// lineFault is a line that cannot be taken, and why.
type lineFault struct {
	line   int
	reason string
}

// readCrontab reads a crontab whose times are in the given timezone until a CRON_TZ says otherwise.
func readCrontab(text string, system bool, zone string) *crontab {
	c := &crontab{system: system, base: zone, zone: zone}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := c.take(number, strings.TrimRight(line, "\r\n")); err != nil {
			c.faults = append(c.faults, lineFault{number, err.Error()})
		}
	}
	return c
}

func (c *crontab) take(number int, line string) error {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] == '#' {
		return nil
	}
	if !utf8.ValidString(line) {
		return fmt.Errorf("is not valid UTF-8; convert the file first")
	}
	if name, value, ok := cutAssignment(line); ok {
		return c.assign(name, value)
	}
	entry, err := c.cutEntry(line)
	if err != nil {
		return err
	}
	entry.line, entry.zone, entry.env = number, c.zone, c.env
	if _, err := job.ParseSchedule(job.Spec{Expr: entry.schedule, Zone: entry.zone}); err != nil {
		return err
	}
	c.entries = append(c.entries, entry)
	return nil
}

// assign puts an assignment into force for the lines after it.
func (c *crontab) assign(name, value string) error {
	switch name {
	case "CRON_TZ":
		c.zone = value
		if value == "" {
			c.zone = c.base
		}
		return nil
	case "RANDOM_DELAY":
		if value == "0" {
			return nil
		}
		return fmt.Errorf("RANDOM_DELAY is not supported; the jobs below fire at the exact times they name")
	}
	env := maps.Clone(c.env)
	if env == nil {
		env = map[string]string{}
	}
	env[name] = value
	c.env = env
	return nil
}

// cutAssignment reads a line such as MAILTO=root or PATH = "/bin:/usr/bin". Quotes keep the blanks at
// the ends of a value and are not part of it.
func cutAssignment(line string) (name, value string, ok bool) {
	left, right, ok := strings.Cut(line, "=")
	name = unquote(strings.Trim(left, " \t"))
	if !ok || !isVariable(name) {
		return "", "", false
	}
	return name, unquote(strings.Trim(right, " \t")), true
}

// unquote drops one pair of equal quotes around s.
func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// isVariable tells whether s is the name of a variable of the environment.
func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
