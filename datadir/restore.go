package datadir

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
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// ErrRestoring is returned by [OpenDirectory] for a data directory whose restore was interrupted.
var ErrRestoring = errors.New("the restore of this data directory was interrupted; run `carillon restore` on it again")

// ErrNotEmpty is returned by [Restore] for a directory that is not empty.
var ErrNotEmpty = errors.New("is not empty; a backup is restored into an empty or a new directory")

// Restored describes what was restored. It is valid only if Restore returned no error.
type Restored struct {
	backup.Header
	Jobs int
}

// Restore makes dir, which must be empty or absent, the data directory of a node alone with the data of a backup;
// OpenDirectory can then open it. When Restore returns, everything is verified and durable. After an error dir is
// empty or absent again. After a crash OpenDirectory refuses dir with ErrRestoring, while Restore accepts it. It
// returns ErrNotEmpty, ErrInUse, the errors of package backup, or an I/O error. The store of the backup becomes the
// store of shard 0, and the log begins empty at the backup's position. A node that is restored is always alone:
// a backup contains no identity, so that a restored copy cannot pass for a member of the cluster that it came from. It
// writes PARTS last, and then the mark goes.
func Restore(dir string, from io.Reader, logger *slog.Logger) (done Restored, err error) {
	r, err := backup.NewReader(from) // before anything is made
	if err != nil {
		return done, err
	}
	t := &restoring{dir: dir, logger: logger}
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
	j := &join{dir: t.shard(), swap: swap{at: done.Position}, logger: logger}
	if err := errors.Join(j.beginLog(), syncTree(dir)); err != nil {
		return done, err
	}
	return done, NoteParts(dir, 0)
}

// restoring is a directory that is being restored.
type restoring struct {
	dir    string
	logger *slog.Logger
	lock   *DirLock
	// Then a failure removes it again.
	made bool // the directory did not exist
}

func (t *restoring) path(name string) string { return filepath.Join(t.dir, name) }

// shard returns the directory of the shard that is restored. A node alone has one, of number 0.
func (t *restoring) shard() string { return ShardDir(t.dir, 0) }

// store returns the place of the restored store.
func (t *restoring) store() string { return filepath.Join(t.shard(), StoreName) }

// claim locks the directory, and marks it. After an error nothing is locked.
func (t *restoring) claim() error {
	if err := t.mayUse(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
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

// mayUse returns an error for a directory that must not be used, without touching it. A directory with a lock
// may be in use, which is the better message; claim checks again once it holds the lock.
func (t *restoring) mayUse() error {
	entries, err := os.ReadDir(t.dir)
	if t.made = errors.Is(err, fs.ErrNotExist); t.made {
		return nil
	}
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == LockName }) {
		return err
	}
	return t.checkEmpty(entries)
}

func (t *restoring) checkEmpty(entries []os.DirEntry) error {
	for _, e := range entries {
		if name := e.Name(); name != LockName && name != "lost+found" {
			return fmt.Errorf("%s %w: it has %s", t.dir, ErrNotEmpty, name)
		}
	}
	return nil
}

// mark marks the directory as being restored, and removes what an interrupted restore has left. A directory that
// already has the mark may be cleared, because whatever is in it came from a restore. Any other content is refused,
// before anything is written but the lock.
func (t *restoring) mark() error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(t.path(RestoringName)); errors.Is(err, fs.ErrNotExist) {
		if err := t.checkEmpty(entries); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(t.path(RestoringName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), syncPath(t.dir), syncPath(filepath.Dir(filepath.Clean(t.dir)))); err != nil {
		return err
	}
	return t.clear()
}

// clear removes what a restore makes, also that of a release before shards, which restored to the root. PARTS goes
// first: without the parts it would make the directory look damaged.
func (t *restoring) clear() error {
	return errors.Join(forgetParts(t.dir), os.RemoveAll(t.path(ShardsName)), os.RemoveAll(t.path(StoreName)), os.RemoveAll(t.path(LogName)))
}

// end unlocks the directory: complete, or empty after a failure. The removal of the mark is between two syncs: what
// the directory holds is durable before the mark goes, and the mark is durably gone before the caller hears of it.
func (t *restoring) end(failed error) error {
	var err error
	if failed != nil {
		err = t.clear()
	}
	if err == nil {
		err = errors.Join(syncPath(t.dir), os.Remove(t.path(RestoringName)), syncPath(t.dir))
	}
	if failed != nil && t.made && err == nil {
		err = errors.Join(os.Remove(t.path(LockName)), os.Remove(t.dir))
	}
	return errors.Join(err, t.lock.Close())
}

// receive writes the files of a backup to the store's place, and returns when they are verified to be what was backed
// up. The reader verifies the checksums of the backup, so a damaged one ends with an error before the directory can be
// opened.
func (t *restoring) receive(r *backup.Reader) error {
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

// It refuses a name that exists already: a backup names each file once. Each file is synced, and syncTree makes the
// names durable later.
func (t *restoring) receiveFile(r *backup.Reader, name string) error {
	path := filepath.Join(t.store(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

// check opens the restored store, verifies that it is at the backup's position, and counts its jobs. The count serves
// the operator as a first sign that it is the right backup.
func (t *restoring) check(at job.Position) (jobs int, err error) {
	if err := checkStore(t.store(), at, t.logger); err != nil {
		return 0, err
	}
	s, err := snapshot.Open(snapshot.Options{Dir: t.store(), Logger: t.logger})
	if err != nil {
		return 0, err
	}
	jobs, err = countJobs(s)
	return jobs, errors.Join(err, s.Close())
}

// checkNotRestoring returns ErrRestoring for a directory whose restore was interrupted. Any error but the file's
// absence refuses the directory, too.
func checkNotRestoring(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, RestoringName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = ErrRestoring
	}
	return fmt.Errorf("%s: %w", filepath.Join(dir, RestoringName), err)
}
