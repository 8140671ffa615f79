package backup

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// The errors of NewReader, Reader.Next and Reader.Read, besides DamagedError and those of the source.
var (
	// ErrNotBackup is returned for a file that is something else.
	ErrNotBackup = errors.New("is no backup of carillon")
	// ErrVersion is returned for a backup in a format that this program does not know.
	ErrVersion = errors.New("is in a format that this carillon does not know; use the one that wrote it, or a later one")
	// ErrTruncated is returned for a backup that ends too early: its writing, or a copying, was cut short.
	ErrTruncated = errors.New("is cut short: the backup was not written, or not copied, to its end; use another one")
)

// DamagedError tells of bytes that are not those that were written.
type DamagedError struct {
	Offset int64 // in the backup, of the record that is damaged
	Reason string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("is damaged: %s, in what begins at byte %d; use another backup", e.Reason, e.Offset)
}

// checkFile refuses a file that would leave the directory it belongs in, or that no store has.
func checkFile(f File) error {
	switch {
	case f.Name == "" || len(f.Name) > nameMax:
		return fmt.Errorf("the name of a file has %d bytes; want 1 to %d", len(f.Name), nameMax)
	case path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name || f.Name == "." || f.Name == ".." ||
		strings.HasPrefix(f.Name, "../") || strings.ContainsAny(f.Name, "\\\x00"):
		return fmt.Errorf("%q is no name of a file of a store", f.Name)
	case f.Size < 0:
		return fmt.Errorf("the file %q has %d bytes", f.Name, f.Size)
	}
	return nil
}
