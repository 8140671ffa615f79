package datadir

import "github.com/carillon-io/carillon/snapshot"

// The memtables of all shards of a process together are to have memTablesBytes, and each at least memTableBytesMin: smaller
// ones would be flushed so often that the files of a busy shard would not be merged as fast.
const (
	memTablesBytes   = 32 << 20
	memTableBytesMin = 2 << 20
)

// TablesDefault is how many files of the stores stay open for reading if nothing else is said.
const TablesDefault = snapshot.TablesDefault

// memTableBytes returns the size of a memtable of each of so many shards. One shard has the default of the store.
func memTableBytes(shards int) int64 {
	return min(max(memTablesBytes/int64(max(1, shards)), memTableBytesMin), snapshot.MemTableBytesDefault)
}

// newMemory returns a memory for the stores of several shards, with so many open tables together. Blocks have what one store
// alone leaves to them.
func newMemory(tables int) *snapshot.Memory {
	return snapshot.NewMemory(snapshot.CacheBytesDefault-2*snapshot.MemTableBytesDefault, tables)
}

// openMemory makes the memory that the stores of a node in a cluster share: it may have several shards.
func (d *Directory) openMemory(o Options) {
	if o.clustered() && !o.Witness {
		d.memory = newMemory(o.TablesMax)
	}
}

// closeMemory gives the memory back. All shards are closed.
func (d *Directory) closeMemory() {
	if d.memory != nil {
		d.memory.Close()
		d.memory = nil
	}
}
