package snapshot

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleFormat is the version of Pebble's files in a store of formatVersion. It is a constant of ours,
// so that a newer Pebble does not raise it: an older binary could not open the store again, and a
// cluster could not be upgraded one node at a time.
const pebbleFormat = pebble.FormatValueSeparation // 24, the newest of v2.1

// pebbleOptions sets what matters for our load: many small rows, written in the order of time, rewritten
// once or twice, read by key, and scanned as a whole at the start.
func (s *Store) pebbleOptions(o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                 exportingFS{guardedFS: guardedFS{o.fs, s.fault}, dir: s.dir, outside: exportFS{o.fs, s.exports}},
		Lock:               s.lock,
		DisableWAL:         true,
		FormatMajorVersion: pebbleFormat,
		CacheSize:          o.CacheBytes,
		MaxOpenFiles:       o.TablesMax,
		MemTableSize:       uint64(o.MemTableBytes),
		// With Pebble's default of two, every flush stops the writers. Four is the number
		// under load that Options.MemTableBytes states.
		MemTableStopWritesThreshold: 4,
		// A bulk registration flushes several times a second. With the default, which merges at every
		// second sublevel, each row would be rewritten several times meanwhile. The price is that a read
		// asks the filters of a few more tables, and a scan merges as many more.
		L0CompactionThreshold: 20,
		L0StopWritesThreshold: 60,
		LBaseMaxBytes:         256 << 20,
		// The second compaction starts only when the debt grows; the tick needs the cores first.
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
		// History is deleted by ranges; freeing its space must not wait for the next flush.
		FlushDelayDeleteRange: 10 * time.Second,
		Logger:                quiet{s.fault},
		EventListener:         s.fault.listener(&s.stalls),
	}
	if o.fs == vfs.Default {
		p.FS = timedFS{p.FS, slowAfter, s.fault.slow}
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	s.giveBack = o.Memory.lend(p)
	tuneLevels(p)
	p.Experimental.CompactionScheduler = new(compactions)
	return p
}

// tuneLevels sets block size, filters and compression for each level.
func tuneLevels(p *pebble.Options) {
	for i := range p.Levels {
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBitsPerKey)
	}
}

const (
	// Reads of single rows are far more frequent than scans. A block that is not cached is read and
	// decompressed as a whole, and without cgo it is garbage afterwards; small blocks cost scans little.
	blockBytes = 4 << 10

	filterBitsPerKey = 10 // one look-up in a hundred reads a table that does not have the key
)
