package main

import (
	"fmt"
	"strings"
)

// diffContext is the number of unchanged lines before and after a change.
const diffContext = 3

// diffCellsMax bounds the table of a diff, in cells. The middle of larger texts is shown as replaced as a whole. At
// four bytes a cell that is 16 MiB; definitions are far smaller.
const diffCellsMax = 4 << 20

// edit is a line of a diff: unchanged (' '), removed ('-') or added ('+'). The texts are slices of the two inputs
// and are not copied.
type edit struct {
	kind byte
	text string
}

// unifiedDiff returns the changes from one text to another in the format of diff -u; "" if they are equal. It is
// written here because no library of the module has one, and the texts are small.
func unifiedDiff(fromName, toName string, from, to []string) string {
	edits := diffLines(from, to)
	var out strings.Builder
	fromLine, toLine := 1, 1 // of the next edit
	for i := 0; i < len(edits); {
		end := hunkEnd(edits, i)
		if end == i {
			i, fromLine, toLine = i+1, fromLine+1, toLine+1
			continue
		}
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
		}
		removed, added := countLines(edits[i:end])
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", fromLine, removed, toLine, added)
		for _, e := range edits[i:end] {
			fmt.Fprintf(&out, "%c%s\n", e.kind, e.text)
		}
		i, fromLine, toLine = end, fromLine+removed, toLine+added
	}
	return out.String()
}

// hunkEnd returns the end of the hunk that begins at i, or i if no hunk begins there. A hunk begins with the context
// of a change, and contains the changes whose contexts touch. The two bounds are those of diff -u: changes whose
// contexts touch share a hunk.
func hunkEnd(edits []edit, i int) int {
	end, kept := i, 0
	for j := i; j < len(edits); j++ {
		switch {
		case edits[j].kind != ' ':
			end, kept = j+1, 0
		case end == i && j-i >= diffContext, kept >= 2*diffContext:
			return withContext(edits, i, end)
		default:
			kept++
		}
	}
	return withContext(edits, i, end)
}

// withContext extends a hunk by the context after it. An empty hunk stays empty.
func withContext(edits []edit, i, end int) int {
	if end == i {
		return i
	}
	return min(len(edits), end+diffContext)
}

// countLines returns the number of lines that edits have in the first and in the second text. An unchanged line
// counts in both.
func countLines(edits []edit) (from, to int) {
	for _, e := range edits {
		if e.kind != '+' {
			from++
		}
		if e.kind != '-' {
			to++
		}
	}
	return from, to
}

// diffLines returns the edits of a longest common subsequence. The common head and tail are cut off first: a job of
// which one field changed costs next to nothing.
func diffLines(a, b []string) (edits []edit) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits = appendEdits(nil, ' ', a[:head])
	edits = append(edits, diffMiddle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return appendEdits(edits, ' ', a[len(a)-tail:])
}

// appendEdits appends one edit of a kind for each line.
func appendEdits(edits []edit, kind byte, lines []string) []edit {
	for _, line := range lines {
		edits = append(edits, edit{kind, line})
	}
	return edits
}

// diffMiddle builds the table of the longest common subsequences of all pairs of suffixes, and walks it. It is the
// textbook dynamic programme, quadratic in time and memory, instead of Myers's algorithm, which is longer and only
// pays for long texts.
func diffMiddle(a, b []string) (edits []edit) {
	// A replacement of the whole middle is still a correct diff, only a longer one.
	if len(a)*len(b) > diffCellsMax {
		return appendEdits(appendEdits(nil, '-', a), '+', b)
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}
	return appendEdits(appendEdits(edits, '-', a[i:]), '+', b[j:])
}
