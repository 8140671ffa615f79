package carillon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// restoringName is the file in a data directory that is being restored. A server refuses a directory that
// has it, so that nothing comes into use that is not whole: it is the first thing that a restore makes
// durable and the last that it removes.
const restoringName = datadir.RestoringName

// ErrRestoring is returned by Start for a data directory whose restore was interrupted.
var ErrRestoring = errors.New("the restore of this data directory was interrupted; run `carillon restore` on it again")

// ErrNotEmpty is returned by Restore for a directory that has something in it.
var ErrNotEmpty = errors.New("is not empty; a backup is restored into an empty or a new directory")

// Restored tells what was restored.
type Restored struct {
	backup.Header
	Jobs int
}

// Restore makes dir, which must be empty or absent, the data directory of one node alone with what a
// backup holds, for Start to open. Everything is durable, and has been checked, when it returns; on an
// error dir is empty or absent again. After a crash Start refuses dir with ErrRestoring, and Restore
// takes it. It returns ErrNotEmpty, ErrInUse, the errors of package backup, or what the disk said.
func Restore(dir string, from io.Reader, logger *slog.Logger) (done Restored, err error) {
	r, err := backup.NewReader(from) // before anything is made
	if err != nil {
		return done, err
	}
	t := &restore{dir: dir, logger: logger}
	if err := t.claim(); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, t.end(err)) }()
	done.Header = r.Header()
	if err := t.receive(r); err != nil {
		return done, err
	}
	if done.Jobs, err = t.check(done.Position); err != nil {
		return done, fmt.Errorf("check what was restored: %w", err)
	}
	j := &join{dir: dir, at: done.Position, logger: logger}
	if err := errors.Join(j.beginLog(), syncTree(dir)); err != nil {
		return done, err
	}
	return done, datadir.NoteParts(dir)
}

// restore is a directory that is being restored.
type restore struct {
	dir    string
	logger *slog.Logger
	lock   *os.File
	made   bool // the directory was not there
}

func (t *restore) path(name string) string { return filepath.Join(t.dir, name) }

// claim takes the directory, and marks it.
func (t *restore) claim() error {
	if err := t.mayTake(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o750); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := lockDir(t.dir)
	if err != nil {
		return err
	}
	t.lock = lock
	err = t.mark()
	if err != nil {
		err = errors.Join(err, lock.Close())
	}
	return err
}

// mayTake refuses a directory without touching it. One that has a lock may be in use, which is the better
// thing to say, and is looked at again when the lock is held.
func (t *restore) mayTake() error {
	entries, err := os.ReadDir(t.dir)
	if t.made = errors.Is(err, fs.ErrNotExist); t.made {
		return nil
	}
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == datadir.LockName }) {
		return err
	}
	return t.checkEmpty(entries)
}

func (t *restore) checkEmpty(entries []os.DirEntry) error {
	for _, e := range entries {
		if name := e.Name(); name != datadir.LockName && name != "lost+found" {
			return fmt.Errorf("%s %w: it has %s", t.dir, ErrNotEmpty, name)
		}
	}
	return nil
}

// mark notes that the directory is being restored, and removes what an interrupted restore has left.
func (t *restore) mark() error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(t.path(restoringName)); errors.Is(err, fs.ErrNotExist) {
		if err := t.checkEmpty(entries); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(t.path(restoringName), os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), syncPath(t.dir), syncPath(filepath.Dir(filepath.Clean(t.dir)))); err != nil {
		return err
	}
	return t.clear()
}

// clear removes what a restore makes.
func (t *restore) clear() error {
	return errors.Join(datadir.ForgetParts(t.dir), os.RemoveAll(t.path(storeName)), os.RemoveAll(t.path(logName)))
}

// end gives the directory up: to a server, or, after a failure, empty.
func (t *restore) end(failed error) error {
	var err error
	if failed != nil {
		err = t.clear()
	}
	if err == nil {
		err = errors.Join(syncPath(t.dir), os.Remove(t.path(restoringName)), syncPath(t.dir))
	}
	if failed != nil && t.made && err == nil {
		err = errors.Join(os.Remove(t.path(datadir.LockName)), os.Remove(t.dir))
	}
	return errors.Join(err, t.lock.Close())
}

// receive writes the files of a backup into the store's place, and returns when they are known to be what
// was backed up.
func (t *restore) receive(r *backup.Reader) error {
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = t.receiveFile(r, f.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (t *restore) receiveFile(r *backup.Reader, name string) error {
	path := filepath.Join(t.path(storeName), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

// check opens the restored store, sees that it is where the backup says, and counts its jobs.
func (t *restore) check(at job.Position) (jobs int, err error) {
	if err := checkStore(t.path(storeName), at, t.logger); err != nil {
		return 0, err
	}
	s, err := snapshot.Open(snapshot.Options{Dir: t.path(storeName), Logger: t.logger})
	if err != nil {
		return 0, err
	}
	low := []byte{byte(job.KindTimer)}
	err = s.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { jobs++; return true, nil })
	return jobs, errors.Join(err, s.Close())
}

// checkNotRestoring refuses a directory whose restore was interrupted.
func checkNotRestoring(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, restoringName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = ErrRestoring
	}
	return fmt.Errorf("%s: %w", filepath.Join(dir, restoringName), err)
}
