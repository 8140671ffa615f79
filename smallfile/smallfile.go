// Package smallfile reads small files that an operator names: secrets, keys, certificates, settings.
//
// A read never waits, whatever the path leads to: it opens without blocking and refuses what is no regular file, such as
// a pipe, a device or a directory. It takes no more memory than its bound. The checks are of the file that is read, and
// not of one that has taken its place since.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Check returns why a file must not be used, in words that follow its name; nil if it may be.
type Check func(fs.FileInfo) error

// Read returns the contents of a regular file with at most bytesMax bytes that all checks accept. Links are followed.
// Every error is a [*fs.PathError] with the path. Safe for concurrent use.
func Read(path string, bytesMax int64, checks ...Check) ([]byte, error) {
	// Without O_NONBLOCK, to open a pipe would wait for its other end.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := ReadOpen(f, bytesMax, checks...)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: cause(err)}
	}
	return text, nil
}

// ReadOpen is Read for a file that is open already, without blocking. The caller closes it. Its errors do not name the
// file unless the system does.
func ReadOpen(f *os.File, bytesMax int64, checks ...Check) ([]byte, error) {
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	for _, check := range append([]Check{isRegular}, checks...) {
		if err := check(about); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, bytesMax+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > bytesMax:
		return nil, fmt.Errorf("it has more than %d bytes, which is the limit", bytesMax)
	}
	return text, nil
}

// kinds are what a path may lead to besides a regular file.
var kinds = []struct {
	mode fs.FileMode
	name string
}{
	{fs.ModeDir, "a directory"}, {fs.ModeNamedPipe, "a pipe"}, {fs.ModeSocket, "a socket"}, {fs.ModeDevice, "a device"},
}

// isRegular is the check of every file.
func isRegular(about fs.FileInfo) error {
	if about.Mode().IsRegular() {
		return nil
	}
	for _, kind := range kinds {
		if about.Mode()&kind.mode != 0 {
			return fmt.Errorf("it is %s; want a regular file", kind.name)
		}
	}
	return errors.New("it is no regular file")
}

// cause returns an error without the path, which Read names.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
