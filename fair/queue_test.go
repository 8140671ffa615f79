package fair

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// drain empties a queue.
func drain(q *Queue[string, int]) (got []int) {
	for {
		item, ok := q.Pop()
		if !ok {
			return got
		}
		got = append(got, item)
	}
}

func TestTurns(t *testing.T) {
	q := NewQueue[string, int](2)
	for i := range 6 {
		q.Push("herd", i)
	}
	q.Push("one", 10)
	q.Push("three", 20)
	q.Push("three", 21)
	q.Push("three", 22)
	if got := drain(&q); !slices.Equal(got, []int{0, 1, 10, 20, 21, 2, 3, 22, 4, 5}) {
		t.Errorf("got %v", got)
	}
}

// TestNewcomerWaitsOneTurn: whoever comes while a herd goes through waits for its turn, no more.
func TestNewcomerWaitsOneTurn(t *testing.T) {
	q := NewQueue[string, int](4)
	for i := range 1000 {
		q.Push("herd", i)
	}
	for range 50 {
		q.Pop()
	}
	q.Push("new", -1)
	for i := 0; ; i++ {
		if item, _ := q.Pop(); item == -1 {
			break
		}
		if i == 4 {
			t.Fatal("four items of the herd left, and the newcomer still waits")
		}
	}
}

// TestPass: a party that passes has its next turn after all others, and one whose turn it is not loses nothing.
func TestPass(t *testing.T) {
	q := NewQueue[string, int](4)
	for i := range 3 {
		q.Push("a", i)
		q.Push("b", 10+i)
	}
	item, _ := q.Pop()
	q.Push("a", item)
	q.Pass("a")
	q.Pass("a") // it is the turn of b
	var got []int
	for q.Parties() > 0 {
		item, _ := q.Pop()
		got = append(got, item)
	}
	if want := []int{10, 11, 12, 1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("%v left, want %v", got, want)
	}
	q.Pass("a")
}

func TestFilterKeepsTheOrder(t *testing.T) {
	q := NewQueue[string, int](1)
	for i := range 6 {
		q.Push([]string{"a", "b", "c"}[i%3], i)
	}
	q.Filter(func(i int) bool { return i%3 != 1 })
	if got := drain(&q); !slices.Equal(got, []int{0, 2, 3, 5}) || q.Len() != 0 {
		t.Errorf("got %v, %d left", got, q.Len())
	}
}

// TestQueueTwin compares a queue with one slice for each party, over random calls.
func TestQueueTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	q, twin, count := NewQueue[int, [2]int](3), map[int][]int{}, 0
	for step := range 100_000 {
		switch n := rng.IntN(100); {
		case n < 50:
			party := rng.IntN(rng.IntN(200) + 1)
			q.Push(party, [2]int{party, step})
			twin[party] = append(twin[party], step)
			count++
		case n < 99:
			got, ok := q.Pop()
			if ok != (count > 0) {
				t.Fatalf("step %d (seed %d): popped %t of %d", step, seed, ok, count)
			}
			if ok {
				if line := twin[got[0]]; line[0] != got[1] {
					t.Fatalf("step %d (seed %d): popped %v, want %d", step, seed, got, line[0])
				}
				twin[got[0]] = twin[got[0]][1:]
				count--
			}
		default:
			q.Filter(func(i [2]int) bool { return i[1]%2 == 0 })
			count = 0
			for party := range twin {
				twin[party] = slices.DeleteFunc(twin[party], func(i int) bool { return i%2 != 0 })
				count += len(twin[party])
			}
		}
		if q.Len() != count {
			t.Fatalf("step %d (seed %d): %d items, want %d", step, seed, q.Len(), count)
		}
	}
}

func TestEvenLoadAllocatesNothing(t *testing.T) {
	q := NewQueue[string, int](16)
	parties := []string{"a", "b", "c", "d", "e"}
	turn := func() {
		for i := range 20 {
			q.Push(parties[i%5], i)
		}
		for q.Len() > 0 {
			q.Pop()
		}
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
