package main

import (
	"bytes"
	"strings"
	"testing"
)

// printTable prints a table of jobs on a screen.
func printTable(t *testing.T, s screen, rows ...[]string) string {
	t.Helper()
	var b bytes.Buffer
	con := &console{out: &b, screen: s}
	table := con.table("NAME", "STATUS", "TARGET", "WHY")
	for _, row := range rows {
		table.row(row...)
	}
	if err := table.flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTableFits: on a terminal the widest of the columns that may be cut gives way, and names never do; in
// a pipe everything is there.
func TestTableFits(t *testing.T) {
	row := func() []string {
		return []string{"reports/daily", "active", "https://example.com/a/very/long/path/indeed", "short"}
	}
	const wide = "NAME           STATUS  TARGET                                       WHY\n" +
		"reports/daily  active  https://example.com/a/very/long/path/indeed  short\n"
	if got := printTable(t, screen{}, row()); got != wide {
		t.Errorf("a pipe gets\n%s want\n%s", got, wide)
	}
	for _, width := range []int{200, 74, 50, 40} {
		got := printTable(t, screen{isTerminal: true, width: width}, row())
		for line := range strings.Lines(got) {
			if textWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("width %d: %q has %d", width, line, textWidth(line)-1)
			}
		}
		if !strings.Contains(got, "reports/daily  active  https:/") || (width < 73) != strings.Contains(got, "…") {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
	if got := printTable(t, screen{isTerminal: true, width: 10}, row()); !strings.Contains(got, "reports/daily  active  https:/…  short\n") {
		t.Errorf("far too narrow:\n%s", got)
	}
}

// TestTableMeasuresRunes: what takes two columns, or none, is aligned as a terminal shows it.
func TestTableMeasuresRunes(t *testing.T) {
	got := printTable(t, screen{}, []string{"日本", "a", "b", "c"}, []string{"e\u0301", "a", "b", "c"}, []string{"😀x", "a", "b", "c"})
	want := "NAME  STATUS  TARGET  WHY\n日本  a       b       c\ne\u0301     a       b       c\n😀x   a       b       c\n"
	if got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
	for text, want := range map[string]string{"日本語": "日本…", "abcdef": "abcd…", "e\u0301bcde": "e\u0301bcde", "日日日日": "日日…"} {
		if got := cutText(text, 5); got != want && textWidth(text) > 5 {
			t.Errorf("%q is cut to %q; want %q", text, got, want)
		}
	}
	for i := 1; i < len(wideRunes); i++ {
		if wideRunes[i][0] <= wideRunes[i-1][1] || wideRunes[i][1] < wideRunes[i][0] {
			t.Errorf("range %d of the wide runes is out of order", i)
		}
	}
}

// TestTableColours: statuses have colours, and their columns are aligned as without.
func TestTableColours(t *testing.T) {
	got := printTable(t, screen{colour: true}, []string{"a", "dead", "x", "y"}, []string{"b", "active", "x", "y"})
	want := "\x1b[1mNAME\x1b[0m  \x1b[1mSTATUS\x1b[0m  \x1b[1mTARGET\x1b[0m  \x1b[1mWHY\x1b[0m\n" +
		"a     \x1b[31mdead\x1b[0m    x       y\nb     \x1b[32mactive\x1b[0m  x       y\n"
	if got != want {
		t.Errorf("got\n%q want\n%q", got, want)
	}
	if got := (screen{colour: true}).shownDiff("--- a\n-old\n+new\x1b[2J\n same\n"); got !=
		"\x1b[1m--- a\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+new·[2J\x1b[0m\n same\n" {
		t.Errorf("diff: %q", got)
	}
}

// TestWhenThereAreColours: never in a pipe unless asked for, and a flag wins over the environment.
func TestWhenThereAreColours(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	con := &console{out: &bytes.Buffer{}}
	for choice, want := range map[colourChoice]bool{colourAuto: false, colourAlways: true, colourNever: false} {
		con.setScreen(choice)
		if con.screen.colour != want || con.screen.isTerminal || con.screen.width != 0 {
			t.Errorf("%s: %+v", choice, con.screen)
		}
	}
}
