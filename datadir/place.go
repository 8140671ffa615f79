package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// ErrPart is returned by all that opens or makes a data directory for a path that is a part of one. The part of a directory
// could be taken for that of an older layout, and what it has would be moved under the process that has it open.
var ErrPart = errors.New("is a part of a data directory, and none itself")

// CheckPlace returns an error that is [ErrPart] if a path is a part of a data directory, or is the directory of a shard, a log or a
// store somewhere else; and one that is [ErrInside] if a new directory would be inside another one. It takes no lock and changes
// nothing. A path that does not exist is judged by where it is. The opening of a directory calls it before anything else.
func CheckPlace(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{abs, resolved(abs)} {
		if root, shown := rootAround(path); root != "" {
			return fmt.Errorf("%s %w%s: it belongs to %s, as %s shows; name that directory, or choose another one; nothing was changed",
				dir, ErrPart, ofShard(path), root, filepath.Join(root, shown))
		}
	}
	what, err := partIn(abs)
	switch {
	case err != nil:
		return err
	case what == "" && isNew(dir):
		return checkNew(dir)
	case what == "":
		return nil
	}
	return fmt.Errorf("%s %w: it has %s; name the data directory that it was in, or choose another one; nothing was changed", dir, ErrPart, what)
}

// ErrInside is returned by all that makes a data directory for a place inside another one: a command that removes, copies or puts
// aside the outer one would do that to both.
var ErrInside = errors.New("is inside another data directory")

// checkNew returns an error that is [ErrInside] if a directory that is to be made would be inside a data directory, by
// whatever links the path leads there.
func checkNew(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{abs, resolved(abs)} {
		for parent := filepath.Dir(path); parent != path; path, parent = parent, filepath.Dir(parent) {
			if shown := shownAsWhole(parent); shown != "" {
				return fmt.Errorf("%s %w, %s, as %s shows; choose another place; nothing was changed", dir, ErrInside, parent, filepath.Join(parent, shown))
			}
		}
	}
	return nil
}

// isNew reports whether a directory is absent, or has nothing that a data directory has but its lock.
func isNew(dir string) bool {
	entries, err := os.ReadDir(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return IsName(e.Name()) })
}

// isWithin reports whether a path is a directory, or below it. It compares what is on disk and not the names: a link, a mount
// and another spelling lead to the same directory. No path is within a directory that does not exist.
func isWithin(dir, path string) (bool, error) {
	root, err := os.Stat(filepath.Clean(dir)) // as its files are named later, also if the name has .. behind a link
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return false, err
	}
	for path = resolved(path); ; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && os.SameFile(root, info) {
			return true, nil
		}
		if path == filepath.Dir(path) {
			return false, nil
		}
	}
}

// CheckLog returns an error for a path inside a data directory that is neither the place of a log nor of one that was put aside:
// what is there would be taken for a damaged log. It changes nothing.
func CheckLog(dir string) error {
	abs, err := filepath.Abs(dir)
	name := filepath.Base(abs)
	if root, _ := rootAround(abs); err == nil && root != "" && name != LogName && !strings.HasPrefix(name, LogName+".") {
		err = fmt.Errorf("%s is no log: it belongs to %s; name that directory, a directory of a shard in it, or the wal directory of one", dir, root)
	}
	return err
}

// ofShard names the file that says of which shard a directory is; "" if there is none.
func ofShard(dir string) string {
	if path := filepath.Join(dir, NumberName); exists(path) {
		return fmt.Sprintf(" (%s says of which shard)", path)
	}
	return ""
}

// resolved returns a path without links, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// rootAround returns the outermost data directory in which an absolute path is a part, and the name in it that shows that it is
// one; "" if there is none.
func rootAround(path string) (root, shown string) {
	for parent := filepath.Dir(path); parent != path; path, parent = parent, filepath.Dir(parent) {
		if name := filepath.Base(path); isPart(name) {
			if by := shownAsData(parent, name); by != "" {
				root, shown = parent, by
			}
		}
	}
	return root, shown
}

// shownAsData returns the name that shows that a directory, with a part of that name, is a data directory; "" if none does.
func shownAsData(dir, part string) string {
	for _, name := range usedNames {
		if exists(filepath.Join(dir, name)) {
			return name
		}
	}
	switch {
	case part == ShardsName && exists(filepath.Join(dir, LockName)):
		return LockName
	case isOfShard(part) && exists(filepath.Join(dir, LogName)) && exists(filepath.Join(dir, StoreName, snapshot.FormatName)):
		return filepath.Join(StoreName, snapshot.FormatName)
	}
	return ""
}

// shownAsWhole returns the name that shows that a directory with a lock is a data directory; "" if none does. It is for directories
// around a path, which may be of any program: a name alone proves less there than beside a part.
func shownAsWhole(dir string) string {
	if !exists(filepath.Join(dir, LockName)) {
		return ""
	}
	for _, name := range append(slices.Clone(usedNames), ShardsName) {
		if exists(filepath.Join(dir, name)) {
			return name
		}
	}
	return shownAsData(dir, LogName)
}

// partIn says what shows that a directory is a part of a data directory, by what it has; "" if nothing does.
func partIn(dir string) (what string, err error) {
	for _, name := range usedNames {
		if exists(filepath.Join(dir, name)) {
			return "", nil
		}
	}
	for _, known := range []struct{ name, what string }{
		{NumberName, "the file " + NumberName + ", which says of which shard it is"},
		{snapshot.FormatName, "the file " + snapshot.FormatName + " of a store"},
	} {
		if exists(filepath.Join(dir, known.name)) {
			return known.what, nil
		}
	}
	is, err := wal.IsLog(dir)
	if is {
		what = "the files of a log"
	}
	if errors.Is(err, fs.ErrNotExist) || err != nil && !isDir(dir) { // what opens it says so better
		err = nil
	}
	return what, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// occupy makes a data directory, if there is none, and locks it, where CheckPlace permits one. Nothing but this locks a directory,
// apart from the division for its copy of the data, which is inside the new directory.
func occupy(dir string) (*DirLock, error) {
	if err := CheckPlace(dir); err != nil {
		return nil, err
	}
	return occupyInside(dir)
}

// occupyInside is occupy without a look at the place.
func occupyInside(dir string) (*DirLock, error) {
	if err := os.MkdirAll(filepath.Clean(dir), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	l, err := Lock(dir)
	if errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("%w; stop it, or choose another directory with --data", err)
	}
	return l, err
}
