package core

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestJobIndexTwin compares with a map, over ids of a counter, far ones and removed ones; pages go with
// the last of their jobs.
func TestJobIndexTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 6))
	empty := newTable()
	x, twin := newJobIndex(&empty), map[job.ID]slot{}
	for range 100_000 {
		id := job.ID(1<<40 + rng.IntN(5<<jobPageBits))
		if rng.IntN(10) == 0 {
			id = job.ID(1 + rng.Uint64()>>rng.IntN(60))
		}
		if got := x.find(id); got != twin[id] {
			t.Fatalf("seed %d: job %s is in slot %d, want %d", seed, id, got, twin[id])
		}
		switch {
		case twin[id] == 0:
			twin[id] = slot(1 + rng.Uint32N(1<<31))
			x.add(id, twin[id])
		default:
			x.remove(id)
			delete(twin, id)
		}
	}
	for id := range twin {
		if x.find(id) != twin[id] {
			t.Fatalf("seed %d: job %s is lost", seed, id)
		}
		x.remove(id)
	}
	if len(x.pages) != 0 {
		t.Errorf("seed %d: %d pages are kept for no job", seed, len(x.pages))
	}
}

// TestJobIndexOfTable: an index that is made of a table has its jobs, and not its free slots.
func TestJobIndexOfTable(t *testing.T) {
	rows := newTable()
	for id := range job.ID(10_000) {
		rows.alloc(1000 + id)
	}
	rows.release(5)
	x := newJobIndex(&rows)
	for s := slot(1); s < rows.next; s++ {
		want := s
		if s == 5 {
			want = 0
		}
		if got := x.find(job.ID(999 + s)); got != want {
			t.Fatalf("slot %d of job %d, want %d", got, 999+s, want)
		}
	}
}
