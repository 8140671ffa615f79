package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	tidwall "github.com/tidwall/wal"
	"golang.org/x/sys/unix"
)

// The permissions of files and directories. Commits contain the payloads and the credentials of jobs,
// so no other user has access.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// disk has one method for each way in which a Log changes its directory. Tests implement it to inject
// faults. Reads do not go through it.
type disk interface {
	// write creates or replaces the file with all of src and syncs it. It is not atomic and does not sync
	// the directory. So callers write under a temporary name, or write a file without content.
	write(path string, src io.Reader) error
	// rename atomically replaces the file at to. The change is durable after a syncDir.
	rename(from, to string) error
	// remove unlinks a file. A crash before the next syncDir may bring the file back.
	remove(path string) error
	// syncDir makes the names in dir durable.
	syncDir(dir string) error
	// free returns the bytes that an unprivileged process may still write to the file system of
	// dir.
	free(dir string) (int64, error)
	// journal opens the library on segments that are verified.
	journal(dir string, segmentBytes int) (journal, error)
}

// journal is the part of the library that this package uses. The interface leaves out the library's
// Read, which trusts the lengths in the file, and its truncations, which sync no directory. Log.writing
// guards it.
type journal interface {
	// Write appends one entry. It begins a new segment file after the entry that reaches the
	// segment size; the file it leaves is synced first. It copies the entry. After an error the file may
	// have a part of the entry, and no further Write may follow.
	Write(index uint64, entry []byte) error
	// Sync makes the entries of the last segment durable.
	Sync() error
	LastIndex() (uint64, error)
	// Close syncs the last segment and closes it.
	Close() error
}

// osDisk is the real disk: the calls of package os.
type osDisk struct{}

// write leaves a part of the file behind if it fails: the name is a temporary one, which the next Open
// removes, or the caller does.
func (osDisk) write(path string, src io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, src); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) remove(path string) error { return os.Remove(path) }

func (osDisk) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return errors.Join(err, d.Close())
	}
	return d.Close()
}

// free uses the count of blocks that unprivileged processes may use, which excludes the reserve for
// root.
func (osDisk) free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func (osDisk) journal(dir string, segmentBytes int) (journal, error) {
	return tidwall.Open(dir, &tidwall.Options{
		NoSync:           true, // Append syncs, so that a test can make that step alone fail
		SegmentSize:      segmentBytes,
		SegmentCacheSize: 1, // 0 would mean 2; this package never reads through the library
		AllowEmpty:       true,
		DirPerms:         dirMode,
		FilePerms:        fileMode,
	})
}

// replace makes src the content of the file name in dir. A crash leaves the old content or the whole new
// one: the new bytes are synced before the rename, and the sync of the directory makes the rename
// durable.
func replace(d disk, dir, name string, src io.Reader) error {
	path := filepath.Join(dir, name)
	if err := d.write(path+tempSuffix, src); err != nil {
		return err
	}
	if err := d.rename(path+tempSuffix, path); err != nil {
		return err
	}
	return d.syncDir(dir)
}
