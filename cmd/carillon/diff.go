package main

import (
	"fmt"
	"strings"
)

// diffContext is how many lines stand around a change.
const diffContext = 3

// diffCellsMax bounds the work of a diff. What is beyond is shown as replaced as a whole.
const diffCellsMax = 4 << 20

// edit is a line of a diff: kept (' '), taken away ('-') or added ('+').
type edit struct {
	kind byte
	text string
}

// unifiedDiff returns how a text becomes another one, in the form of diff -u. Equal texts give "".
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

// hunkEnd returns where the hunk ends that begins at i, or i if none does: a hunk begins with the context
// of a change, and goes on while the next change is near.
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

// withContext adds the lines after a hunk. An empty one stays empty.
func withContext(edits []edit, i, end int) int {
	if end == i {
		return i
	}
	return min(len(edits), end+diffContext)
}

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

// diffLines returns the edits of a longest common subsequence.
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

func appendEdits(edits []edit, kind byte, lines []string) []edit {
	for _, line := range lines {
		edits = append(edits, edit{kind, line})
	}
	return edits
}

// diffMiddle fills the table of the lengths of common subsequences of what follows, and walks it.
func diffMiddle(a, b []string) (edits []edit) {
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
