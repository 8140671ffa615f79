package browser

import (
	_ "embed"
	"strings"
)

//go:embed eyes.js
var eyes string

// Eye is a kind of fault to look for on a page.
type Eye string

// The kinds of faults.
const (
	EyeContrast  Eye = "contrast"  // text that hardly stands out from its background
	EyeOverflow  Eye = "overflow"  // what sticks out at the side
	EyeOrder     Eye = "order"     // what a page must have and has not: a title, labels, landmarks
	EyeSmuggled  Eye = "smuggled"  // markup that was typed into a field
	EyeUnfocused Eye = "unfocused" // a focus that cannot be seen
)

// Inspect checks the present page and returns the faults of this kind, an empty list if there are none.
func (t *Tab) Inspect(e Eye) ([]string, error) {
	return Eval[[]string](t, expression(eyes)+"."+string(e)+"()")
}

// expression returns a script without its leading comment, so that it can be called as an expression.
func expression(script string) string {
	return strings.TrimSpace(script[strings.Index(script, "\n("):])
}
