package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestNameIndexTwin compares the index with a Go map over random adds, removes and finds, at sizes
// where shards grow and probes run into one another.
func TestNameIndexTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	hasher, twin := testHasher{}, map[string]seat{}
	var index nameIndex
	for i := range 200_000 {
		name := fmt.Sprintf("job/%d", rng.IntN(30_000))
		h := hasher.hash("default", name)
		want := twin[name]
		if got := index.find(h); got != want {
			t.Fatalf("step %d (seed %d): %s is at %d, want %d", i, seed, name, got, want)
		}
		switch {
		case want == 0:
			s := seat(i + 1)
			index.add(h, s)
			twin[name] = s
		case rng.IntN(2) == 0:
			index.remove(h)
			delete(twin, name)
		}
	}
	used := 0
	for i := range index.shards {
		used += index.shards[i].used
	}
	if used != len(twin) {
		t.Errorf("%d entries, want %d", used, len(twin))
	}
}

// TestNameIndexStaged: names that were staged are found like names that were added, whether the room was right, too small
// or none at all.
func TestNameIndexStaged(t *testing.T) {
	const names = 30_000
	for _, room := range []int{0, 100, names, 10 * names} {
		var index nameIndex
		for part := range placeParts {
			index.reserve(part, room)
		}
		hasher := testHasher{}
		for i := range names {
			index.stage(hasher.hash("default", fmt.Sprintf("job/%d", i)), seat(i+1))
		}
		for part := range placeParts {
			index.placeStaged(part)
		}
		for i := range names {
			if got := index.find(hasher.hash("default", fmt.Sprintf("job/%d", i))); got != seat(i+1) {
				t.Fatalf("with room for %d, job %d is at %d, want %d", room, i, got, i+1)
			}
		}
		if got := index.find(hasher.hash("default", "other")); got != 0 {
			t.Errorf("with room for %d, a name that was never staged is at %d", room, got)
		}
	}
}

// TestHotRowIsSmall holds the size that the memory figures rest on.
func TestHotRowIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(hotRow{}); n != 48 {
		t.Errorf("a hot row has %d bytes, want 48", n)
	}
	if n := unsafe.Sizeof(nameEntry{}); n != 16 {
		t.Errorf("a name has %d bytes, want 16", n)
	}
}

func TestTableReusesSeats(t *testing.T) {
	table := newTable()
	a, _ := table.alloc(1)
	b, row := table.alloc(2)
	table.release(a)
	c, _ := table.alloc(3)
	if c != a || row != table.row(b) || table.count != 2 {
		t.Errorf("seats %d %d %d, %d rows", a, b, c, table.count)
	}
	for id := job.ID(4); id < 3*pageRows; id++ {
		if s, r := table.alloc(id); r.id != id || table.row(s) != r {
			t.Fatalf("seat %d holds %d, want %d", s, r.id, id)
		}
	}
	if row.id != 2 {
		t.Error("growth moved a row")
	}
}
