package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// What a terminal is told: to show a screen besides the one with the history of the shell, without a
// cursor, and to cut long lines; and the way back.
const (
	screenOpen  = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	screenClose = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	screenHome  = "\x1b[H"
	lineEnd     = "\x1b[K\n" // clears the rest of a line
	screenEnd   = "\x1b[J"   // clears what is below
)

func (w *watcher) openScreen() { w.con.printf("%s", screenOpen) }

// closeScreen leaves the terminal as it was, and the last state on it.
func (w *watcher) closeScreen() { w.con.printf("%s%s", screenClose, w.last) }

// redraw writes a state over the one before it, as far as the screen is high. A failed look leaves the
// state before it, with the reason below.
func (w *watcher) redraw(state []byte, err error) {
	width, height := terminalSize(w.con.out)
	w.con.screen.width, w.con.screen.height = width, height
	note := w.con.screen.paint(dim, time.Now().Format(time.TimeOnly)+", Ctrl-C ends")
	if err != nil {
		state = w.last
		note = w.con.screen.paint(red, printable(explain(err)))
	}
	w.last = state
	w.con.printf("%s", screenText(state, note, height))
}

// screenText is what fills a screen with a state and a note below it. Height 0 is unknown.
func screenText(state []byte, note string, height int) string {
	lines := strings.Split(string(bytes.TrimSuffix(state, []byte("\n"))), "\n")
	if room := height - 2; height > 0 && len(lines) > max(room, 1) {
		room = max(room, 1)
		note = fmt.Sprintf("%d more lines; %s", len(lines)-room, note)
		lines = lines[:room]
	}
	return screenHome + strings.Join(lines, lineEnd) + lineEnd + lineEnd + note + "\x1b[K" + screenEnd
}
