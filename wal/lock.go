package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	lockName = "LOCK"
	// lockTextMax bounds the bytes read from a lock file, which another process wrote.
	lockTextMax = 20
)

// dirLock is the lock on a log's directory. The kernel releases it when the process ends, even by a
// kill; the lock file remains.
type dirLock struct {
	file    *os.File // nil if the directory has no lock file, so that nothing is locked
	written bool     // the file holds the id of this process
}

// lockExclusive locks dir for a writer and writes the process id to the lock file. The lock also excludes
// a second Log in the same process, because flock belongs to the open file and not to the process.
func lockExclusive(dir string) (*dirLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := flock(f, dir, unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// The id is only for the error message of a second process, so a failure to write it is not an
	// error.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	return &dirLock{file: f, written: true}, nil
}

// lockShared keeps writers out of dir while it is read offline. It creates no file: a copy of a
// directory that has no lock file is read without a lock.
func lockShared(dir string) (*dirLock, error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return &dirLock{}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, dir, unix.LOCK_SH); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &dirLock{file: f}, nil
}

// release releases the lock. A lock without a file is valid. The file stays: if it were removed, a process
// that has just opened it and one that creates it anew would each lock a file of their own.
func (l *dirLock) release() error {
	if l.file == nil {
		return nil
	}
	if l.written {
		// Otherwise a later ErrLocked would name a process that has ended.
		_ = l.file.Truncate(0)
	}
	return l.file.Close()
}

// flock takes the lock without waiting. It returns ErrLocked if another process holds it.
func flock(f *os.File, dir string, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return fmt.Errorf("%w: %s%s", ErrLocked, dir, holder(f))
}

// holder returns " by process N" if the lock file names the process that holds it, "" otherwise.
func holder(f *os.File) string {
	b := make([]byte, lockTextMax)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" by process %d", pid)
}
