//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrInUse is returned by Lock for a data directory that another process, or this one, has open.
var ErrInUse = errors.New("the data directory is in use by another carillon")

// Lock locks the directory until the returned file is closed. The kernel releases the lock when the process ends, even
// by a kill. A file with the number of the process in it would outlive a crash and could name a stranger's process.
// The file LOCK itself stays when the lock is released: removing it would let two processes lock two different files
// of that name.
func Lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, LockName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (%s)", ErrInUse, path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
