package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"equal", "a b c", "a b c", ""},
		{"one line", "a b c", "a x c", "@@ -1,3 +1,3 @@| a|-b|+x| c"},
		{"context", "1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9", "@@ -2,7 +2,7 @@| 2| 3| 4|-5|+x| 6| 7| 8"},
		{"added at the end", "1 2 3 4 5", "1 2 3 4 5 6", "@@ -3,3 +3,4 @@| 3| 4| 5|+6"},
		{"removed at the beginning", "0 1 2 3 4", "1 2 3 4", "@@ -1,4 +1,3 @@|-0| 1| 2| 3"},
		{"near changes share a hunk", "a 1 2 3 4 5 6 b", "x 1 2 3 4 5 6 y", "@@ -1,8 +1,8 @@|-a|+x| 1| 2| 3| 4| 5| 6|-b|+y"},
		{"far ones do not", "a 1 2 3 4 5 6 7 b", "x 1 2 3 4 5 6 7 y", "@@ -1,4 +1,4 @@|-a|+x| 1| 2| 3|@@ -6,4 +6,4 @@| 5| 6| 7|-b|+y"},
	} {
		got := unifiedDiff("old", "new", strings.Fields(c.from), strings.Fields(c.to))
		want := c.want
		if want != "" {
			want = "--- old\n+++ new\n" + strings.ReplaceAll(want, "|", "\n") + "\n"
		}
		if got != want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, want)
		}
	}
}

// TestDiffOfAnything: a diff of random texts reproduces both of them.
func TestDiffOfAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (lines []string) {
		for range random.IntN(12) {
			lines = append(lines, string(rune('a'+random.IntN(3))))
		}
		return lines
	}
	for range 2000 {
		from, to := text(), text()
		var gotFrom, gotTo []string
		for _, e := range diffLines(from, to) {
			if e.kind != '+' {
				gotFrom = append(gotFrom, e.text)
			}
			if e.kind != '-' {
				gotTo = append(gotTo, e.text)
			}
		}
		if !slices.Equal(gotFrom, from) || !slices.Equal(gotTo, to) {
			t.Fatalf("%v to %v: the edits are of %v to %v", from, to, gotFrom, gotTo)
		}
	}
}
