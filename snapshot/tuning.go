package snapshot

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleFormat is the version of Pebble's own files that a store of formatVersion has. It is named, so
// that a newer Pebble does not raise it by itself: there is no way back, and an upgrade of one node at
// a time would be over.
const pebbleFormat = pebble.FormatValueSeparation // 24, the newest of v2.1

// pebbleOptions states what matters for our shape of work: many small rows that are written in the
// order of time, rewritten once or twice, read by key, and scanned as a whole at the start.
func (s *Store) pebbleOptions(o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                 exportingFS{guardedFS: guardedFS{o.fs, s.fault}, dir: s.dir, outside: exportFS{o.fs, s.exports}},
		Lock:               s.lock,
		DisableWAL:         true,
		FormatMajorVersion: pebbleFormat,
		CacheSize:          o.CacheBytes,
		MemTableSize:       uint64(o.MemTableBytes),
		// At two, Pebble's default, every flush stops the writers.
		MemTableStopWritesThreshold: 4,
		// A registration in bulk flushes several times a second. Merging every second sublevel, as is the
		// default, would rewrite each row several times while it goes on. A read asks the filters of a
		// few more tables for it, and a scan merges as many more.
		L0CompactionThreshold: 20,
		L0StopWritesThreshold: 60,
		LBaseMaxBytes:         256 << 20,
		// The second one starts only when debt piles up; the cores belong to the tick first.
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
		// History is dropped by ranges; its space must not wait for the next flush.
		FlushDelayDeleteRange: 10 * time.Second,
		Logger:                quiet{s.fault},
		EventListener:         s.fault.listener(&s.stalls),
	}
	if o.fs == vfs.Default {
		p.WithFSDefaults() // adds the watch over how long the disk takes
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	tuneLevels(p)
	return p
}

func tuneLevels(p *pebble.Options) {
	for i := range p.Levels {
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBitsPerKey)
	}
}

const (
	// Reads of single rows outnumber scans by far. A block that is not cached is read and decompressed
	// as a whole, and without cgo it is garbage afterwards; scans lose little by small ones.
	blockBytes = 4 << 10

	filterBitsPerKey = 10 // one look-up in a hundred goes to a table in vain
)
