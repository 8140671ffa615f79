package backup

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// The errors of NewReader, Reader.Next and Reader.Read, besides DamagedError and those of the source. They
// are distinct because the operator does something else for each: look for the right file, for another
// program, or for another copy. The texts say so, without a subject, and follow the name of the file.
var (
	// ErrNotBackup is returned for a file that is not a backup.
	ErrNotBackup = errors.New("is not a backup of carillon")
	// ErrVersion is returned for a backup in a format that this program does not know.
	ErrVersion = errors.New("is in a format that this carillon does not know; use the one that wrote it, or a later one")
	// ErrTruncated is returned for a backup that ends too early, because writing or copying it was interrupted.
	ErrTruncated = errors.New("is cut short: the backup was not written, or not copied, to its end; use another one")
)

// DamagedError reports that a backup has other bytes than were written. What Reader.Read returned before must
// not be used either: it may be content of another backup.
type DamagedError struct {
	Offset int64 // offset in the backup of the damaged record, in bytes
	Reason string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("is damaged: %s, in the record at byte %d; use another backup", e.Reason, e.Offset)
}

// checkFile returns an error for a file name that would leave the directory of the restore, or that no
// store has. So a forged backup cannot write outside that directory. The writer checks with the same
// function, and therefore makes no backup that the reader would refuse.
func checkFile(f File) error {
	switch {
	case f.Name == "" || len(f.Name) > nameMax:
		return fmt.Errorf("the name of a file has %d bytes; want 1 to %d", len(f.Name), nameMax)
	case path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name || f.Name == "." || f.Name == ".." ||
		strings.HasPrefix(f.Name, "../") || strings.ContainsAny(f.Name, "\\\x00"):
		return fmt.Errorf("%q is not the name of a file of a store", f.Name)
	case f.Size < 0:
		return fmt.Errorf("the file %q has %d bytes", f.Name, f.Size)
	}
	return nil
}
