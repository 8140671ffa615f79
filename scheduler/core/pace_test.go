package core

import (
	"math"
	"testing"

	"github.com/carillon-io/carillon/instant"
)

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

// TestShardsOfDifferentUse: shards whose usual rates differ together catch up exactly as fast as one would, each by its own rate,
// and an idle one is not left out.
func TestShardsOfDifferentUse(t *testing.T) {
	for _, usual := range [][]float64{{500, 0, 0, 0}, {400, 100, 0, 0}, {1000, 1000, 0, 0}, {5000, 1, 1, 1}, {0, 0}, {90_000, 0}, {700}} {
		whole := 0.0
		for _, u := range usual {
			whole += u
		}
		alone := newPace(0, 1, 0)
		alone.restore(whole)
		sum := 0.0
		for _, u := range usual {
			p := newPace(0, len(usual), 0)
			p.restore(u)
			p.others = Usual{Rate: whole - u, Shards: len(usual) - 1}
			sum += p.rate()
			if p.rate() < 20 {
				t.Errorf("%v: the shard with %v has %v runs a second of %v", usual, u, p.rate(), alone.rate())
			}
		}
		if math.Abs(sum-alone.rate()) > 1e-6 {
			t.Errorf("%v: %v runs a second in all, where one shard would fire %v", usual, sum, alone.rate())
		}
	}
}

// TestUsualOfSomeIsUnknown: a shard whose usual rate is not known counts as if it had that of the one that asks, and a rate that is
// configured does not depend on what is usual.
func TestUsualOfSomeIsUnknown(t *testing.T) {
	p := newPace(0, 4, 0)
	p.restore(300)
	p.others = Usual{Rate: 900, Shards: 3}
	known := p.rate()
	for shards := range 3 {
		p.others = Usual{Rate: 300 * float64(shards), Shards: shards}
		if got := p.rate(); math.Abs(got-known) > 1e-6 {
			t.Errorf("with %d of 3 rates known: %v runs a second, want %v", shards, got, known)
		}
	}
	fixed := newPace(1000, 4, 0)
	fixed.others = Usual{Rate: 1e6, Shards: 3}
	if fixed.rate() != 250 {
		t.Errorf("a fourth of 1,000 runs a second is %v", fixed.rate())
	}
}

// TestStepTakesUsual: the rate follows what the step is told of the other shards.
func TestStepTakesUsual(t *testing.T) {
	c := New(Settings{Shards: 2}, instant.Millis(1_790_000_000_000))
	for _, others := range []Usual{{}, {Rate: 1500, Shards: 1}} {
		c.Step(Input{Now: c.now + 1000, LSN: c.lsn + 1, Room: 10, Usual: others})
		want := 500.0
		if others.Shards > 0 {
			want = 3000.0 * 250 / 2000
		}
		if got := c.Reading().CatchUp.Rate; math.Abs(got-want) > 1e-6 {
			t.Errorf("beside %+v: %v runs a second, want %v", others, got, want)
		}
	}
}
