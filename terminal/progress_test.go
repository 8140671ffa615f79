package terminal_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/terminal"
	"github.com/carillon-io/carillon/testkit"
)

// jobs says a number of jobs.
func jobs(n int64) string { return fmt.Sprintf("%d jobs", n) }

// TestProgressLines: what is no terminal gets a line every two seconds, the first after two.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := terminal.NewProgress(&b, "imported", jobs)
		for n := range int64(50) {
			p.Of(n*100, 0)
			testkit.Pass(terminal.LineEvery / 20)
		}
		p.End(1)
		want := "2000 jobs imported so far, 1000 jobs a second\n4000 jobs imported so far, 1000 jobs a second\n1 jobs imported\n"
		if b.String() != want {
			t.Errorf("got\n%s want\n%s", b.String(), want)
		}
	})
}

// TestProgressText: a bar says how much of the whole is done, how fast it goes, and how long the rest takes.
func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		n, all int64
		want   string
	}{
		{100, 400, "[######..................]  25%  100 jobs of 400 jobs imported, 50 jobs a second, 6s left"},
		{400, 400, "[########################] 100%  400 jobs of 400 jobs imported, 200 jobs a second"},
		{500, 400, "[########################] 100%  500 jobs of 400 jobs imported, 250 jobs a second"},
		{200, 0, "200 jobs imported so far, 100 jobs a second"},
		{0, 10, "[........................]   0%  0 jobs of 10 jobs imported, 0 jobs a second"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			p := terminal.NewProgress(&b, "imported", jobs)
			p.Bar = true
			testkit.Pass(2 * time.Second)
			p.Of(c.n, c.all)
			if want := "\r" + c.want + "\x1b[K"; b.String() != want {
				t.Errorf("%d of %d:\n%q want\n%q", c.n, c.all, b.String(), want)
			}
		})
	}
}

// TestBarGivesWay: a bar appears after half a second, is redrawn every tenth, and is removed by Clear and End.
func TestBarGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bar = "\r[############............]  50%  1 jobs of 2 jobs imported, 2 jobs a second\x1b[K"
		var b bytes.Buffer
		p := terminal.NewProgress(&b, "imported", jobs)
		p.Bar = true
		p.Of(1, 2)
		p.Clear()
		if b.Len() > 0 {
			t.Errorf("a bar after no time: %q", b.String())
		}
		testkit.Pass(500 * time.Millisecond)
		p.Of(1, 2)
		p.Of(1, 2) // too soon
		p.Clear()
		p.Clear() // nothing is there any more
		if want := bar + "\r\x1b[K"; b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
		b.Reset()
		testkit.Pass(100 * time.Millisecond)
		p.Of(1, 2)
		p.End(2)
		if got := b.String(); !strings.HasPrefix(got, "\r[####") || !strings.HasSuffix(got, "\x1b[K\r\x1b[K2 jobs imported\n") {
			t.Errorf("at the end: %q", got)
		}
	})
}

// TestSilentProgress: a silent one writes its end only.
func TestSilentProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := terminal.NewProgress(&b, "imported", jobs)
		p.Silent = true
		testkit.Pass(time.Minute)
		p.Of(1, 2)
		p.End(2)
		if b.String() != "2 jobs imported\n" {
			t.Errorf("got %q", b.String())
		}
	})
}

// TestProgressReader: of a regular file the whole is known, of anything else it is not; the bar is removed at the end.
func TestProgressReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 64), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for want, r := range map[string]io.Reader{"16 jobs of 64 jobs": f, "16 jobs imported so far": bytes.NewReader(make([]byte, 64))} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			p := terminal.NewProgress(&b, "imported", jobs)
			p.Bar = true
			testkit.Pass(time.Second)
			in := p.Reader(r)
			n, err := io.ReadFull(in, make([]byte, 16))
			if err != nil || n != 16 || !strings.Contains(b.String(), want) {
				t.Errorf("%d, %v, %q; want %q", n, err, b.String(), want)
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) != 48 || !strings.HasSuffix(b.String(), "\r\x1b[K") {
				t.Errorf("the rest: %d, %v, %q", len(rest), err, b.String())
			}
			if _, err := p.Reader(iotest.ErrReader(io.ErrClosedPipe)).Read(nil); err != io.ErrClosedPipe {
				t.Errorf("a failure: %v", err)
			}
		})
	}
}
