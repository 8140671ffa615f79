package smallfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// linksMax bounds the links on the way to a file, as the system does.
const linksMax = 40

// PlaceError means that other users of the machine may put another file in the place of one.
type PlaceError struct {
	Dir string // in which they may rename files
	Err error  // why, and what would be right, without the name of the directory
}

// Error implements error.
func (e *PlaceError) Error() string {
	return fmt.Sprintf("other users of this machine may replace it: its directory %s %v", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *PlaceError) Unwrap() error { return e.Err }

// checkPlace returns a [*PlaceError] if another user may change which file a path leads to. It looks at each directory from
// the root to the file, also where a link leads. The owner of the file is trusted with its place too, because that user can
// change it at any time, and [NotForOthers] has decided whether that may be.
func checkPlace(path string, file fs.FileInfo) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir, links := string(filepath.Separator), 0
	for rest := elements(path); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			dir = filepath.Dir(dir) // dir has no links
			continue
		}
		next := filepath.Join(dir, name)
		about, err := os.Lstat(next)
		if err != nil {
			return cause(err)
		}
		if err := checkEntry(dir, about, file); err != nil {
			return err
		}
		if about.Mode()&fs.ModeSymlink == 0 {
			dir = next
			continue
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > linksMax {
			return errors.Join(errors.New("it is behind a link that leads nowhere"), cause(err))
		}
		if filepath.IsAbs(to) {
			dir = string(filepath.Separator)
		}
		rest = append(elements(to), rest...)
	}
	return nil
}

// elements splits a path; empty elements are to be passed over.
func elements(path string) []string { return strings.Split(path, string(filepath.Separator)) }

// checkEntry returns a [*PlaceError] if another user may replace an entry of a directory.
func checkEntry(path string, entry, file fs.FileInfo) error {
	dir, err := os.Lstat(path)
	if err != nil {
		return cause(err)
	}
	mode := dir.Mode()
	switch isOpen := mode.Perm()&0o002 != 0 || mode.Perm()&0o020 != 0 && !isOwnGroup(dir) && !isOfRootGroup(dir); {
	case !isOwn(dir) && !haveOneOwner(dir, file):
		return &PlaceError{path, errors.New("belongs to another user; want one of the user of this process, or of root (chown)")}
	case !isOpen:
		return nil
	case mode&fs.ModeSticky == 0:
		return &PlaceError{path, fmt.Errorf("is open to them (mode %04o); want chmod go-w on it", mode.Perm())}
	case !isOwn(entry) && !haveOneOwner(entry, file):
		return &PlaceError{path, fmt.Errorf("is open to them (mode %04o), and %s in it belongs to another user; want another place", mode.Perm(), entry.Name())}
	}
	return nil
}
