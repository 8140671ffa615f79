package terminal_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/terminal"
)

// newTable returns a table whose last two columns may be cut, and whose dead jobs are red.
func newTable(b *bytes.Buffer, s terminal.Screen, titles ...string) *terminal.Table {
	table := terminal.NewTable(b, s, titles...)
	table.Flexible = func(title string) bool { return slices.Contains([]string{"TARGET", "WHY"}, title) }
	table.Style = func(title, cell string) terminal.Style {
		if strings.EqualFold(title, "STATUS") && cell == "dead" {
			return terminal.Red
		}
		return terminal.Plain
	}
	return table
}

// printTable prints a table of jobs on a screen.
func printTable(t *testing.T, s terminal.Screen, rows ...[]string) string {
	t.Helper()
	var b bytes.Buffer
	table := newTable(&b, s, "NAME", "STATUS", "TARGET", "WHY")
	for _, row := range rows {
		table.Row(row...)
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTableFits: on a terminal the widest of the columns that may be cut gives way, and names never do; in a pipe nothing
// is cut.
func TestTableFits(t *testing.T) {
	row := []string{"reports/daily", "active", "https://example.com/a/very/long/path/indeed", "short"}
	const wide = "NAME           STATUS  TARGET                                       WHY\n" +
		"reports/daily  active  https://example.com/a/very/long/path/indeed  short\n"
	if got := printTable(t, terminal.Screen{}, row); got != wide {
		t.Errorf("a pipe gets\n%s want\n%s", got, wide)
	}
	for _, width := range []int{200, 74, 50, 40} {
		got := printTable(t, terminal.Screen{IsTerminal: true, Width: width}, row)
		for line := range strings.Lines(got) {
			if columns := terminal.Width(strings.TrimSuffix(line, "\n")); columns > width {
				t.Errorf("width %d: %q has %d", width, line, columns)
			}
		}
		if !strings.Contains(got, "reports/daily  active  https:/") || (width < 73) != strings.Contains(got, "…") {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
	if got := printTable(t, terminal.Screen{IsTerminal: true, Width: 10}, row); !strings.Contains(got, "reports/daily  active  https:/…  short\n") {
		t.Errorf("far too narrow:\n%s", got)
	}
}

// TestTableMeasuresRunes: characters of two columns, or none, are aligned as a terminal shows them.
func TestTableMeasuresRunes(t *testing.T) {
	got := printTable(t, terminal.Screen{}, []string{"日本", "a", "b", "c"}, []string{"e\u0301", "a", "b", "c"}, []string{"😀x", "a", "b", "c"})
	want := "NAME  STATUS  TARGET  WHY\n日本  a       b       c\ne\u0301     a       b       c\n😀x   a       b       c\n"
	if got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}

// TestTableColours: titles and the cells that Style names have colours, and their columns are aligned as without.
func TestTableColours(t *testing.T) {
	got := printTable(t, terminal.Screen{Colour: true}, []string{"a", "dead", "x", "y"}, []string{"b", "active", "x", "y"})
	want := "\x1b[1mNAME\x1b[0m  \x1b[1mSTATUS\x1b[0m  \x1b[1mTARGET\x1b[0m  \x1b[1mWHY\x1b[0m\n" +
		"a     \x1b[31mdead\x1b[0m    x       y\nb     active  x       y\n"
	if got != want {
		t.Errorf("got\n%q want\n%q", got, want)
	}
}

// TestTableWithoutTitles: the first cell of a row is the title of the others; such a table is never cut.
func TestTableWithoutTitles(t *testing.T) {
	var b bytes.Buffer
	table := newTable(&b, terminal.Screen{IsTerminal: true, Width: 10, Colour: true})
	table.Row("target", "https://example.com/a/very/long/path")
	table.Row("status", "dead")
	table.Row("dead", "dead")
	table.Style = func(title, cell string) terminal.Style {
		if title == cell && title != "dead" {
			t.Errorf("the first cell %q is asked for", cell)
		}
		if title == "status" && cell == "dead" {
			return terminal.Red
		}
		return terminal.Plain
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "target  https://example.com/a/very/long/path\nstatus  \x1b[31mdead\x1b[0m\ndead    dead\n"; b.String() != want {
		t.Errorf("got\n%q want\n%q", b.String(), want)
	}
}

// TestTableInParts: the titles come once, each part is aligned by itself, the caller keeps its slice of cells, and nothing
// is cut or styled without the functions for that.
func TestTableInParts(t *testing.T) {
	var b bytes.Buffer
	table := terminal.NewTable(&b, terminal.Screen{Width: 5}, "A", "B")
	cells := []string{"long\tname", ""}
	table.Row(cells...)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	table.Row("x", "y")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "A          B\nlong·name  -\nx  y\n"; b.String() != want || cells[0] != "long\tname" || cells[1] != "" {
		t.Errorf("got\n%s want\n%s and the cells are %q", b.String(), want, cells)
	}
}

// TestTableReportsFailures: Flush passes on why the writer failed.
func TestTableReportsFailures(t *testing.T) {
	errFull := errors.New("full")
	table := terminal.NewTable(failing{errFull}, terminal.Screen{})
	table.Row("a")
	if err := table.Flush(); !errors.Is(err, errFull) {
		t.Errorf("got %v; want %v", err, errFull)
	}
}

type failing struct{ err error }

// Write implements io.Writer.
func (f failing) Write([]byte) (int, error) { return 0, f.err }
