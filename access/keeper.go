package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Keeper keeps the rights of a file, and reads the file again when it changes. A nil Keeper stands for a server without
// rights, on which every caller may do everything. Its methods are safe for concurrent use.
type Keeper struct {
	path   string
	logger *slog.Logger
	// changed is called after each change of the rights; nil: nothing is.
	changed func()
	table   atomic.Pointer[Table]

	refused atomic.Uint64 // reads that found a bad file
	denied  denials

	mu     sync.Mutex // guards a read of the file
	looked stamp      // the file that was read last, also if it was bad
	bad    error      // why the file that is there now is not in force; nil: it is
}

// lookEvery is the time between two looks at the file.
const lookEvery = 2 * time.Second

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
	inode    fs.FileInfo
}

// Open reads a file of rights. An error names the file and the line. The file must not be readable by other users of the
// machine, because the hashes and the names in it are a help to an attacker. changed is called after each later change of the rights;
// nil: nothing is.
func Open(path string, logger *slog.Logger, changed func()) (*Keeper, error) {
	k := &Keeper{path: path, logger: logger, changed: changed}
	table, err := k.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.table.Store(table)
	return k, nil
}

// Table returns the rights that are in force; nil for a nil Keeper.
func (k *Keeper) Table() *Table {
	if k == nil {
		return nil
	}
	return k.table.Load()
}

// Watch reads the file again when it changes, until ctx ends. The caller runs it in a goroutine.
func (k *Keeper) Watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if k.hasChanged() {
				k.Reload()
			}
		}
	}
}

// Reload reads the file again. A bad file keeps the rights that are in force; it is logged and counted, and the status
// warns as long as it is there.
func (k *Keeper) Reload() {
	k.mu.Lock()
	defer k.mu.Unlock()
	table, err := k.read()
	if k.bad = err; err != nil {
		k.refused.Add(1)
		k.logger.Error("the changed file of rights is bad; the rights from before stay in force", slog.String("path", k.path), slog.Any("error", err))
		return
	}
	k.table.Store(table)
	k.logger.Info("the file of rights was read", slog.String("path", k.path), slog.Int("principals", table.Principals()), slog.Int("tenants", table.Tenants()))
	if k.changed != nil {
		k.changed()
	}
}

// Refused returns how many reads found a bad file since the start. It returns 0 for a nil Keeper.
func (k *Keeper) Refused() uint64 {
	if k == nil {
		return 0
	}
	return k.refused.Load()
}

// Warnings returns why the file that is there now is not in force; none if it is, and for a nil Keeper.
func (k *Keeper) Warnings() []string {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bad == nil {
		return nil
	}
	return []string{fmt.Sprintf("the file of rights %s is bad, and the rights from before are in force: %v", k.path, k.bad)}
}

// hasChanged reports whether the file is another one than that which was read last.
func (k *Keeper) hasChanged() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.path)
	if err != nil {
		return k.looked.inode != nil // a missing file is reported once
	}
	return k.looked.inode == nil || !info.ModTime().Equal(k.looked.modified) || info.Size() != k.looked.size || !os.SameFile(info, k.looked.inode)
}

// read reads and checks the file, and notes which one it was.
func (k *Keeper) read() (*Table, error) {
	k.looked = stamp{}
	f, err := os.Open(k.path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no file")
	}
	k.looked = stamp{info.ModTime(), info.Size(), info}
	if open := info.Mode().Perm() & otherUsers; open != 0 {
		return nil, fmt.Errorf("other users of this machine may read or change it (mode %#o); want `chmod 600`", info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, BytesMax+1))
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// otherUsers are the permissions that the file must not have: those of all users, and that of the group to write. The
// group may read, because Kubernetes mounts a secret so for a process that is not root.
const otherUsers = 0o027

// plainPathError returns the cause without the path, which the caller has named.
func plainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
