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

// FormatName is the file that says that a directory is a store: Open takes a directory with others and without
// it for one of something else, and returns ErrForeign.
const FormatName = "FORMAT"

// A store's directory holds Pebble's files and the file FORMAT, which says what they are. FORMAT comes
// first: it is written, synced and renamed into the empty directory before Pebble is let in. So a
// directory with files but without FORMAT is foreign at every point of a crash, and one of another
// version is refused before Pebble, which raises the version of its files by itself, has touched it.
const (
	formatName    = FormatName
	formatTemp    = "FORMAT.TEMP"
	formatVersion = 1
	formatText    = "carillon store %d, pebble format %d\n"
	formatMax     = 100 // bytes
)

// harmless are the names that a directory may hold before it is a store: what an interrupted Open
// leaves, and the root of a file system of its own.
var harmless = []string{"LOCK", formatTemp, "lost+found"}

// claimDir makes the directory a store's, unless check refuses a new one, or sees that it is one, and
// locks it.
func claimDir(dir string, fs vfs.FS, check func(job.Position) error) (*pebble.Lock, error) {
	// First without the lock, because its file must not be put into a directory that is refused.
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
	isStore, err = surveyDir(dir, fs) // another process may have been here in between
	if err == nil && !isStore {
		err = writeFormat(dir, fs)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// makeDir creates the directory, and what is missing above it, and makes their entries durable: no file
// in them is before that.
func makeDir(dir string, fsys vfs.FS) error {
	if _, err := fsys.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := fsys.PathDir(dir)
	if err := makeDir(parent, fsys); err != nil {
		return err
	}
	if err := fsys.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return syncDir(parent, fsys)
}

func syncDir(dir string, fs vfs.FS) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockDir takes the lock that Pebble takes. What the library returns for one that is held has no type,
// only a bare error number from other processes and a text from this one.
func lockDir(dir string, fs vfs.FS) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(dir, fs)
	switch {
	case err == nil:
		return lock, nil
	case err == syscall.EAGAIN, err == syscall.EACCES, strings.Contains(err.Error(), "held by current process"):
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	default:
		return nil, fmt.Errorf("lock: %w", err)
	}
}

// surveyDir tells whether the directory is a store of a version that we know, or is free to become one
// if it is neither foreign nor of another version.
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

// writeFormat marks a directory as a store. A crash leaves it unmarked, perhaps with the temporary
// file, or marked for good.
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
