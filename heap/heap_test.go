package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

type entry struct{ key, index int }

func (e *entry) Before(o *entry) bool { return e.key < o.key }
func (e *entry) SetIndex(i int)       { e.index = i }

// TestAgainstSortedSlice does what a heap can do, at random, beside a slice that is sorted each time.
func TestAgainstSortedSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var h Heap[*entry]
	var twin []int
	for range 20_000 {
		switch at := rng.IntN(len(h) + 1); {
		case rng.IntN(3) == 0 || len(h) == 0:
			e := &entry{key: rng.IntN(100)}
			h.Push(e)
			twin = append(twin, e.key)
		case at == len(h):
			slices.Sort(twin)
			if e := h.Pop(); e.key != twin[0] || e.index != -1 {
				t.Fatalf("popped %+v, want %d", e, twin[0])
			}
			twin = twin[1:]
		case rng.IntN(2) == 0:
			e := h.Remove(at)
			if e.index != -1 {
				t.Fatalf("the index of what is removed is %d", e.index)
			}
			i := slices.Index(twin, e.key)
			twin = slices.Delete(twin, i, i+1)
		default:
			i := slices.Index(twin, h[at].key)
			twin[i] = rng.IntN(100)
			h[at].key = twin[i]
			h.Fix(at)
		}
		check(t, h)
	}
	for slices.Sort(twin); len(h) > 0; twin = twin[1:] {
		if e := h.Pop(); e.key != twin[0] {
			t.Fatalf("popped %d, want %d", e.key, twin[0])
		}
	}
}

// check checks the order and the indexes of a heap.
func check(t *testing.T, h Heap[*entry]) {
	t.Helper()
	for i, e := range h {
		if e.index != i {
			t.Fatalf("the item at %d believes to be at %d", i, e.index)
		}
		if i > 0 && e.Before(h[(i-1)/2]) {
			t.Fatalf("the item at %d is before its parent", i)
		}
	}
}
