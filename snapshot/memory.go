package snapshot

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// TablesDefault is how many tables a store, or the stores of one [Memory] together, keep open for reading if nothing else is
// said; it is Pebble's default for one store.
const TablesDefault = 1000

// tablesMost bounds the memtables for which a [Memory] has room beside the blocks. Beyond it they take the place of blocks.
const tablesMost = 1 << 30

// Memory is what the stores of one process share: the memory for cached blocks, and the tables that are open for reading. Many
// stores with a memory each would take that much for each. The memtables come on top: two of each store, one in use and one
// that is flushed. Safe for concurrent use.
//
// Pebble takes memtables from the cache of blocks, whose size cannot change. So the cache is larger than the blocks may be, by
// all memtables that stores could have, and what no store has borrowed is reserved.
type Memory struct {
	blocks *pebble.Cache
	tables *pebble.FileCache

	mu      sync.Mutex
	free    int64  // of tablesMost
	release func() // ends the reservation of what is free
}

// NewMemory returns a memory with room for cached blocks of a size in bytes and for so many open tables, for
// [Options.Memory]. 0 tables mean [TablesDefault], and fewer than 64 count as 64; those that are read at the moment may be more. The caller closes the
// memory when the stores are closed.
func NewMemory(blockBytes int64, tables int) *Memory {
	m := &Memory{
		blocks: pebble.NewCache(blockBytes + tablesMost),
		tables: pebble.NewFileCache(runtime.GOMAXPROCS(0), pebble.FileCacheSize(cmp.Or(tables, TablesDefault))),
		free:   tablesMost, release: func() {},
	}
	m.borrow(0)
	return m
}

// Close gives the memory back, once no store uses it. It is called once.
func (m *Memory) Close() {
	m.tables.Unref()
	m.blocks.Unref()
}

// lend gives a store its part, until giveBack. A nil memory lends nothing: the store makes its own.
func (m *Memory) lend(p *pebble.Options) (giveBack func()) {
	if m == nil {
		return func() {}
	}
	p.Cache, p.FileCache = m.blocks, m.tables
	tables := 2 * int64(p.MemTableSize)
	m.borrow(tables)
	return func() { m.borrow(-tables) }
}

// borrow takes so many bytes for memtables; a negative number gives them back.
func (m *Memory) borrow(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free -= bytes
	m.release() // first: the blocks would have to go otherwise
	m.release = m.blocks.Reserve(int(max(m.free, 0)))
}
