package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// FormatName is the name of the file that marks a directory as a store. Open returns ErrForeign for a
// directory that has other files but not this one.
const FormatName = "FORMAT"

// A store's directory holds Pebble's files and the file FORMAT, which says what they are. FORMAT comes
// first: it is written, synced and renamed into the empty directory before Pebble opens it. So after a
// crash at any point, a directory that has files but no FORMAT is foreign. And a directory of another
// version is refused before Pebble opens it, which could raise the version of the files.
const (
	formatName    = FormatName
	formatTemp    = "FORMAT.TEMP"
	formatVersion = 1
	formatText    = "carillon store %d, pebble format %d\n"
	formatMax     = 100 // bytes read of the file; a valid one has about 35
)

// harmless lists the names that a directory may hold before it is a store: files that an interrupted
// Open leaves, and the directory at the root of a file system. Anything else is foreign, so that a wrong
// path in a configuration never turns a directory with other data into a store.
var harmless = []string{"LOCK", formatTemp, "lost+found"}

// claimDir locks the directory of a store. If the directory is not a store yet, claimDir makes it one,
// unless check refuses the position of a new store.
func claimDir(dir string, fs vfs.FS, check func(job.Position) error) (*pebble.Lock, error) {
	// First without the lock, because no lock file may be created in a directory that is refused.
	isStore, err := surveyDir(dir, fs)
	if err == nil && !isStore {
		err = check(job.Position{})
	}
	if err == nil {
		err = makeDir(dir, fs)
	}
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(dir, fs)
	if err != nil {
		return nil, err
	}
	isStore, err = surveyDir(dir, fs) // again: another process may have made it a store in between
	if err == nil && !isStore {
		err = writeFormat(dir, fs)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// makeDir creates the directory and its missing parents, and makes their entries durable. A file in them
// cannot be durable before its directory is.
func makeDir(dir string, fsys vfs.FS) error {
	if _, err := fsys.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := fsys.PathDir(dir)
	if err := makeDir(parent, fsys); err != nil {
		return err
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(parent, fsys)
}

// syncDir makes the names in dir durable.
func syncDir(dir string, fs vfs.FS) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockDir takes Pebble's own lock. The library has no error type for a lock that is held: it returns an
// error number if another process holds it, and a text if this one does.
func lockDir(dir string, fs vfs.FS) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(dir, fs)
	switch {
	case err == nil:
		return lock, nil
	case strings.Contains(err.Error(), "held by current process"):
		return nil, fmt.Errorf("%w by this process, and one that has failed stays so until the process ends: start it again", ErrInUse)
	case err == syscall.EAGAIN, err == syscall.EACCES:
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	default:
		return nil, fmt.Errorf("lock: %w", err)
	}
}

// surveyDir reports whether the directory is a store of the version that this program knows. It returns
// false for a directory that may become a store, and an error for a foreign one or another version.
func surveyDir(dir string, fsys vfs.FS) (isStore bool, err error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if slices.Contains(names, formatName) {
		return true, checkFormat(dir, fsys)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(harmless, name) {
			return false, fmt.Errorf("%w: it has %s, and no file %s", ErrForeign, name, formatName)
		}
	}
	return false, nil
}

// checkFormat returns nil if the file FORMAT names the version that this program knows.
func checkFormat(dir string, fs vfs.FS) error {
	f, err := fs.Open(fs.PathJoin(dir, formatName))
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(f, formatMax))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	var version, engine int
	if _, err := fmt.Sscanf(string(b), formatText, &version, &engine); err != nil {
		return fmt.Errorf("%w: its file %s says %q", ErrForeign, formatName, b)
	}
	if version != formatVersion || engine != int(pebbleFormat) {
		return fmt.Errorf("%w: it has store version %d with pebble format %d, and this program knows %d with %d; "+
			"if no other version was ever here, its file %s is damaged",
			ErrVersion, version, engine, formatVersion, pebbleFormat, formatName)
	}
	return nil
}

// writeFormat durably marks a directory as a store. A crash leaves it either marked or unmarked; an
// unmarked one may hold the temporary file.
func writeFormat(dir string, fs vfs.FS) error {
	temp := fs.PathJoin(dir, formatTemp)
	f, err := fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(f, formatText, formatVersion, pebbleFormat); err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(temp, fs.PathJoin(dir, formatName)); err != nil {
		return err
	}
	return syncDir(dir, fs)
}
