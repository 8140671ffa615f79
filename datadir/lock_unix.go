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

// A DirLock is the lock of a data directory. Close releases it.
type DirLock struct{ file *os.File }

// Close releases the lock. It does not leave that to the closing of the file: a program that this process starts at the
// same moment shares the open file until it runs, and with it the lock.
func (l *DirLock) Close() error {
	err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	return errors.Join(err, l.file.Close())
}

// Lock locks the directory. The kernel releases the lock when the process ends, even by a kill. A file with the number
// of the process in it would outlive a crash and could name a stranger's process. The file LOCK itself stays when the
// lock is released: removing it would let two processes lock two different files of that name.
func Lock(dir string) (*DirLock, error) {
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
	return &DirLock{f}, nil
}
