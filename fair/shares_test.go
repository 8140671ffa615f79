package fair

import (
	"math/rand/v2"
	"testing"
)

// TestSharesLeaveRoom lets one party after another take all that it may: each leaves some to the next.
func TestSharesLeaveRoom(t *testing.T) {
	s := NewShares[int](64)
	var got []int
	for party := range 5 {
		for s.Take(party) {
		}
		got = append(got, s.Held(party))
	}
	want := []int{48, 12, 3, 1, 0}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("the parties got %v, want %v", got, want)
		}
	}
	one := NewShares[string](1)
	if !one.Take("a") || one.Take("b") || one.Taken() != 1 {
		t.Error("of one place, the first party gets it")
	}
}

// TestSharesAgainstCounts takes and frees at random: the sums agree, a party with nothing is refused only when all places
// are taken, and at the end nothing is left.
func TestSharesAgainstCounts(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	s, held := NewShares[int](16), map[int]int{}
	for range 10_000 {
		p := rng.IntN(6)
		if rng.IntN(2) == 0 && held[p] > 0 {
			s.Free(p)
			held[p]--
		} else if s.Take(p) {
			held[p]++
		} else if held[p] == 0 && s.Taken() < 16 {
			t.Fatalf("seed %d: a party with nothing was refused at %d places", seed, s.Taken())
		}
		sum := 0
		for p, n := range held {
			if sum += n; s.Held(p) != n {
				t.Fatalf("seed %d: party %d holds %d, want %d", seed, p, s.Held(p), n)
			}
		}
		if sum != s.Taken() || sum > 16 {
			t.Fatalf("seed %d: %d taken, want %d", seed, s.Taken(), sum)
		}
	}
	for p, n := range held {
		for range n {
			s.Free(p)
		}
	}
	if s.Taken() != 0 || len(s.by) != 0 {
		t.Errorf("seed %d: %+v at the end", seed, s)
	}
}
