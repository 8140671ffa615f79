package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// partPattern returns the pattern of the names under which a file or a folder is written until it is complete, for
// [os.CreateTemp] and [os.MkdirTemp] in its directory. Each command has a name of its own, so it never renames or removes
// what another one writes, or what was there before.
func partPattern(path string) string { return filepath.Base(path) + ".*.part" }

// writeWhole writes a file under a temporary name and renames it when it is complete and durable, replacing a file of
// that name. Only the owner can read it, whatever the umask and the mode of a replaced file, because jobs may contain
// passwords in URLs and headers. A pipe or a device is written directly. If write fails, a file of that name stays as it was, and the temporary one is removed.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; name a file in it", path)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeThenRename(path, write)
}

// writeThenRename is writeWhole for a name that is free, or that of a file.
func writeThenRename(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), partPattern(path)) // with the mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		// Before the rename, or a power failure could leave the new name with half of the content.
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDirOf(path)
}

// syncDirOf makes the name of a file durable by syncing its directory. Without it a power failure could leave a
// directory without the new name, although the command has reported success.
func syncDirOf(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// interruptibleReader fails as soon as its context ends. It ends a copy between two reads; a read that blocks is not
// interrupted.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r *interruptibleReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
