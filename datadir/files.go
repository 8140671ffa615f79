package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes a new file beside the one of that name and renames it to that name. Each step is synced before
// the next. A crash leaves the old file or the new one, never a part of one, and perhaps the temporary file, which the
// next call overwrites. It is not for concurrent calls with one name.
func replaceFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncPath(dir)
}

// The file itself may be incomplete after a crash: a caller that needs all or nothing renames it afterwards.
func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// The rename is durable only with the directory that has the name, so it syncs that directory. Both names must be in
// dir.
func renameSynced(dir, from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncPath(dir)
}

// syncTree makes a directory and all files in it durable, because a process that crashed may have written them.
// Directories are synced as well, because a new file survives a crash only if its name does.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return syncPath(path)
	})
}

// syncPath makes a file, or the names in a directory, durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// errorAt returns an error with the path of the file that it is about.
func errorAt(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

// ignore returns nil for an error of that kind, and otherwise the error.
func ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}
