package snapshot

import (
	"runtime"

	"github.com/cockroachdb/pebble/v2"
)

// openFilesMax is how many files the stores of one [Memory] keep open for reading; it is Pebble's default for one store.
const openFilesMax = 1000

// Memory is what the stores of one process share: the memory for cached blocks and memtables, and the tables that are open
// for reading. Many stores with a memory each would take that much for each. Safe for concurrent use.
type Memory struct {
	blocks *pebble.Cache
	tables *pebble.FileCache
}

// NewMemory returns a memory of a size in bytes, for [Options.Memory]; see [Options.CacheBytes]. The caller closes it when
// the stores are closed.
func NewMemory(sizeBytes int64) *Memory {
	return &Memory{
		blocks: pebble.NewCache(sizeBytes),
		tables: pebble.NewFileCache(runtime.GOMAXPROCS(0), pebble.FileCacheSize(openFilesMax)),
	}
}

// Close gives the memory back, once no store uses it. It is called once.
func (m *Memory) Close() {
	m.tables.Unref()
	m.blocks.Unref()
}

// lend gives a store its part. A nil memory lends nothing: the store makes its own.
func (m *Memory) lend(p *pebble.Options) {
	if m != nil {
		p.Cache, p.FileCache = m.blocks, m.tables
	}
}
