package snapshot

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// The bounds and defaults of Options, in bytes. The minimum of a memtable allows many flushes of few
// rows, which tests need. The maximum keeps four memtables, which exist under load, within 4 GiB.
const (
	CacheBytesDefault    = 64 << 20
	MemTableBytesDefault = 16 << 20
	MemTableBytesMin     = 64 << 10
	MemTableBytesMax     = 1 << 30
)

// Options say how to open a store. Only Dir is required; every other field has a default.
type Options struct {
	// Dir is the directory of the store and holds nothing else. Open creates it.
	Dir string

	// CacheBytes is the memory for cached blocks and memtables together, in bytes. Blocks get what the
	// memtables leave: with the defaults 32 MiB when idle and nothing under load. 0 means 64 MiB. A
	// larger value saves reads of cold rows the decompression of a block once the store is larger than
	// the cache; the system's page cache holds the compressed blocks in any case. A smaller value saves
	// memory, at most down to that of the memtables.
	CacheBytes int64

	// TablesMax is how many tables the store keeps open for reading, a file each; those that are read at the moment may be
	// more. 0 means [TablesDefault], and fewer than 64 count as 64. Fewer spare open files, and cost the opening of a table more often.
	TablesMax int

	// Memory is shared with other stores of the process; CacheBytes and TablesMax count for nothing then, and memtables
	// take nothing from the blocks. Nil: the store has its own.
	Memory *Memory

	// MemTableBytes is the size at which a memtable is flushed, in bytes. 0 means 16 MiB; the minimum is
	// 64 KiB, the maximum 1 GiB. A larger value means fewer flushes and less rewriting, but more memory
	// (two memtables when idle, four under load) and a longer replay after a crash. A smaller value
	// makes writers stall earlier when they are faster than flushes and compactions.
	//
	// Without cgo this memory is on Go's heap and counts for the garbage collector; with cgo it is not.
	MemTableBytes int64

	// Logger receives warnings of slow and full disks, the failure that ends the store and, at the debug
	// level, Pebble's routine messages. Nil discards them.
	Logger *slog.Logger

	// OnFatal is called at most once, on a goroutine of its own, with the first failure after Open has
	// returned; the error wraps ErrFailed. The process must stop then: see ErrFailed. OnFatal may call
	// the store. If it is nil, the owner learns of the failure from the errors of the store's calls.
	OnFatal func(error)

	// Check is called by Open, before any file in the directory is changed, with the position of the store;
	// the zero position is that of a new store. If Check returns an error, Open returns it, wrapped.
	// Check compares the store with the log: a store whose files were rolled back must not be opened,
	// because Pebble would remove the newer files as unused. Nil accepts every position.
	Check func(applied job.Position) error

	// Start is the position that a new store continues: its first commit has the LSN Start.LSN+1. The zero value begins
	// at LSN 1. A store that has a commit is opened at its own position, whatever Start says.
	Start job.Position

	fs vfs.FS // set by tests to a file system that crashes or fails; nil means the machine's
}

// withDefaults returns a copy in which every field that has a default is set, except fs.
func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = CacheBytesDefault
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = MemTableBytesDefault
	}
	if o.TablesMax == 0 {
		o.TablesMax = TablesDefault
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnFatal == nil {
		o.OnFatal = func(error) {}
	}
	if o.Check == nil {
		o.Check = func(job.Position) error { return nil }
	}
	return o
}

// validate checks options with their defaults set, and makes Dir absolute: a later change of the
// working directory must not move the store.
func (o Options) validate() (Options, error) {
	switch {
	case o.Dir == "":
		return o, errors.New("snapshot: Dir is not set")
	case o.CacheBytes < 0:
		return o, fmt.Errorf("snapshot: CacheBytes is %d and must not be negative", o.CacheBytes)
	case o.TablesMax < 0:
		return o, fmt.Errorf("snapshot: TablesMax is %d and must not be negative", o.TablesMax)
	case o.MemTableBytes < MemTableBytesMin || o.MemTableBytes > MemTableBytesMax:
		return o, fmt.Errorf("snapshot: MemTableBytes is %d and must be from %d to %d",
			o.MemTableBytes, MemTableBytesMin, MemTableBytesMax)
	case o.Start.LSN == 0 && o.Start != (job.Position{}):
		return o, fmt.Errorf("snapshot: Start %v is not a position: at LSN 0 epoch and hash are zero", o.Start)
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}
