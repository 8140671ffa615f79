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

// DamageError reports that a file of a store is missing, damaged or an older copy of itself. Open and Inspect
// return it and have then changed nothing: once the right file is back, the store opens. A store that is open finds damage of a
// table when it reads the block in question: then every read of that block returns it, and the store fails with it.
type DamageError struct {
	Opened bool   // the store was open, so that it had changed its files
	Dir    string // of the store
	File   string // name of the file in Dir that is damaged, or that leads to the damage
	Reason string // what is wrong, for a person
	Err    error  // the error of the library or of Options.Check; may be nil
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

// The markers are empty files. Their names say which file or version is current, for example
// marker.manifest.000002.MANIFEST-000007.
const (
	markerPrefix   = "marker."
	manifestMarker = markerPrefix + "manifest."
	formatMarker   = markerPrefix + "format-version."
	optionsPrefix  = "OPTIONS-"
	tableSuffix    = ".sst"
)

var (
	// markerName matches every valid name of a marker. Pebble takes any other name with the same prefix for
	// a marker too, and then fails to parse it.
	markerName = regexp.MustCompile(`^marker\.(manifest\.[0-9]{6,}\.MANIFEST-[0-9]{6,}|format-version\.[0-9]{6,}\.[0-9]{3,})$`)
	// Pebble has no error types that name a file, so the next two read the texts of its errors. If a
	// newer Pebble changes a text, the damage is still found and refused; only the name of the file
	// becomes that of the manifest.
	//
	// badTable matches the number of a table in the error of Pebble's comparison of manifest and directory.
	badTable = regexp.MustCompile(`L[0-9]: ([0-9]{6,}): `)
	// libraryFile matches the names of Pebble's files in the text of an error.
	libraryFile = regexp.MustCompile(`MANIFEST-[0-9]{6,}|[0-9]{6,}\.(sst|blob|log)`)
)

// examine checks a store before Pebble may change it, and passes the position that the store is at to
// check.
//
// Pebble does not recognise all damage. Without a marker it makes a new store in place of the old one. A
// manifest that was cut, emptied or replaced by an older copy looks to it like one that a crash
// interrupted, and it removes the tables which that manifest does not name. So examine first lets Pebble
// open the directory read-only, on a file system that refuses every change. That compares the manifest
// with the tables, and the head row says which state they are.
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
		return unreadable(dir, manifest, terse{err})
	}
	if err := check(at); err != nil {
		return &DamageError{Dir: dir, File: manifest, Reason: fmt.Sprintf("the store that it leads to is at %v", at), Err: err}
	}
	return nil
}

// unreadable returns a DamageError that names the file because of which a store cannot be read. If the
// error names none, that is the manifest, because it leads to all others.
func unreadable(dir, manifest string, err error) error {
	file := libraryFile.FindString(err.Error())
	if m := badTable.FindStringSubmatch(err.Error()); m != nil {
		file = m[1] + tableSuffix
	}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		file = filepath.Base(info.Path)
	}
	if file == "" || file == manifest {
		return &DamageError{Dir: dir, File: manifest, Reason: "it is missing, damaged, or an older copy of itself", Err: err}
	}
	return &DamageError{Dir: dir, File: file, Err: err,
		Reason: "it is missing, damaged, or does not fit " + manifest + ", which may be an older copy of itself"}
}

// checkOptions checks the newest OPTIONS file in the same way as Pebble does when it opens the store.
// Pebble's own error would not name the file.
func checkOptions(dir string, fs vfs.FS, names []string) error {
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, optionsPrefix) && name > newest {
			newest = name
		}
	}
	if newest == "" {
		return nil // a store without one is intact: Pebble writes one at each start
	}
	text, err := readFile(fs.PathJoin(dir, newest), fs)
	if err != nil {
		return err
	}
	o := &pebble.Options{FS: fs, DisableWAL: true, FormatMajorVersion: pebbleFormat}
	o.EnsureDefaults()
	if err := o.CheckCompatibility(dir, string(text)); err != nil {
		return &DamageError{Dir: dir, File: newest, Reason: "the file is damaged; remove it: it holds no data of the store, and the next start writes a new one", Err: err}
	}
	return nil
}

// readFile reads a file of at most optionsBytesMax bytes.
func readFile(path string, fs vfs.FS) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, optionsBytesMax))
	return b, errors.Join(err, f.Close())
}

// optionsBytesMax bounds the bytes read from an OPTIONS file; a valid one has about 5 KiB.
const optionsBytesMax = 1 << 20

// findMarkers reports whether Pebble has made the store. If not, its creation was interrupted, and no
// table exists. Missing markers beside a table are damage.
func findMarkers(dir string, names []string) (made bool, err error) {
	for _, name := range names {
		if strings.HasPrefix(name, markerPrefix) && !markerName.MatchString(name) {
			return false, &DamageError{Dir: dir, File: name, Reason: "no marker has such a name: if the file was renamed, rename it back"}
		}
	}
	table := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, tableSuffix) })
	for _, marker := range []string{formatMarker, manifestMarker} {
		made = slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, marker) })
		if !made && table >= 0 {
			return false, &DamageError{Dir: dir, File: marker + "*", Reason: "the file is missing although tables exist, such as " + names[table]}
		}
	}
	return made, nil
}

// currentManifest returns the name of the manifest that the newest marker names.
func currentManifest(names []string) string {
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, manifestMarker) && name > newest { // their numbers have equal width
			newest = name
		}
	}
	return strings.TrimPrefix(filepath.Ext(newest), ".")
}

// readAlone opens a store read-only and returns its position.
func readAlone(dir string, fs vfs.FS, lock *pebble.Lock, f *fault) (at job.Position, err error) {
	err = openAlone(dir, fs, lock, f, func(db *pebble.DB) (err error) {
		at, err = readHead(db)
		return err
	})
	return at, err
}

// openAlone opens a store read-only for a function. Its errors, which include a panic of the library over the files, concern the
// files in dir and end no open store.
func openAlone(dir string, fs vfs.FS, lock *pebble.Lock, f *fault, do func(*pebble.DB) error) error {
	return <-f.start(func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("pebble: %v", r)
			}
		}()
		db, err := pebble.Open(dir, &pebble.Options{
			FS: fs, Lock: lock, ReadOnly: true, DisableWAL: true, FormatMajorVersion: pebbleFormat,
			CacheSize: inspectCacheBytes, Logger: quiet{f},
			// Pebble's own ends the goroutine by Fatalf, and the store would stay open. The read has the error as well.
			EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		})
		if err != nil {
			return err
		}
		return errors.Join(do(db), db.Close())
	})
}

// inspectCacheBytes is the size of the block cache, in bytes; reading one row needs no more.
const inspectCacheBytes = 1 << 20
