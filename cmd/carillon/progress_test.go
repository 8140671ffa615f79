package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgressLines: where nobody watches there is a line every few seconds, and none at first.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		con := &console{err: &errs}
		p := newProgress(con, "job", "imported")
		for n := range 50 {
			p.tell(n * 100)
			time.Sleep(100 * time.Millisecond)
		}
		p.end(1)
		want := "2,000 jobs imported so far, 1,000 jobs a second\n4,000 jobs imported so far, 1,000 jobs a second\n1 job imported\n"
		if errs.String() != want {
			t.Errorf("got\n%s want\n%s", errs.String(), want)
		}
	})
}

// TestProgressText: what is known of the whole is told too.
func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		n, all int64
		want   string
	}{
		{1 << 20, 4 << 20, "[######..................]  25%  1.0 MiB of 4.0 MiB fetched, 512.0 KiB a second, 6s left"},
		{4 << 20, 4 << 20, "[########################] 100%  4.0 MiB of 4.0 MiB fetched, 2.0 MiB a second"},
		{5 << 20, 4 << 20, "[########################] 100%  5.0 MiB of 4.0 MiB fetched, 2.5 MiB a second"},
		{2048, 0, "2.0 KiB fetched so far, 1.0 KiB a second"},
		{0, 10, "[........................]   0%  0 bytes of 10 bytes fetched, 0 bytes a second"},
	} {
		if got := progressBar(c.n, c.all) + progressText(c.n, c.all, 2*time.Second, formatBytes, "fetched"); got != c.want {
			t.Errorf("%d of %d:\n%s want\n%s", c.n, c.all, got, c.want)
		}
	}
}

// TestBarGivesWay: a bar is taken away before anything else is written in its line.
func TestBarGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		con := &console{out: &out, err: &errs}
		p := newProgress(con, "job", "imported")
		p.isBar = true
		p.of(1, 2)
		if errs.Len() > 0 {
			t.Errorf("a bar after no time: %q", errs.String())
		}
		time.Sleep(barAfter)
		p.of(1, 2)
		p.of(1, 2) // too soon
		con.printf("a line\n")
		con.notef("done\n")
		want := "\r[############............]  50%  1 job of 2 jobs imported, 2 jobs a second\x1b[K\r\x1b[Kdone\n"
		if errs.String() != want || out.String() != "a line\n" {
			t.Errorf("got %q, want %q", errs.String(), want)
		}
	})
}
