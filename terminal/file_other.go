//go:build !unix

package terminal

import "os"

// isTerminalFile reports whether f is likely to be a terminal. The null device is a character device too and passes for
// one; nothing that is written there is read.
func isTerminalFile(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// fileSize returns 0: this operating system is not asked.
func fileSize(*os.File) (width, height int) { return 0, 0 }
