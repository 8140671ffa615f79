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
