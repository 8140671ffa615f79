//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminalFile reports whether f is a terminal: only a terminal has a window. A character device such as /dev/null
// has none, although its mode looks like that of a terminal.
func isTerminalFile(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// fileSize returns the size of a terminal's window in character cells; 0 if f has none.
func fileSize(f *os.File) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
