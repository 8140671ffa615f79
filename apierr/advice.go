package apierr

import (
	"fmt"
	"strings"
)

// Advice says what would be right instead of an unknown name: the known one that it most likely means, or the list of
// all; none if nothing is known.
func Advice(name string, known []string, none string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) > 0 {
		return "want " + strings.Join(known, ", ")
	}
	return none
}

// Nearest returns the known name that a misspelled one most likely means; "" if none is close. Close means at most
// two edits, and fewer than the known name has letters, so that a short name is not the advice for everything. The
// name is clipped, which bounds the cost for a name of any length. The known names are in lower case.
func Nearest(name string, known []string) string {
	name = strings.ToLower(Clip(name))
	best, least := "", 3
	for _, k := range known {
		if max(len(name)-len(k), len(k)-len(name)) >= least {
			continue // each missing byte is an edit
		}
		if d := distance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance returns the number of single-byte edits between two texts (Levenshtein). It keeps one row of the table, so
// it needs memory for one text and time for the product of both lengths.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
