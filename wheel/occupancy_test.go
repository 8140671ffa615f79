package wheel

import (
	"math/rand/v2"
	"testing"
)

func TestOccupancyFindsTheOnlyMark(t *testing.T) {
	for mark := range uint(occupancyBits) {
		var o occupancy
		o.set(mark)
		for from := range uint(occupancyBits) {
			if got := o.next(from); got != mark {
				t.Fatalf("next(%d) = %d, want %d", from, got, mark)
			}
		}
		if o.clear(mark); !o.empty() {
			t.Fatalf("not empty after clearing %d", mark)
		}
	}
}

func TestOccupancyAgainstBools(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var o occupancy
	var twin [occupancyBits]bool
	for range 20_000 {
		position := random.UintN(occupancyBits)
		if twin[position] = random.IntN(8) == 0; twin[position] {
			o.set(position)
		} else {
			o.clear(position)
		}
		if o.empty() {
			continue
		}
		from := random.UintN(occupancyBits)
		want := from
		for !twin[want] {
			want = (want + 1) % occupancyBits
		}
		if got := o.next(from); got != want || !o.has(want) {
			t.Fatalf("next(%d) = %d, want %d", from, got, want)
		}
	}
}
