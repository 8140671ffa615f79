package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/terminal"
	"github.com/carillon-io/carillon/testkit"
)

// TestBarGivesWay: a bar is removed before a command writes anything else, and a second progress before it begins.
func TestBarGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bar, gone = "\r[############............]  50%  1,000 jobs of 2,000 jobs imported, 1,000 jobs a second, 1s left\x1b[K", "\r\x1b[K"
		for name, c := range map[string]struct {
			write     func(con *console)
			out, errs string
		}{
			"a line":     {func(con *console) { con.printf("a line\n") }, "a line\n", bar + gone},
			"a remark":   {func(con *console) { con.notef("a remark\n") }, "", bar + gone + "a remark\n"},
			"a document": {func(con *console) { _ = con.printDocument(formJSON, 1) }, "1\n", bar + gone},
			"another":    {func(con *console) { con.newProgress("run", "retried") }, "", bar + gone},
		} {
			var out, errs bytes.Buffer
			con := &console{out: &out, err: &errs}
			p := con.newProgress("job", "imported")
			p.Bar = true
			testkit.Pass(time.Second)
			p.Of(1000, 2000)
			c.write(con)
			if errs.String() != c.errs || out.String() != c.out {
				t.Errorf("%s: got %q and %q, want %q and %q", name, out.String(), errs.String(), c.out, c.errs)
			}
		}
	})
}

// TestProgressCounts: a progress counts in the words of the command.
func TestProgressCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		con := &console{err: &errs}
		con.newProgress("job", "imported").End(1)
		p := con.newByteProgress("fetched")
		testkit.Pass(terminal.LineEvery)
		p.Of(1<<20, 4<<20)
		stream := con.newStreamProgress("match", "exported")
		if stream.Silent {
			t.Error("silent although the output is no terminal")
		}
		con.screen.IsTerminal = true
		if !con.newStreamProgress("match", "exported").Silent {
			t.Error("not silent beside a terminal")
		}
		stream.End(1234)
		want := "1 job imported\n1.0 MiB of 4.0 MiB fetched, 512.0 KiB a second, 6s left\n1,234 matches exported\n"
		if errs.String() != want {
			t.Errorf("got\n%s want\n%s", errs.String(), want)
		}
	})
}
