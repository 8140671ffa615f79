package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// colourChoice is the flag that says when there are colours.
type colourChoice string

const (
	colourAuto   colourChoice = "auto"
	colourAlways colourChoice = "always"
	colourNever  colourChoice = "never"
)

// screen is what is known about where the standard output goes. The zero value is a pipe.
type screen struct {
	isTerminal    bool
	width, height int // in characters; 0: unknown, or no terminal
	colour        bool
}

// setScreen looks at the standard output and at the environment.
func (c *console) setScreen(choice colourChoice) {
	c.screen = screen{isTerminal: isTerminal(c.out)}
	if c.screen.isTerminal {
		c.screen.width, c.screen.height = terminalSize(c.out)
	}
	switch choice {
	case colourAlways:
		c.screen.colour = true
	case colourNever:
	default:
		c.screen.colour = c.screen.isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
}

// terminalSize returns the size of the terminal that w is. The variables COLUMNS and LINES win.
func terminalSize(w any) (width, height int) {
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

// isTerminal tells whether a person is likely to be reading w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isTerminalFile(f)
}

// The styles of a terminal; "" is none.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint gives a text a style, if there are colours.
func (s screen) paint(style, text string) string {
	if !s.colour || style == "" || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[0m", style, text)
}

// statusStyles are those of the words that say how something is.
var statusStyles = map[string]string{
	"active": green, "succeeded": green, "leader": green, "intact": green, "whole": green,
	"pending": cyan, "running": cyan, "standby": cyan,
	"paused": yellow, "retrying": yellow,
	"failed": red, "dead": red, "DAMAGED": red,
	"completed": dim, "skipped": dim, "cancelled": dim,
}

// statusStyle is the style of a text that begins with such a word.
func statusStyle(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return statusStyles[strings.TrimFunc(word, unicode.IsPunct)]
}

// diffStyle is the style of a line of a diff.
func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "+"):
		return green
	}
	return ""
}
