package browser

import (
	_ "embed"
	"strings"
)

//go:embed eyes.js
var eyes string

// Eye is something to look for on a page.
type Eye string

// What can be looked for.
const (
	EyeContrast  Eye = "contrast"  // text that hardly stands out from its background
	EyeOverflow  Eye = "overflow"  // what sticks out at the side
	EyeOrder     Eye = "order"     // what a page must have and has not: a title, labels, landmarks
	EyeSmuggled  Eye = "smuggled"  // markup that somebody typed
	EyeUnfocused Eye = "unfocused" // a focus that cannot be seen
)

// Inspect looks at the page as it is now and returns what is wrong with it, none if nothing is.
func (t *Tab) Inspect(e Eye) ([]string, error) {
	return Eval[[]string](t, expression(eyes)+"."+string(e)+"()")
}

// expression returns a script without the comment that it begins with, so that more may follow it.
func expression(script string) string {
	return strings.TrimSpace(script[strings.Index(script, "\n("):])
}
