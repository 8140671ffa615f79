//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminalFile tells whether f is a terminal: only those have a window.
func isTerminalFile(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// fileSize returns the size of the window of a terminal, in characters; 0 if it has none.
func fileSize(f *os.File) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
