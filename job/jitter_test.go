package job

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

// TestJitterIsOfTheJob stays below jitter and gap, and never changes.
func TestJitterIsOfTheJob(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 10_000 {
		id := ID(rng.Uint64())
		jitter, gap, tick := instant.Millis(rng.Int64N(86_400_000)), instant.Millis(rng.Int64N(86_400_000)), instant.Millis(1+rng.Int64N(1<<41))
		bound := jitter
		next := tick + gap
		if gap == 0 {
			next = 0
		} else {
			bound = min(jitter, gap)
		}
		got := JitterOf(id, jitter, tick, next)
		if got < 0 || got >= max(bound, 1) {
			t.Fatalf("JitterOf(%d, %d, %d, %d) = %d, want less than %d", id, jitter, tick, next, got, bound)
		}
		if again := JitterOf(id, jitter, tick+5, 0); bound == jitter && again != got {
			t.Fatalf("job %d is put off by %d and by %d", id, got, again)
		}
	}
}

// TestJitterSpreads puts ids, in a row and at random, into a hundred slots of the jitter.
func TestJitterSpreads(t *testing.T) {
	const jobs, slots = 100_000, 100
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for name, id := range map[string]func(n int) ID{
		"row":    func(n int) ID { return ID(1 + n) },
		"shift":  func(n int) ID { return ID(n) << 32 },
		"random": func(int) ID { return ID(rng.Uint64()) },
	} {
		var counts [slots]int
		for n := range jobs {
			counts[JitterOf(id(n), 60_000, 1000, 0)*slots/60_000]++
		}
		for slot, count := range counts {
			if count < jobs/slots*8/10 || count > jobs/slots*12/10 {
				t.Errorf("%s: slot %d has %d jobs of %d", name, slot, count, jobs)
			}
		}
	}
}
