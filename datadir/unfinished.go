package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// unfinished is a data directory that is being made, in several steps, of data from elsewhere. A file marks it until the
// last step, so that no incomplete data comes into use; see [checkMark].
type unfinished struct {
	dir      string
	name     string   // of the file that marks it
	empty    error    // returned for a directory with other content
	contents []string // names of what the steps make, besides PARTS
	lock     *DirLock
	// Then a failure removes it again.
	made bool // the directory did not exist
}

func (t *unfinished) path(name string) string { return filepath.Join(t.dir, name) }

// claim locks the directory, and marks it. After an error nothing is locked.
func (t *unfinished) claim() error {
	if err := CheckPlace(t.dir); err != nil {
		return err
	}
	if err := checkNew(t.dir); err != nil {
		return err
	}
	if err := t.mayUse(); err != nil {
		return err
	}
	lock, err := occupy(t.dir)
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
func (t *unfinished) mayUse() error {
	entries, err := os.ReadDir(t.dir)
	if t.made = errors.Is(err, fs.ErrNotExist); t.made {
		return nil
	}
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == LockName }) {
		return err
	}
	return t.checkEmpty(entries)
}

func (t *unfinished) checkEmpty(entries []os.DirEntry) error {
	for _, e := range entries {
		if name := e.Name(); name != LockName && name != "lost+found" {
			return fmt.Errorf("%s %w: it has %s", t.dir, t.empty, name)
		}
	}
	return nil
}

// mark marks the directory as unfinished, and removes what an interrupted attempt has left. A directory that already
// has the mark may be cleared, because whatever is in it came from such an attempt. Any other content is refused,
// before anything is written but the lock.
func (t *unfinished) mark() error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(t.path(t.name)); errors.Is(err, fs.ErrNotExist) {
		if err := t.checkEmpty(entries); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(t.path(t.name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), syncPath(t.dir), syncPath(filepath.Dir(filepath.Clean(t.dir)))); err != nil {
		return err
	}
	return t.clear()
}

// clear removes what the steps make. PARTS goes first: without the parts it would make the directory look damaged.
func (t *unfinished) clear() error {
	err := forgetParts(t.dir)
	for _, name := range t.contents {
		err = errors.Join(err, os.RemoveAll(t.path(name)))
	}
	return err
}

// end unlocks the directory: complete, or empty after a failure. The removal of the mark is between two syncs: what
// the directory holds is durable before the mark goes, and the mark is durably gone before the caller hears of it.
func (t *unfinished) end(failed error) error {
	var err error
	if failed != nil {
		err = t.clear()
	}
	if err == nil {
		err = errors.Join(syncPath(t.dir), os.Remove(t.path(t.name)), syncPath(t.dir))
	}
	if failed != nil && t.made && err == nil {
		err = errors.Join(os.Remove(t.path(LockName)), os.Remove(t.dir))
	}
	return errors.Join(err, t.lock.Close())
}
