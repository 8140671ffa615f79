package core

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestJobIndexTwin compares with a map, over ids of a counter, with slots and without, far ones and removed ones; pages
// go with the last of their jobs.
func TestJobIndexTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 6))
	empty, numbers := newTable(), numbering{slotsFrom: job.NewID(3<<jobPageBits, 0)}
	x, twin := newJobIndex(&empty, &numbers), map[job.ID]seat{}
	for range 100_000 {
		var id job.ID
		switch rng.IntN(20) {
		case 0:
			id = job.ID(1 + rng.Uint64()>>rng.IntN(60))
		case 1, 2, 3, 4, 5, 6, 7, 8, 9: // dense, and with the ordinals of others that have slots
			id = numbers.slotsFrom - 1 - job.ID(rng.IntN(5<<jobPageBits))
		default:
			id = job.NewID(numbers.slotsFrom.Counter()+rng.Uint64N(5<<jobPageBits), 0)
		}
		if numbers.hasSlot(id) { // only one id has a counter
			id = job.NewID(id.Counter(), job.Slot(id.Counter()*7))
		}
		if got := x.find(id); got != twin[id] {
			t.Fatalf("seed %d: job %s is in seat %d, want %d", seed, id, got, twin[id])
		}
		switch {
		case twin[id] == 0:
			twin[id] = seat(1 + rng.Uint32N(1<<31))
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

// TestJobIndexOfTable: an index that is made of a table has its jobs, and not its free seats.
func TestJobIndexOfTable(t *testing.T) {
	rows := newTable()
	for id := range job.ID(10_000) {
		rows.alloc(1000 + id)
	}
	rows.release(5)
	x := newJobIndex(&rows, &numbering{next: 11_000})
	for s := seat(1); s < rows.next; s++ {
		want := s
		if s == 5 {
			want = 0
		}
		if got := x.find(job.ID(999 + s)); got != want {
			t.Fatalf("seat %d of job %d, want %d", got, 999+s, want)
		}
	}
}

// TestJobIndexIsSmall: jobs whose ids carry slots take no more pages than jobs with dense ids.
func TestJobIndexIsSmall(t *testing.T) {
	const jobs = 20 << jobPageBits
	pages := make(map[bool]int)
	for _, slots := range []bool{false, true} {
		rows, numbers := newTable(), numbering{next: 1<<40 | 77}
		if slots {
			numbers.beginSlots()
		}
		for n := range jobs {
			rows.alloc(numbers.take(job.Slot(n * 13)))
		}
		pages[slots] = len(newJobIndex(&rows, &numbers).pages)
	}
	if pages[true] > pages[false] || pages[false] > jobs>>jobPageBits+1 {
		t.Errorf("%d jobs take %d pages if their ids carry slots, and %d if not", jobs, pages[true], pages[false])
	}
}
