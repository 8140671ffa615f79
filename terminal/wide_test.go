package terminal

import "testing"

// TestWideRunesAscend: runeWidth searches the ranges, so they must be in order.
func TestWideRunesAscend(t *testing.T) {
	for i, r := range wideRunes {
		if r[1] < r[0] || i > 0 && r[0] <= wideRunes[i-1][1] {
			t.Errorf("range %d of the wide runes is out of order", i)
		}
	}
}
