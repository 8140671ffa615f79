package snapshot

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// DamageError says that a file of a store is missing, damaged or an older copy of itself. It is returned
// by Open, which has then changed nothing: with the right file in its place the store opens.
type DamageError struct {
	Dir    string // of the store
	File   string // name of the file in Dir that is damaged, or that leads to the damage
	Reason string // what is wrong, for a person
	Err    error  // what the library or the caller's check said; may be nil
}

// Error implements error.
func (e *DamageError) Error() string {
	text := fmt.Sprintf("snapshot: damaged store %s: file %s: %s", e.Dir, e.File, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// The markers are empty files whose names say what is current, as marker.manifest.000002.MANIFEST-000007.
const (
	markerPrefix   = "marker."
	manifestMarker = markerPrefix + "manifest."
	formatMarker   = markerPrefix + "format-version."
	optionsPrefix  = "OPTIONS-"
	tableSuffix    = ".sst"
)

var (
	// markerName matches every name that a marker may have. Pebble takes any other that begins so for one
	// too, and then cannot read what it says.
	markerName = regexp.MustCompile(`^marker\.(manifest\.[0-9]{6,}\.MANIFEST-[0-9]{6,}|format-version\.[0-9]{6,}\.[0-9]{3,})$`)
	// badTable matches how Pebble's comparison of the manifest with the directory names a table.
	badTable = regexp.MustCompile(`L[0-9]: ([0-9]{6,}): `)
	// libraryFile matches the names of Pebble's files in the text of an error.
	libraryFile = regexp.MustCompile(`MANIFEST-[0-9]{6,}|[0-9]{6,}\.(sst|blob|log)`)
)

// examine looks at a store before Pebble may change it, and asks the caller whether the position that it
// is at can be right.
//
// Pebble takes less for damage than it is. Without a marker it makes a new store in the place of the old
// one; a manifest that was cut, emptied or replaced by an older copy is to it one that a crash cut short;
// and then it removes the tables that such a manifest does not name. So it opens the directory for
// reading first, which compares the manifest with the tables, and the head row says which state that is.
// The file system that it has meanwhile refuses every change.
func examine(dir string, fs vfs.FS, lock *pebble.Lock, f *fault, check func(job.Position) error) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	made, err := findMarkers(dir, names)
	if err != nil {
		return err
	}
	if !made {
		return check(job.Position{})
	}
	if err := checkOptions(dir, fs, names); err != nil {
		return err
	}
	manifest := currentManifest(names)
	at, err := readAlone(dir, readOnlyFS{fs}, lock, f)
	if err != nil {
		return unreadable(dir, manifest, err)
	}
	if err := check(at); err != nil {
		return &DamageError{Dir: dir, File: manifest, Reason: fmt.Sprintf("the store that it leads to is at %v", at), Err: err}
	}
	return nil
}

// unreadable names the file that keeps a store from being read.
func unreadable(dir, manifest string, err error) error {
	file := libraryFile.FindString(err.Error())
	if m := badTable.FindStringSubmatch(err.Error()); m != nil {
		file = m[1] + tableSuffix
	}
	if file == "" || file == manifest {
		return &DamageError{Dir: dir, File: manifest, Reason: "it is missing, damaged, or an older copy of itself", Err: err}
	}
	return &DamageError{Dir: dir, File: file, Err: err,
		Reason: "it is missing, damaged, or does not fit " + manifest + ", which may be an older copy of itself"}
}

// checkOptions checks the newest OPTIONS file, which Pebble reads, as Pebble does: its error would not say
// that it is about this file.
func checkOptions(dir string, fs vfs.FS, names []string) error {
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, optionsPrefix) && name > newest {
			newest = name
		}
	}
	if newest == "" {
		return nil // Pebble writes one at each start
	}
	text, err := readFile(fs.PathJoin(dir, newest), fs)
	if err != nil {
		return err
	}
	o := &pebble.Options{FS: fs, DisableWAL: true, FormatMajorVersion: pebbleFormat}
	o.EnsureDefaults()
	if err := o.CheckCompatibility(dir, string(text)); err != nil {
		return &DamageError{Dir: dir, File: newest, Reason: "the file is damaged; remove it, nothing of the store is in it and a new one is written", Err: err}
	}
	return nil
}

func readFile(path string, fs vfs.FS) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, optionsBytesMax))
	return b, errors.Join(err, f.Close())
}

// optionsBytesMax bounds what is read of an OPTIONS file, which has about 5 KiB.
const optionsBytesMax = 1 << 20

// findMarkers reports whether Pebble has made the store; if not, its creation was interrupted, and there
// is no table. Markers that are missing beside a table are damage.
func findMarkers(dir string, names []string) (made bool, err error) {
	for _, name := range names {
		if strings.HasPrefix(name, markerPrefix) && !markerName.MatchString(name) {
			return false, &DamageError{Dir: dir, File: name, Reason: "no marker has such a name: if it was renamed, give it its name back"}
		}
	}
	table := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, tableSuffix) })
	for _, marker := range []string{formatMarker, manifestMarker} {
		made = slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, marker) })
		if !made && table >= 0 {
			return false, &DamageError{Dir: dir, File: marker + "*", Reason: "the file is missing, and tables are there, as " + names[table]}
		}
	}
	return made, nil
}

// currentManifest returns the name of the manifest that the newest marker names.
func currentManifest(names []string) string {
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, manifestMarker) && name > newest { // their numbers have one width
			newest = name
		}
	}
	return strings.TrimPrefix(filepath.Ext(newest), ".")
}

// readAlone opens a store for reading alone and returns its position. What the store suffers from is
// returned and ends no open store; a panic of the library over what it read is such an error too.
func readAlone(dir string, fs vfs.FS, lock *pebble.Lock, f *fault) (at job.Position, err error) {
	err = <-f.start(func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("pebble: %v", r)
			}
		}()
		db, err := pebble.Open(dir, &pebble.Options{
			FS: fs, Lock: lock, ReadOnly: true, DisableWAL: true, FormatMajorVersion: pebbleFormat,
			CacheSize: inspectCacheBytes, Logger: quiet{f},
		})
		if err != nil {
			return err
		}
		at, err = readHead(db)
		return errors.Join(err, db.Close())
	})
	return at, err
}

// inspectCacheBytes is enough to read one row.
const inspectCacheBytes = 1 << 20
