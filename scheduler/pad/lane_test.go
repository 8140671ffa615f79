package pad

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestLanesTwin lets runs of a few jobs come, wait for places, be withdrawn and put back, and end, at random, also
// while nothing may leave, be it for want of trust or because the pad is held, and while feeders have launches in hand. Those of a job leave in order and once, no target
// has more than its places, none is lost, and in the end nothing is kept.
func TestLanesTwin(t *testing.T) {
	seed := testkit.Seed(t)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	l := newLaneTest(3)
	last, left, added := map[job.ID]instant.Millis{}, 0, 0
	draining, held := false, false
	look := func() {
		if draining || rng.IntN(3) > 0 {
			l.rest()
		} else { // the tick passes feeders that are slow
			l.feed()
			l.handOn(rng.IntN(len(l.inHand) + 1))
			l.launchDue(l.now, nil)
		}
		for _, run := range l.sender.left[left:] {
			if held {
				t.Fatalf("seed %d: run %s left while the pad was held", seed, run)
			}
			if run.At <= last[run.Job] || run.At > l.now {
				t.Fatalf("seed %d: run %s left at %s, after that of %s", seed, run, l.now, last[run.Job])
			}
			last[run.Job] = run.At
		}
		left = len(l.sender.left)
	}
	for range 10_000 {
		id := job.ID(1 + rng.IntN(7))
		switch k := rng.IntN(20); {
		case k < 6:
			l.now += 5
			runs := l.launches(id, 1+rng.IntN(4))
			added += len(runs)
			l.Add(runs, l.now)
		case k < 7:
			l.Add(l.Take(id), l.now)
		case k < 8:
			added -= len(l.Take(id))
		case k < 9:
			l.trusted = !l.trusted
		case k < 10:
			if held = !held; held {
				l.Hold()
			} else {
				l.Resume()
			}
		case left > 0:
			l.sender.answer(rng.IntN(left))
			left--
			added--
		}
		look()
		if load := l.Count(l.now); load.Waiting+load.Flying != added {
			t.Fatalf("seed %d: %d wait and %d are under way, of %d", seed, load.Waiting, load.Flying, added)
		}
	}
	l.Resume()
	draining, held, l.trusted, l.now = true, false, true, l.now+100
	for look(); left > 0; look() {
		l.sender.answer(0)
		left--
	}
	if load := l.Count(l.now); load.Waiting+load.Flying+l.queued+len(l.lanes)+int(l.ahead)+len(l.sender.asks) != 0 {
		t.Errorf("seed %d: %d wait, %d are under way, %d in %d lanes, %d bytes, %d asked for", seed, load.Waiting, load.Flying, l.queued, len(l.lanes), l.ahead, len(l.sender.asks))
	}
}

// TestHerdWaitsWithoutDeliveries: of a herd at a target only those are held whole that have a place, and each
// row is read twice at the most.
func TestHerdWaitsWithoutDeliveries(t *testing.T) {
	const herd = 3000
	l := newLaneTest(64)
	for id := range job.ID(herd) {
		l.Add([]Launch{{Run: job.RunID{Job: 3 * (id + 1), At: l.now}, Due: l.now, Attempt: 1}}, l.now)
	}
	for l.rest(); len(l.sender.left) > 0; l.rest() {
		if l.ahead != 0 || len(l.sender.left) > 64 {
			t.Fatalf("%d bytes wait, %d runs are under way", l.ahead, len(l.sender.left))
		}
		l.now++
		l.sender.answer(0)
	}
	if len(l.outcomes) != herd || l.reads > 2*herd {
		t.Errorf("%d of %d ended, with %d reads", len(l.outcomes), herd, l.reads)
	}
	if o := l.outcomes[herd-1]; o.Place < (herd-65)*time.Millisecond || o.Error != "" {
		t.Errorf("the last waited for %s (%q)", o.Place, o.Error)
	}
	if o := l.outcomes[0]; o.Place != 0 {
		t.Errorf("the first waited for %s", o.Place)
	}
}

