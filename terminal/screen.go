package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// Colours says when a Screen has colours. The zero value is ColoursAuto.
type Colours string

// ColoursAuto is on a terminal, unless NO_COLOR is set (see no-color.org) or TERM is dumb; the others read neither, so
// that the flag of a command wins over the environment.
const (
	ColoursAuto   Colours = "auto"
	ColoursAlways Colours = "always"
	ColoursNever  Colours = "never"
)

// Screen describes where output goes. The zero value is a pipe: no colours, and nothing is cut. It is a value: safe for
// concurrent use, and not updated when a terminal is resized.
type Screen struct {
	IsTerminal    bool // a person is likely to read it
	Width, Height int  // in character cells; 0: unknown, or no terminal
	Colour        bool // Paint adds escape sequences; with ColoursAlways also if IsTerminal is false
}

// ScreenOf describes a writer as it is now.
func ScreenOf(w io.Writer, colours Colours) Screen {
	s := Screen{IsTerminal: IsTerminal(w)}
	if s.IsTerminal {
		s.Width, s.Height = Size(w)
	}
	switch colours {
	case ColoursAlways:
		s.Colour = true
	case ColoursNever:
	default:
		s.Colour = s.IsTerminal && os.Getenv("NO_COLOR") == "" && !isDumb()
	}
	return s
}

// IsTerminal reports whether a writer is a terminal. A writer that wraps one is none, because it may change what is written, but for
// [Unblocked].
func IsTerminal(w io.Writer) bool {
	if u, ok := w.(*Unblocked); ok {
		w = u.to
	}
	f, ok := w.(*os.File)
	return ok && isTerminalFile(f)
}

// Size returns the size of the terminal that a writer is, in character cells; 0 is unknown. COLUMNS and LINES win over
// what the operating system says: an operator who sets them wants another width than that of the window.
func Size(w io.Writer) (width, height int) {
	if f, ok := w.(*os.File); ok {
		width, height = fileSize(f)
	}
	for name, size := range map[string]*int{"COLUMNS": &width, "LINES": &height} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			*size = n
		}
	}
	return width, height
}

// isDumb reports whether the terminal says that it knows no escape sequences.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// Style is how a text looks. The zero value is plain. Styles do not combine.
type Style string

// The styles, each a parameter of the escape sequence SGR (ECMA-48). The colours are of the eight basic ones, which the
// terminal adapts to its background.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint gives a text a style if the screen has colours, and otherwise returns it unchanged. The text must not hold
// escape sequences (Printable).
func (s Screen) Paint(style Style, text string) string {
	if !s.Colour || style == Plain || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[0m", style, text)
}
