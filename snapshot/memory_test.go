package snapshot

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestStoresShareMemory: several stores keep their rows apart in one memory, which bounds what they take together; a store
// that is closed leaves the others theirs.
func TestStoresShareMemory(t *testing.T) {
	const stores, sizeBytes = 4, 8 << 20
	m := NewMemory(sizeBytes, 0)
	defer m.Close()
	dir, all := t.TempDir(), make([]*Store, stores)
	for i := range all {
		all[i] = mustOpen(t, Options{Dir: filepath.Join(dir, fmt.Sprint(i)), Memory: m, MemTableBytes: MemTableBytesMin})
		for n := range job.ID(3) {
			mustApply(t, all[i], uint64(n)+1, timerBatch(job.ID(i)*10+n))
		}
		if _, err := all[i].Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range all {
		for other := range all {
			_, found, err := s.Get(timerKey(job.ID(other) * 10))
			if err != nil || found != (other == i) {
				t.Errorf("store %d has the row of store %d: %t, %v", i, other, found, err)
			}
		}
	}
	if one, other := all[0].Metrics().CacheBytes, all[1].Metrics().CacheBytes; one != other || one > sizeBytes {
		t.Errorf("one store counts %d bytes of blocks, and the other %d", one, other)
	}
	mustClose(t, all[0])
	if _, found, err := all[1].Get(timerKey(11)); err != nil || !found {
		t.Errorf("after another store was closed: %t, %v", found, err)
	}
	for _, s := range all[1:] {
		mustClose(t, s)
	}
}

// TestMemtablesLeaveRoomForBlocks: stores whose memtables together are larger than the room for blocks have that room all the
// same, and not more when they are closed.
func TestMemtablesLeaveRoomForBlocks(t *testing.T) {
	const stores, blockBytes = 4, 1 << 20
	m := NewMemory(blockBytes, 0)
	defer m.Close()
	dir, all := t.TempDir(), make([]*Store, stores)
	for i := range all {
		all[i] = mustOpen(t, Options{Dir: filepath.Join(dir, fmt.Sprint(i)), Memory: m, MemTableBytes: 4 << 20})
		for n := range job.ID(2000) {
			mustApply(t, all[i], uint64(n)+1, timerBatch(n))
		}
		if _, err := all[i].Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range all {
		if _, found, err := s.Get(timerKey(1)); err != nil || !found {
			t.Fatalf("a row is found: %t, %v", found, err)
		}
	}
	if got := all[0].Metrics().CacheBytes; got == 0 || got > blockBytes {
		t.Errorf("%d bytes of blocks are cached, want some and at most %d", got, blockBytes)
	}
	for _, s := range all {
		mustClose(t, s)
	}
	if m.free != tablesMost {
		t.Errorf("without stores %d bytes are free for memtables, want %d", m.free, tablesMost)
	}
}
