package snapshot

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// The bounds and defaults of Options, in bytes.
const (
	CacheBytesDefault    = 64 << 20
	MemTableBytesDefault = 16 << 20
	MemTableBytesMin     = 64 << 10
	MemTableBytesMax     = 1 << 30
)

// Options say how to open a store. The zero value is complete but for Dir.
type Options struct {
	// Dir is the directory of the store and holds nothing else. Open creates it.
	Dir string

	// CacheBytes is the memory for blocks and memtables together: blocks have what the memtables
	// leave, which is 32 MiB by default when idle and nothing under load. 0 means 64 MiB. Larger spares
	// reads of cold rows the decompression of a block once the store outgrows it; the page cache of
	// the machine works behind it either way. Smaller saves memory, down to that of the memtables.
	CacheBytes int64

	// MemTableBytes is how much is held in memory before it is flushed. 0 means 16 MiB; the least is
	// 64 KiB, the most 1 GiB. Larger means fewer flushes and less rewriting, more memory (one and a
	// spare when idle, four under load) and a longer replay after a crash. Smaller means that writers
	// stall earlier when they outrun flushes and compactions.
	//
	// Without cgo this memory is Go's and counts for the garbage collector; with cgo it is not.
	MemTableBytes int64

	// Logger hears of slow and full disks and of the failure that ends the store; at the debug level,
	// of Pebble's routine. Nil discards it all.
	Logger *slog.Logger

	// OnFatal is called at most once, on a goroutine of its own, with the first failure after Open has
	// returned; it wraps ErrFailed. The process must stop then: see ErrFailed. It may use the store.
	// Nil tells nobody, and the calls of the store tell all the same.
	OnFatal func(error)

	// Check is asked by Open, before anything in the directory is changed, whether the store may be at the
	// position that was found; the zero position is that of a new store. Its error is returned, wrapped.
	// It is for the comparison with the log: a store that was rolled back must not be opened, because the
	// library then removes what it takes for left over. Nil takes every position.
	Check func(applied job.Position) error

	fs vfs.FS // tests put a file system that crashes or fails here; nil is the machine's
}

func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = CacheBytesDefault
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = MemTableBytesDefault
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
	case o.MemTableBytes < MemTableBytesMin || o.MemTableBytes > MemTableBytesMax:
		return o, fmt.Errorf("snapshot: MemTableBytes is %d and must be from %d to %d",
			o.MemTableBytes, MemTableBytesMin, MemTableBytesMax)
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}
