package wal

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	tempSuffix = ".TEMP"
	// lostAndFound is the directory that some file systems keep at their root. It is ignored, so that a
	// log can be at the root of its own disk.
	lostAndFound = "lost+found"
)

// layout holds what the file names in a log's directory say, before any file is read.
type layout struct {
	base     bool     // BASE exists
	cut      bool     // CUT exists
	list     bool     // SEGMENTS exists
	foreign  string   // the first name that does not belong to a log; "" if there is none
	segments []LSN    // first LSNs, ascending
	temps    []string // unfinished files of an interrupted operation
}

// readLayout classifies the names in dir. An unknown name is an error of the log and is not ignored: it
// may be a segment that was renamed, and the library acts on names of its own.
func readLayout(dir string) (layout, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return layout{}, err
	}
	var l layout
	for _, e := range entries {
		if !l.place(e) && l.foreign == "" {
			l.foreign = e.Name()
		}
	}
	return l, nil
}

// IsLog reports whether a directory has the files of a log, and no other ones. It changes nothing.
func IsLog(dir string) (bool, error) {
	l, err := readLayout(dir)
	return err == nil && l.foreign == "" && (l.base || l.list || len(l.segments) > 0), err
}

// place records one entry and reports whether it belongs to a log. Segment names arrive in
// ascending order, because os.ReadDir sorts and the names have one width.
func (l *layout) place(e fs.DirEntry) bool {
	name := e.Name()
	if e.IsDir() {
		return name == lostAndFound
	}
	if !e.Type().IsRegular() {
		return false
	}
	if first, ok := parseSegmentName(name); ok {
		l.segments = append(l.segments, first)
		return true
	}
	switch {
	case name == lockName:
	case name == baseName:
		l.base = true
	case name == cutName:
		l.cut = true
	case name == listName:
		l.list = true
	case isTemp(name):
		l.temps = append(l.temps, name)
	default:
		return false
	}
	return true
}

// isTemp reports whether name is a file that this package or the library writes before a rename.
func isTemp(name string) bool {
	stem, ok := strings.CutSuffix(name, tempSuffix)
	if !ok {
		return false
	}
	stem = strings.TrimSuffix(strings.TrimSuffix(stem, ".START"), ".END")
	_, segment := parseSegmentName(stem)
	return segment || stem == baseName || stem == cutName || stem == listName
}

// foreignReason says why a name does not belong to a log. Two suffixes are special: the library takes
// such files for interrupted operations of its own and would delete segments.
func foreignReason(name string) string {
	stem, kind, _ := strings.Cut(name, ".")
	if _, ok := parseSegmentName(stem); ok && (kind == "START" || kind == "END") {
		return fmt.Sprintf("the library would remove segments because of this .%s file, "+
			"and this program writes none", kind)
	}
	return "the file does not belong to the log"
}
