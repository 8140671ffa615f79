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
	// lockTextMax bounds what is read of a lock file that another process wrote.
	lockTextMax = 20
)

// dirLock is the hold on a log's directory. The kernel ends it with the process, however that dies;
// the file stays.
type dirLock struct {
	file    *os.File // nil if there was nothing to lock
	written bool     // the file names this process
}

// lockExclusive takes dir for a writer and leaves the process id in the lock file.
func lockExclusive(dir string) (*dirLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := flock(f, dir, unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// The id only serves the message of who comes second, so a failure to write it is no reason to
	// stay out.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	return &dirLock{file: f, written: true}, nil
}

// lockShared keeps writers out of dir while it is read offline. It changes nothing: a copy without
// a lock file is read unlocked.
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

func (l *dirLock) release() error {
	if l.file == nil {
		return nil
	}
	if l.written {
		// So that nobody is told of a process that has gone.
		_ = l.file.Truncate(0)
	}
	return l.file.Close()
}

func flock(f *os.File, dir string, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return fmt.Errorf("%w: %s%s", ErrLocked, dir, holder(f))
}

// holder names the process that wrote the lock file, if it did.
func holder(f *os.File) string {
	b := make([]byte, lockTextMax)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" by process %d", pid)
}
