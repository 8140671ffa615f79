package core

import "testing"

// TestShardsShareThePace: the shards of a cluster together catch up as fast as one would, by a rate that is configured, at
// the least one and at the most.
func TestShardsShareThePace(t *testing.T) {
	for _, shards := range []int{0, 1, 4, 256} {
		share := float64(max(1, shards))
		for what, want := range map[string]struct{ usual, rate float64 }{
			"idle": {0, catchupRateMin}, "usual": {1000, catchupRateMin + 1000}, "busy": {1e6, catchupRateMax},
		} {
			p := newPace(0, shards, 0)
			p.restore(want.usual / share)
			if got := p.rate() * share; got < want.rate*0.999 || got > want.rate*1.001 {
				t.Errorf("%d shards, %s: %v runs a second in all, want %v", shards, what, got, want.rate)
			}
		}
		if p := newPace(400, shards, 0); p.rate()*share != 400 || !p.may(0) {
			t.Errorf("%d shards with 400 a second: each has %v", shards, p.rate())
		}
	}
}

// TestShardsOfDifferentUse: shards whose usual rates differ catch up faster than one would, by less than the least rate. With a
// rate that is configured they do not.
func TestShardsOfDifferentUse(t *testing.T) {
	for _, usual := range [][]float64{{500, 0, 0, 0}, {400, 100, 0, 0}, {1000, 1000, 0, 0}, {5000, 1, 1, 1}} {
		sum, shared, fixed := 0.0, 0.0, 0.0
		for _, u := range usual {
			one, rate := newPace(0, len(usual), 0), newPace(1000, len(usual), 0)
			one.restore(u)
			rate.restore(u)
			sum, shared, fixed = sum+u, shared+one.rate(), fixed+rate.rate()
		}
		alone := newPace(0, 1, 0)
		alone.restore(sum)
		if shared >= alone.rate()+catchupRateMin || fixed != 1000 {
			t.Errorf("%v: %v runs a second in all, where one would fire %v; by a rate of 1000 it is %v", usual, shared, alone.rate(), fixed)
		}
	}
}
