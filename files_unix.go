//go:build unix

package carillon

import "syscall"

// filesMax is how many files this process may have open, connections among them. The Go runtime has raised that
// to what the system allows.
func filesMax() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return filesUnknown
	}
	return int(min(uint64(limit.Cur), filesCounted))
}
