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

// partsText is what the file PARTS says. Its version is that of the directory: which parts it has.
const (
	partsVersion  = 1
	partsText     = "carillon data directory %d\n"
	partsBytesMax = 100
)

// A GoneError says that the log, the store, or both have vanished from a data directory that had them.
// Nothing was changed.
type GoneError struct {
	Dir   string   // the data directory
	Parts []string // the names in it that are missing or empty
	Known string   // the name in it that shows that they were there
}

// Error implements error.
func (e *GoneError) Error() string {
	paths := make([]string, len(e.Parts))
	for i, name := range e.Parts {
		paths[i] = filepath.Join(e.Dir, name) + string(filepath.Separator)
	}
	what, verb := "", "are"
	if len(paths) == 1 {
		what, verb = "the store and the log do not fit together: ", "is"
	}
	return what + fmt.Sprintf("%s %s missing or empty, and %s shows that this data directory has been in use; "+
		"put wal/ and store/ back from one and the same copy, or restore a backup into an empty directory; "+
		"to begin anew without the old jobs, remove the whole data directory",
		strings.Join(paths, " and "), verb, filepath.Join(e.Dir, e.Known))
}

// Open opens the log and the store of a data directory, whose lock the caller holds. It makes them in a
// new one. Their directories are set here; the other options are the caller's. Identity is the name of a
// file in the directory that shows that it has been in use; "" if there is none.
//
// It returns a *GoneError, or what package wal or snapshot returns. The store's position is read before
// the log is judged, and the two are compared before anything in either is changed; see wal.Options.Applied.
//
// The order is what a crash depends on. PARTS comes last: from then on both parts must be there. Without
// it a store is there only after its log was made durable; so a store alone is what is left of both, and a
// log alone what a crash in the first start leaves, or all that is left. A log from its first commit on
// makes such a store anew with nothing lost; any other is refused with the store, because it begins after
// an empty one.
func Open(dir, identity string, lo wal.Options, so snapshot.Options) (*wal.Log, *snapshot.Store, error) {
	known, err := readParts(dir)
	if err != nil {
		return nil, nil, err
	}
	witness := identity
	if known {
		witness = PartsName
	}
	if err := checkThere(dir, witness); err != nil {
		return nil, nil, err
	}
	lo.Dir, so.Dir = filepath.Join(dir, LogName), filepath.Join(dir, StoreName)
	p := pair{dir: dir, witness: witness}
	if err := p.open(lo, so); err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	if err := writeParts(dir, known); err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	return p.log, p.store, nil
}

// checkThere refuses a directory that has lost a part. Witness is the name of what shows that it had both,
// or "".
func checkThere(dir, witness string) error {
	log, err := holds(filepath.Join(dir, LogName))
	if err != nil {
		return err
	}
	store, err := holds(filepath.Join(dir, StoreName))
	if err != nil {
		return err
	}
	gone := &GoneError{Dir: dir, Known: witness}
	if !log && (store || witness != "") {
		gone.Parts = append(gone.Parts, LogName)
	}
	if !store && witness != "" {
		gone.Parts = append(gone.Parts, StoreName)
	}
	if len(gone.Parts) == 0 {
		return nil
	}
	if witness == "" {
		gone.Known = StoreName
	}
	return gone
}

// holds reports whether the directory of a part has anything that only its making can have left. A lock,
// an unfinished file and the root of a file system prove nothing.
func holds(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name := e.Name()
		return name != "LOCK" && name != "lost+found" && !strings.HasSuffix(name, ".TEMP")
	}), err
}

// readParts reports whether the file PARTS is there. What it says matters only if another version wrote
// it; one that cannot be read is written again.
func readParts(dir string) (bool, error) {
	path := filepath.Join(dir, PartsName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	version := 0
	if _, err := fmt.Sscanf(string(b[:min(len(b), partsBytesMax)]), partsText, &version); err == nil && version != partsVersion {
		return false, fmt.Errorf("%s: a carillon that knows version %d of a data directory wrote it, and this one knows %d; run that one or a later one; "+
			"if none was ever here, the file is damaged: remove it, and it is written again",
			path, version, partsVersion)
	}
	return true, nil
}

// NoteParts notes that a data directory has both parts: from then on [Open] misses either. The caller holds the
// lock of the directory, and both parts are durable.
func NoteParts(dir string) error { return writeParts(dir, false) }

// ForgetParts undoes [NoteParts], also one that was cut short, for a caller who removes both parts. It does not
// make the removal durable.
func ForgetParts(dir string) error {
	path := filepath.Join(dir, PartsName)
	return errors.Join(os.RemoveAll(path), os.RemoveAll(path+partsTemp))
}

// partsTemp ends the name of a PARTS file that is being written.
const partsTemp = ".tmp"

// writeParts notes that both parts are there, once.
func writeParts(dir string, known bool) error {
	path, text := filepath.Join(dir, PartsName), fmt.Sprintf(partsText, partsVersion)
	if b, err := os.ReadFile(path); known && err == nil && string(b) == text {
		return nil
	}
	err := writeSynced(path+partsTemp, text)
	if err == nil {
		err = os.Rename(path+partsTemp, path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
