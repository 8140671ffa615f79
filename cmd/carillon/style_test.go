package main

import (
	"bytes"
	"testing"

	"github.com/carillon-io/carillon/terminal"
)

// TestStatusColours: statuses have colours in the tables of all commands, with titles and without.
func TestStatusColours(t *testing.T) {
	var b bytes.Buffer
	con := &console{out: &b, screen: terminal.Screen{Colour: true}}
	table := con.table("NAME", "STATUS")
	table.Row("dead", "dead")
	table.Row("b", "active, but late")
	pairs := con.table()
	pairs.Row("verdict", "DAMAGED: torn")
	pairs.Row("name", "dead")
	for _, table := range []*terminal.Table{table, pairs} {
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := "\x1b[1mNAME\x1b[0m  \x1b[1mSTATUS\x1b[0m\n" +
		"dead  \x1b[31mdead\x1b[0m\nb     \x1b[32mactive, but late\x1b[0m\n" +
		"verdict  \x1b[31mDAMAGED: torn\x1b[0m\nname     dead\n"
	if b.String() != want {
		t.Errorf("got\n%q want\n%q", b.String(), want)
	}
}

// TestFlexibleColumns: on a narrow terminal targets are cut and names are not.
func TestFlexibleColumns(t *testing.T) {
	var b bytes.Buffer
	con := &console{out: &b, screen: terminal.Screen{IsTerminal: true, Width: 24}}
	table := con.table("NAME", "TARGET")
	table.Row("reports/daily", "nats:reports.daily")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "NAME           TARGET\nreports/daily  nats:rep…\n"; b.String() != want {
		t.Errorf("got\n%s want\n%s", b.String(), want)
	}
}

// TestDiffColours: a diff has colours, and control characters in it are made visible.
func TestDiffColours(t *testing.T) {
	got := shownDiff(terminal.Screen{Colour: true}, "--- a\n-old\n+new\x1b[2J\n same\n")
	if want := "\x1b[1m--- a\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+new·[2J\x1b[0m\n same\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
