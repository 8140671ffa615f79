package terminal_test

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/terminal"
)

// TestWidths: a text takes as many columns as a terminal shows it in, and is cut to at most so many.
func TestWidths(t *testing.T) {
	for text, want := range map[string]struct {
		width int
		cut   string // to five columns
	}{
		"":             {0, ""},
		"abcde":        {5, "abcde"},
		"abcdef":       {6, "abcd…"},
		"日本語":          {6, "日本…"},
		"日日日日":         {8, "日日…"},
		"e\u0301bcde":  {5, "e\u0301bcde"},
		"e\u0301bcdef": {6, "e\u0301bcd…"},
		"a😀b":          {4, "a😀b"},
		"한국어":          {6, "한국…"},
		"a\u200bbcd":   {4, "a\u200bbcd"}, // a blank of no width
		"Ａ1":           {3, "Ａ1"},         // full-width
	} {
		if got := terminal.Width(text); got != want.width {
			t.Errorf("%q takes %d columns; want %d", text, got, want.width)
		}
		if got := terminal.Cut(text, 5); got != want.cut {
			t.Errorf("%q is cut to %q; want %q", text, got, want.cut)
		}
	}
	if got := terminal.Cut("日本", 1); got != "…" {
		t.Errorf("cut to one column: %q", got)
	}
}

// FuzzCut: what is cut fits, and what fits is not cut.
func FuzzCut(f *testing.F) {
	f.Add("日本語 e\u0301 \xff", 3)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = min(max(columns, 1), 1000)
		cut := terminal.Cut(text, columns)
		if width := terminal.Width(cut); width > columns || terminal.Width(text) <= columns && cut != text {
			t.Errorf("%q is cut to %q, which takes %d of %d columns", text, cut, width, columns)
		}
	})
}

func TestPrintable(t *testing.T) {
	if got := terminal.Printable("a\x1b[2J\tb\n\x7f\u009b2J\u202eé日"); got != "a·[2J·b···2J·é日" {
		t.Errorf("got %q", got)
	}
}

func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0ms":    0,
		"999ms":  time.Second - time.Nanosecond,
		"1s":     1999 * time.Millisecond,
		"1m":     time.Minute + 900*time.Millisecond,
		"1m5s":   65 * time.Second,
		"1h59m":  2*time.Hour - time.Second,
		"3d":     72*time.Hour + 59*time.Minute,
		"2y1d":   731*24*time.Hour + time.Hour,
		"1y364d": 2*365*24*time.Hour - time.Second,
	} {
		if got := terminal.Span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
