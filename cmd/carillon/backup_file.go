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

// partSuffix ends the name of a file that is being written. A fixed suffix, and not a random one, lets the next
// attempt remove what an interrupted one has left.
const partSuffix = ".part"

// ownersFile is the mode of files that may contain credentials. Jobs may contain passwords in URLs and headers.
const ownersFile = 0o600

// writeWhole writes a file under a temporary name and renames it when it is complete and durable, replacing a file of
// that name. Only the owner can read it, whatever the umask and the mode of a replaced file. A pipe or a device is
// written directly. If write fails, a file of that name stays as it was, and the temporary one is removed.
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
	part := path + partSuffix
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // an old file would keep its mode
		return err
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, ownersFile)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		// Before the rename, or a power failure could leave the new name with half of the content.
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
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
