package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestLoadIDs: with dense ids, with slots and with both, a start and a standby find each job by its id, also between
// deleted ones, and take no other id for it: neither that of a deleted job, nor one with the same counter and another
// slot.
func TestLoadIDs(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 12))
	for _, ids := range benchIDs {
		for _, deleted := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s/deleted=%d", ids.name, deleted), func(t *testing.T) {
				const jobs = 3000
				s := newBenchStore(jobs, ids.dense(jobs))
				gone := make(map[job.ID]bool)
				s.ids = slices.DeleteFunc(s.ids, func(id job.ID) bool {
					gone[id] = deleted > 0 && rng.IntN(deleted) == 0
					return gone[id]
				})
				checkFound(t, s, gone)
			})
		}
	}
}

// checkFound loads a core from a store, and looks for jobs as a start and as a standby do.
func checkFound(t *testing.T, s *benchStore, gone map[job.ID]bool) {
	t.Helper()
	c := New(Settings{}, s.start)
	if err := c.Load(s, testHasher{}); err != nil {
		t.Fatal(err)
	}
	for n := range s.ids {
		want := s.ids[n*7919%len(s.ids)]
		if got := c.IDOf(testHasher{}.hash("default", fmt.Sprintf("job/%08d", n))); got != want {
			t.Fatalf("name %d is that of job %s, want %s", n, got, want)
		}
	}
	for range 2 { // as a start, and then as a standby
		for _, id := range s.ids {
			if found := c.seatOf(id); found == 0 || c.rows.row(found).id != id {
				t.Fatalf("job %s has seat %d", id, found)
			}
			if other := id ^ 0x40; s.numbers.hasSlot(id) && c.seatOf(other) != 0 {
				t.Fatalf("job %s is taken for job %s, which has the same counter", other, id)
			}
		}
		for id, isGone := range gone {
			if isGone && c.seatOf(id) != 0 {
				t.Fatalf("job %s is deleted, and found", id)
			}
		}
		c.ids = newJobIndex(&c.rows, &c.numbers)
	}
}
