package terminal

import (
	"bytes"
	"fmt"
	"strings"
)

// A text that is redrawn in place is written between Enter and Leave. Enter switches to the terminal's second screen,
// which does not touch the history of the shell, hides the cursor and cuts long lines; Leave undoes that, in the
// opposite order. Write both to terminals only. A caller that writes Enter must write Leave on every way out, or the
// shell gets a terminal without a cursor.
const (
	Enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	Leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

const (
	// cursorHome is the upper left corner of the screen.
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K" // from the cursor to the end of the line
	clearScreen = "\x1b[J" // from the cursor to the end of the screen
)

// Frame returns what draws a text of several lines, with a note below it, over what the screen showed before. A text that
// does not fit is cut at the end, and the note says by how many lines. The note is one line. Height is that of the screen
// in lines; 0: unknown, nothing is cut.
//
// The result overwrites line by line and clears what is left of each, instead of clearing the screen first: the
// terminal would show the empty screen for a moment, and flicker. Widths do not matter to it, because Enter lets the
// terminal cut lines.
func Frame(text []byte, note string, height int) string {
	lines := strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n")
	room := max(height-2, 1) // for an empty line and the note
	if height > 0 && len(lines) > room {
		note = fmt.Sprintf("%d more lines; %s", len(lines)-room, note)
		lines = lines[:room]
	}
	const lineEnd = clearLine + "\n"
	return cursorHome + strings.Join(lines, lineEnd) + lineEnd + lineEnd + note + clearLine + clearScreen
}