// TestReadAheadIsBounded: what is ahead of its time and finds no room is read when it is due.
func TestReadAheadIsBounded(t *testing.T) {
	l := newLaneTest(1000)
	l.ahead = aheadBytesMax // what others have
	l.Add(l.launches(1, 10), l.now-1000)
	chunk, _ := l.unreadChunk(l.now-1000, nil)
	if len(chunk) != 0 {
		t.Fatalf("%d are read ahead", len(chunk))
	}
	l.now += 20
	l.rest()
	if len(l.sender.left) != 10 || l.ahead != aheadBytesMax {
		t.Errorf("%d left; %d bytes wait", len(l.sender.left), l.ahead)
	}
	if !slices.IsSortedFunc(l.sender.left, func(a, b job.RunID) int { return int(a.At - b.At) }) {
		t.Errorf("they left as %v", l.sender.left)
	}
}

// TestTooLateForAPlace: an attempt whose retry.max_age is over when it gets its place does not begin.
func TestTooLateForAPlace(t *testing.T) {
	l := newLaneTest(1)
	runs := l.launches(3, 3)
	runs[1].Expires = l.now + 100
	runs[2].Expires = l.now + 1000
	l.now += 10
	l.Add(runs, l.now)
	l.rest()
	l.now += 500
	l.sender.answer(0)
	l.rest()
	if len(l.outcomes) != 2 || l.outcomes[1].Error != tooLate || !l.outcomes[1].LaunchedAt.IsZero() {
		t.Errorf("outcomes: %+v", l.outcomes)
	}
	if len(l.sender.left) != 1 || l.sender.left[0] != runs[2].Run {
		t.Errorf("%v left; want the third, which has time", l.sender.left)
	}
}

// TestPlacesAreGivenBack: a pad that is closed, and a launch that is withdrawn while it is made ready, leave no
// place taken.
func TestPlacesAreGivenBack(t *testing.T) {
	l := newLaneTest(2)
	l.Add(l.launches(3, 6), l.now)
	l.now += 10
	l.rest()
	l.sender.answer(0)
	l.sender.answer(0) // two more have places now
	chunk, _ := l.unreadChunk(l.now, nil)
	if len(chunk) != 2 {
		t.Fatalf("%d are made ready", len(chunk))
	}
	l.Take(3)
	for _, w := range chunk {
		l.ready(w, &job.Delivery{Run: w.Run}, nil, l.now)
	}
	if n := len(l.sender.left) + len(l.lanes); n != 0 {
		t.Errorf("%d are left of what was withdrawn", n)
	}
	l.now += 10
	l.Add(l.launches(3, 6), l.now)
	l.now += 10
	l.rest()
	l.sender.answer(0)
	l.sender.answer(0)
	l.endSending()
	for key, n := range l.sender.taken {
		if n != 0 {
			t.Errorf("%d places in %v are taken", n, key)
		}
	}
}

// TestHerdOfOneJobReadsLittle: once the row of a job is read, its further runs get in line for a place without it,
// until the job changes; so a row is read when there is a place for its run.
func TestHerdOfOneJobReadsLittle(t *testing.T) {
	const herd = 1000
	l := newLaneTest(1)
	due := l.launches(1, herd)
	l.now += herd
	l.Add(due, l.now)
	l.rest()
	if l.reads > 2*feedChunk || l.queued < herd-2 {
		t.Fatalf("%d rows are read for one place, %d of %d runs are in line", l.reads, l.queued, herd)
	}
	for ; len(l.sender.left) > 0; l.rest() {
		l.sender.answer(0)
	}
	if len(l.outcomes) != herd || l.reads > herd+2*feedChunk {
		t.Errorf("%d of %d ended, with %d reads", len(l.outcomes), herd, l.reads)
	}
	l.Take(1)
	if len(l.facts) != 0 {
		t.Errorf("what the pad knows of a job outlives its change: %v", l.facts)
	}
}
