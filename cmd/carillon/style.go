package main

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/carillon-io/carillon/terminal"
)

// The titles of columns and rows that the tables of all commands share. A column of flexibleTitles may be cut when the
// table is wider than the terminal: what people copy is not in it, nor what is short anyway. A column of statusTitles and
// a row of statusPairs has the colour of its status.
var (
	flexibleTitles = []string{"SCHEDULE", "TARGET", "WHY", "WHAT", "ERROR", "PAYLOAD", "DESCRIPTION", "BY", "FROM"}
	statusTitles   = []string{"STATUS", "LAST RUN"}
	statusPairs    = []string{"status", "role", "verdict"}
)

// table returns a table on the standard output with the given column titles, or none.
func (c *console) table(titles ...string) *terminal.Table { return newTable(c.out, c.screen, titles) }

// table returns a table on the standard output that is written through the buffer.
func (o *output) table(titles ...string) *terminal.Table { return newTable(o, o.con.screen, titles) }

// newTable returns a table with the rules for cuts and colours that all commands share.
func newTable(w io.Writer, screen terminal.Screen, titles []string) *terminal.Table {
	t := terminal.NewTable(w, screen, titles...)
	t.Flexible = func(title string) bool { return slices.Contains(flexibleTitles, title) }
	t.Style = func(title, cell string) terminal.Style {
		if slices.Contains(statusTitles, title) || slices.Contains(statusPairs, title) {
			return statusStyle(cell)
		}
		return terminal.Plain
	}
	return t
}

// statusStyles are the styles of the words for a status. A word that is not here has no colour, so a status of a newer
// server is shown plainly.
var statusStyles = map[string]terminal.Style{
	"active": terminal.Green, "succeeded": terminal.Green, "leader": terminal.Green, "intact": terminal.Green, "whole": terminal.Green,
	"pending": terminal.Cyan, "running": terminal.Cyan, "standby": terminal.Cyan,
	"paused": terminal.Yellow, "retrying": terminal.Yellow,
	"failed": terminal.Red, "dead": terminal.Red, "DAMAGED": terminal.Red,
	"completed": terminal.Dim, "skipped": terminal.Dim, "cancelled": terminal.Dim,
}

// statusStyle returns the style of a text that begins with a status. It cuts at the first space, because a status
// may be followed by its reason.
func statusStyle(text string) terminal.Style {
	word, _, _ := strings.Cut(text, " ")
	return statusStyles[strings.TrimFunc(word, unicode.IsPunct)]
}

// shownDiff returns a diff as it is printed on a screen: with colours, and with control characters made visible.
// Control characters are made visible, because a definition may contain sequences that would change the terminal.
func shownDiff(screen terminal.Screen, diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		if text, ok := strings.CutSuffix(line, "\n"); ok {
			lines[i] = screen.Paint(diffStyle(text), terminal.Printable(text)) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// diffStyle returns the style of a line of a diff.
func diffStyle(line string) terminal.Style {
	switch {
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		return terminal.Bold
	case strings.HasPrefix(line, "@@"):
		return terminal.Cyan
	case strings.HasPrefix(line, "-"):
		return terminal.Red
	case strings.HasPrefix(line, "+"):
		return terminal.Green
	}
	return terminal.Plain
}
