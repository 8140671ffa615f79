package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// locks are the locks of the jobs in a state directory, one file each. A lock belongs to an open file, which the
// processes of the command inherit: so it is held as long as one of them lives, whatever becomes of the worker. Several
// workers of a machine may share a directory.
//
// Invariant: all locks of a worker are in the directory that it has opened. If that is removed, and another one made in its
// place, no lock can be taken, because the commands that still run hold theirs in the former.
type locks struct{ root *os.Root }

// StateError says that the state directory cannot be used.
type StateError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *StateError) Error() string { return fmt.Sprintf("state directory %s: %v", e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Err }

// openLocks makes the directory if it does not exist. It is for the worker alone: a user who can write there could keep jobs
// from running. The error is a [*StateError].
func openLocks(dir string) (*locks, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &StateError{dir, err}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &StateError{dir, err}
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("other users can write to it (mode %04o); want chmod 700", info.Mode().Perm())
	}
	if err != nil {
		return nil, errors.Join(&StateError{dir, err}, root.Close())
	}
	return &locks{root}, nil
}

// close closes the directory. Locks that are held stay so.
func (l *locks) close() error { return l.root.Close() }

// path returns the path of a lock, for messages.
func (l *locks) path(name string) string { return l.root.Name() + string(os.PathSeparator) + name }

// lock is the lock of one job, which is held.
type lock struct {
	file *os.File // only to be read, because commands of other users inherit it
	root *os.Root
	name string
}

// lockTriesMax bounds how often a lock is opened anew because its file was removed meanwhile by the one that held it.
const lockTriesMax = 100

// take takes the lock of a job for a run. It returns a *heldError if another run has it.
func (l *locks) take(tenant, job, runID string) (*lock, error) {
	name := tenant + "%" + strings.ReplaceAll(job, "/", "%") + ".lock" // % is in no name
	for range lockTriesMax {
		file, err := l.root.OpenFile(name, os.O_RDONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the state directory %s was removed while the worker ran, so the command was not started; "+
				"wait for the commands that still run, or end them, and restart the worker", l.root.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			held := &heldError{job: job, path: l.path(name), by: readHolder(file)}
			_ = file.Close()
			return nil, held
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", l.path(name), err)
		}
		if taken := (&lock{file, l.root, name}); taken.isInPlace() {
			if err := taken.write(holder{RunID: runID, StartedAt: time.Now()}); err != nil {
				return nil, errors.Join(err, taken.release())
			}
			return taken, nil
		}
		_ = file.Close() // it was removed between the open and the lock
	}
	return nil, fmt.Errorf("lock %s: it changes too often", l.path(name))
}

// flock repeats the call that a signal interrupts.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// isInPlace reports whether the file is the one that others open by the name.
func (l *lock) isInPlace() bool {
	ours, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := l.root.Lstat(l.name)
	return err == nil && os.SameFile(ours, now)
}

// write says who holds the lock, which it keeps also if that fails. It is for people: the lock itself is the kernel's. It
// opens the file again, because a command could write by the descriptor that it inherits.
func (l *lock) write(h holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	file, err := l.root.OpenFile(l.name, os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if _, err = file.Write(append(text, '\n')); err != nil {
		err = fmt.Errorf("lock: %w", err)
	}
	return errors.Join(err, file.Close())
}

// release frees the lock when the command is known to have ended: a process that it has left in the background does not
// keep the next run from starting. The file goes first, while no other can have the lock.
func (l *lock) release() error {
	err := l.root.Remove(l.name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, flock(l.file, syscall.LOCK_UN), l.file.Close())
}

// survivors lists the locks that others hold, for a warning at the start: the commands of earlier workers.
func (l *locks) survivors() (found []*heldError) {
	names, _ := fs.Glob(l.root.FS(), "*.lock")
	for _, name := range names {
		file, err := l.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if errors.Is(flock(file, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
			found = append(found, &heldError{job: name, path: l.path(name), by: readHolder(file)})
		}
		_ = file.Close()
	}
	return found
}
