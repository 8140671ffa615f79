//go:build !unix

package main

import "os"

// isTerminalFile tells whether f is likely to be a terminal.
func isTerminalFile(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// fileSize knows no sizes here.
func fileSize(*os.File) (width, height int) { return 0, 0 }
