//go:build unix

package server

import "syscall"

// filesMax returns how many files, connections included, this process may have open. The Go runtime has raised
// the limit as far as the system allows.
func filesMax() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return filesUnknown
	}
	return int(min(uint64(limit.Cur), filesCounted))
}
