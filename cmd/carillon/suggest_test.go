package main

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/schedule"
)

// TestClipCountsCharacters: a text of two bytes a character is cut where one of single bytes is.
func TestClipCountsCharacters(t *testing.T) {
	for _, letter := range []string{"a", "я", "語"} {
		if whole := strings.Repeat(letter, 60); clip(whole) != whole {
			t.Errorf("60 characters are cut: %q", clip(whole))
		}
		if got, want := clip(strings.Repeat(letter, 61)), strings.Repeat(letter, 60)+"…"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestListsThatFail: a list that fails at once prints nothing, no title and no brace, and one that fails later says that
// it is not complete.
func TestListsThatFail(t *testing.T) {
	broken := errors.New("broken")
	ofRuns := func(n int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range n {
				if !yield(i, nil) {
					return
				}
			}
			yield(0, broken)
		}
	}
	for name, print := range map[string]func(*console, iter.Seq2[int, error]) error{
		"table": func(con *console, seq iter.Seq2[int, error]) error {
			return printRows(con, seq, []string{"NAME"}, func(*int) []string { return []string{"x"} })
		},
		"json": func(con *console, seq iter.Seq2[int, error]) error { return printList(con, formJSON, "jobs", seq) },
		"yaml": func(con *console, seq iter.Seq2[int, error]) error { return printList(con, formYAML, "jobs", seq) },
	} {
		for _, n := range []int{0, 1, tableRowsMax, tableRowsMax + 1} {
			var out strings.Builder
			err := print(&console{out: &out}, ofRuns(n))
			if !errors.Is(err, broken) || (n == 0) == strings.Contains(err.Error(), "the list is not complete, it ends after "+plural(n, "item")) {
				t.Errorf("%s, after %d: %v", name, n, err)
			}
			if (n == 0) != (out.Len() == 0) || strings.Count(out.String(), "NAME") > 1 {
				t.Errorf("%s, after %d: prints %q", name, n, out.String())
			}
		}
	}
}

// TestTicksOfRanges: a skipped range shows how many ticks it stands for, unless the schedule was another one then.
func TestTicksOfRanges(t *testing.T) {
	at := func(text string) client.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return client.At(parsed)
	}
	for _, test := range []struct{ expr, from, until, want string }{
		{"0 * * * *", "2026-11-01T00:00:00Z", "2026-11-01T05:00:00Z", "6 ticks up to "},
		{"@every 7s", "2026-11-01T00:00:01Z", "2026-11-01T00:00:15Z", "3 ticks up to "},
		{"@every 10ms", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "more than 100000 ticks up to "},
		{"30 * * * *", "2026-11-01T00:00:00Z", "2026-11-01T05:00:00Z", "ticks up to "},
		{"0 */2 * * *", "2026-11-01T00:00:00Z", "2026-11-01T05:00:00Z", "ticks up to "},
		{"@hourly", "2026-11-01T00:00:00Z", "", ""},
	} {
		s, err := schedule.Parse(schedule.Spec{Expr: test.expr})
		if err != nil {
			t.Fatal(err)
		}
		run := client.Run{ScheduledAt: at(test.from)}
		if test.until != "" {
			run.Until = at(test.until)
			test.want += showTime(run.Until)
		}
		ranges := skippedRanges{read: true, schedule: s}
		if got := ranges.show(t.Context(), &run); got != test.want {
			t.Errorf("%s: got %q, want %q", test.expr, got, test.want)
		}
	}
}
