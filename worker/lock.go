package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// locks are the locks of the jobs in a state directory, one file each. A lock belongs to an open file, which the
// processes of the command inherit: so it is held as long as one of them lives, whatever becomes of the worker. Several
// workers of a machine may share a directory.
type locks struct{ dir string }

// openLocks makes the directory if it does not exist. It is for the worker alone: whoever can write there could keep jobs
// from running.
func openLocks(dir string) (*locks, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("state directory %s: other users can write to it (mode %04o); want chmod 700", dir, info.Mode().Perm())
	}
	return &locks{dir}, nil
}

// holder is what a lock file says about the command that holds it.
type holder struct {
	RunID     string    `json:"run_id"`
	PID       int       `json:"pid"` // 0: not started yet
	StartedAt time.Time `json:"started_at"`
}

// heldError says that the command of another run of the job lives.
type heldError struct {
	job  string
	path string
	by   holder
}

// Error implements error.
func (e *heldError) Error() string {
	if e.by.PID == 0 {
		return fmt.Sprintf("the lock %s of %s is held by another process, so the command was not started", e.path, e.job)
	}
	return fmt.Sprintf("the command of run %s (process %d, since %s) still runs, so this one was not started; end it, or wait",
		e.by.RunID, e.by.PID, e.by.StartedAt.UTC().Format(time.RFC3339))
}

// lock is the lock of one job, which is held.
type lock struct {
	file *os.File
	path string
}

// lockTriesMax bounds how often a lock is opened anew because its file was removed meanwhile by the one that held it.
const lockTriesMax = 100

// take takes the lock of a job for a run. It returns a *heldError if another run has it.
func (l *locks) take(tenant, name, runID string) (*lock, error) {
	path := filepath.Join(l.dir, tenant+"%"+strings.ReplaceAll(name, "/", "%")+".lock") // % is in no name
	for range lockTriesMax {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			held := &heldError{job: name, path: path, by: readHolder(file)}
			_ = file.Close()
			return nil, held
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if taken := (&lock{file, path}); taken.isInPlace() {
			return taken, taken.write(holder{RunID: runID, StartedAt: time.Now()})
		}
		_ = file.Close() // it was removed between the open and the lock
	}
	return nil, fmt.Errorf("lock %s: it changes too often", path)
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

// isInPlace reports whether the file is the one that others open by the path.
func (l *lock) isInPlace() bool {
	ours, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(ours, now)
}

// write says who holds the lock. It is for people: the lock itself is the kernel's.
func (l *lock) write(h holder) error {
	text, err := json.Marshal(h)
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		_, err = l.file.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("lock: %w", err), l.release())
	}
	return nil
}

// release frees the lock when the command is known to have ended: a process that it has left in the background does not
// keep the next run from starting. The file goes first, while no other can have the lock.
func (l *lock) release() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, flock(l.file, syscall.LOCK_UN), l.file.Close())
}

// readHolder reads what a lock file says; what cannot be read is the zero value.
func readHolder(f *os.File) (h holder) {
	text, _ := io.ReadAll(io.LimitReader(f, 4<<10))
	_ = json.Unmarshal(text, &h)
	return h
}

// survivor is a command of an earlier worker that lives.
type survivor struct {
	path string
	by   holder
}

// survivors lists the locks that others hold, for a warning at the start.
func (l *locks) survivors() (found []survivor) {
	paths, _ := filepath.Glob(filepath.Join(l.dir, "*.lock"))
	for _, path := range paths {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if errors.Is(flock(file, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
			found = append(found, survivor{path, readHolder(file)})
		}
		_ = file.Close()
	}
	return found
}
