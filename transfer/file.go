package transfer

import (
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strconv"
)

// File is one file of a copy. Its JSON is part of the offers of checkpoints and must not change.
type File struct {
	Name string `json:"name"` // path below the directory of the copy, with slashes
	Size int64  `json:"size"` // bytes
}

// ManyFilesError says that a copy has too many files to be sent. The text is meant to follow a subject, as in "the store
// has 70000 files, …".
type ManyFilesError struct {
	Files, Most int
}

// Error implements error.
func (e *ManyFilesError) Error() string {
	return fmt.Sprintf("%d files, and at most %d can be sent", e.Files, e.Most)
}

// List returns the files below a directory, sorted by name. More than most are a [ManyFilesError].
func List(dir string, most int) (files []File, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, File{filepath.ToSlash(name), info.Size()})
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(files) > most {
		return nil, &ManyFilesError{Files: len(files), Most: most}
	}
	return files, nil
}

// Check returns an error if one of the files would not lie below the directory of the copy, or has an impossible size. The
// files were named by another process, and the receiver creates files by these names.
func Check(files []File) error {
	for _, f := range files {
		if name := filepath.FromSlash(f.Name); !filepath.IsLocal(name) || filepath.Clean(name) == "." || f.Size < 0 {
			return fmt.Errorf("the offer has a file %q of %d bytes", f.Name, f.Size)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum that travels with a piece: its CRC-32C, in decimal. It covers what the sender has read, so it
// finds damage on the way and replies that are not a piece, but not damage on the sender's disk: a store has checksums of
// its own.
func Sum(piece []byte) string {
	return strconv.FormatUint(uint64(crc32.Checksum(piece, castagnoli)), 10)
}
