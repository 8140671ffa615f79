package pad

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

func launchOf(tenant Tenant, due instant.Millis, order uint64) *waiting {
	return &waiting{Launch: Launch{Due: due, Tenant: tenant, order: order}, index: -1}
}

// TestNearTakesTurns: a launch that becomes due beside a herd waits for one turn of it.
func TestNearTakesTurns(t *testing.T) {
	n := newSoonLaunches()
	for i := range uint64(1000) {
		n.push(launchOf(1, 100, i))
	}
	n.push(launchOf(2, 105, 1000))
	if n.nextDue() != 100 {
		t.Fatalf("the first is due at %d", n.nextDue())
	}
	for range 40 {
		n.popDue(100)
	}
	for i := 0; ; i++ {
		if w := n.popDue(105); w.Tenant == 2 {
			break
		}
		if i == launchQuantum {
			t.Fatal("a whole turn of the herd left, and the other still waits")
		}
	}
}

// TestNearTwin compares with a plain list, over random calls and a clock that is set back at times:
// nothing leaves early, nothing is lost, and those of one tenant leave in order.
func TestNearTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 4))
	n, twin, now := newSoonLaunches(), map[*waiting]bool{}, instant.Millis(1000)
	for step := range uint64(30_000) {
		switch k := rng.IntN(100); {
		case k < 45:
			w := launchOf(Tenant(rng.IntN(8)), now+instant.Millis(rng.IntN(40)-10), step)
			n.push(w)
			twin[w] = true
		case k < 55:
			for w := range twin {
				n.remove(w)
				delete(twin, w)
				break
			}
		case k < 60:
			now += instant.Millis(rng.IntN(30) - 5)
		default:
			popSoon(t, seed, &n, twin, now)
		}
		checkSoon(t, seed, &n, twin, now)
		if t.Failed() {
			return
		}
	}
}

func popSoon(t *testing.T, seed uint64, n *soonLaunches, twin map[*waiting]bool, now instant.Millis) {
	w := n.popDue(now)
	for other := range twin {
		switch {
		case w == nil && other.Due <= now:
			t.Errorf("seed %d: nothing left, though one was due", seed)
		case w != nil && other != w && other.Tenant == w.Tenant && other.Before(w):
			t.Errorf("seed %d: launch %d left before %d of its tenant", seed, w.order, other.order)
		}
	}
	if w != nil {
		if w.Due > now || !twin[w] {
			t.Errorf("seed %d: left at %d, due %d, known %t", seed, now, w.Due, twin[w])
		}
		delete(twin, w)
	}
}

// checkSoon checks that a sleep until nextDue misses no launch.
func checkSoon(t *testing.T, seed uint64, n *soonLaunches, twin map[*waiting]bool, now instant.Millis) {
	first := instant.Millis(0)
	held := 0
	for w := range twin {
		if first == 0 || w.Due < first {
			first = w.Due
		}
	}
	for _, one := range n.byTenant {
		held += len(one.launches)
	}
	if next := n.nextDue(); held != len(twin) || next > first && first != 0 || next == 0 && first != 0 {
		t.Errorf("seed %d: %d launches, next %d; want %d, %d", seed, held, next, len(twin), first)
	}
	if !n.isDue(now) && first != 0 && first <= now {
		t.Errorf("seed %d: one is due, and isDue says no", seed)
	}
}

// TestPadsAdvanceTogether: a look of the feeders is not before the instant that asks for it, less than an interval after it, and
// one of those that all pads have in common.
func TestPadsAdvanceTogether(t *testing.T) {
	for now := instant.Millis(1_700_000_000_000); now < 1_700_000_000_600; now++ {
		for _, ahead := range []instant.Millis{-5000, -1, 0, 1, 77, 250, 251, 4000} {
			wait := untilAdvance(now, now+ahead)
			look, first := now.Add(wait), max(now+ahead, now+1)
			if look < first || look >= first+advanceEvery || look%advanceEvery != advanceEvery/2 {
				t.Fatalf("at %d the next look for %d is at %d", now, now+ahead, look)
			}
		}
	}
}
