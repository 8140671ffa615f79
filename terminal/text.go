package terminal

import (
	"sort"
	"strings"
	"unicode"
)

// Printable replaces the control characters of a text, which could move the cursor or break a table, and those that turn
// the direction of writing, which could show another text than there is, by a dot. Texts
// that come from a server or a file pass through it before they reach a terminal: a name with an escape sequence could
// change what the screen shows, or the title of the window. The dot takes one column, so widths can be measured before
// or after.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, text)
}

// Width returns how many columns of a terminal a printable text takes. Terminals disagree about new emoji and joined
// ones; a wrong width shifts the cells behind it by a column and does no other harm.
func Width(text string) (columns int) {
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

// Cut returns a text in at most columnsMax columns (at least 1). A text that is longer ends with an ellipsis in place
// of what is cut, which takes a column itself. A wide character that would stand across the border is cut, so the
// result may be a column narrower. Combining marks stay with their character.
func Cut(text string, columnsMax int) string {
	if Width(text) <= columnsMax {
		return text
	}
	width := 0
	for i, r := range text {
		if width += runeWidth(r); width > columnsMax-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// wideRunes are the ranges that terminals show in two columns: the wide and the full-width characters of East Asia, and
// emoji. The standard library does not know them, so the larger blocks stand here, in ascending order. An emoji that
// consists of several runes, and a flag, count as the sum of the runes.
var wideRunes = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x2e80, 0x303e},
	{0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x18d8f}, {0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

// runeWidth returns how many columns a rune takes; 0 if it combines with the one before it. Below U+0300 are neither
// wide nor combining characters, so most texts need no search.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	i := sort.Search(len(wideRunes), func(i int) bool { return wideRunes[i][1] >= r })
	if i < len(wideRunes) && wideRunes[i][0] <= r {
		return 2
	}
	return 1
}
