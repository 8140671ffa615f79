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

// partsText is the content of the file PARTS. Its number is the version of the directory's layout: which
// parts it has.
const (
	// A release that adds a part raises it, so that this one refuses the directory rather than ignore the part.
	partsVersion = 1
	partsText    = "carillon data directory %d\n"
	// The bound of what is parsed of a file that may be damaged.
	partsBytesMax = 100
)

// A GoneError reports that the log, the store, or both are missing from a data directory that had them. The call that
// returns it has changed nothing. To start without the lost part would be the worse answer: a new log beside an old
// store, or a new store beside an old log, looks healthy and has forgotten jobs.
type GoneError struct {
	Dir   string   // the data directory
	Parts []string // the names in it that are missing or empty
	Known string   // the name in it that shows that they existed
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

// Open opens the log and the store of a data directory, and creates them in a new one. The caller holds
// the directory's lock. Open sets Dir in lo and so; the caller sets the other options. identity is the
// name of a file in the directory whose existence shows that the directory has been in use; "" if there
// is none.
//
// It returns a *GoneError, or an error of package wal or snapshot. It reads the store's position before
// it verifies the log, and compares the two before it changes either; see wal.Options.Applied.
//
// The order of the steps makes a crash at any point safe. The log is created and made durable first,
// then the store, then PARTS. Once PARTS exists, both parts must exist. Without PARTS, a store without a
// log is what remains of both: the log was there first. A log without a store is either what a crash in
// the first start left, or what remains of both. If that log begins with the first commit, the store is
// rebuilt from it with nothing lost. Any other log does not fit an empty store and is refused.
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

// checkThere returns a GoneError for a directory that has lost a part. witness is the name of the file that shows that
// the directory had both, or "". It looks before either part is opened, because opening creates what is missing.
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

// holds reports whether the directory of a part has a file of that part. It ignores the lock file, unfinished files,
// and the lost+found of a file system: they exist in directories without a part, too. So a mount point that is empty,
// or a directory that only a lock was made in, counts as empty.
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

// readParts reports whether the file PARTS exists. It returns an error if another version of the program
// wrote it. Damaged content does not matter: writeParts replaces it.
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

// NoteParts records that a data directory has both parts; from then on [Open] reports a missing one. The caller holds
// the directory's lock, and has made both parts durable. It may be called again.
func NoteParts(dir string) error { return writeParts(dir, false) }

// ForgetParts undoes [NoteParts], also an interrupted one, for a caller that removes both parts. It does
// not make the removal durable.
func ForgetParts(dir string) error {
	path := filepath.Join(dir, PartsName)
	return errors.Join(os.RemoveAll(path), os.RemoveAll(path+partsTemp))
}

// partsTemp is the suffix of a PARTS file that is being written.
const partsTemp = ".tmp"

// writeParts writes PARTS durably, unless known says that it exists. It is the last step of a first start: written
// earlier, it would make a directory that a crash left half made look damaged.
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
		err = syncPath(dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
