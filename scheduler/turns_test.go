package scheduler

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestFreedRunGivesItsTurnBack withdraws a launch that has the turn of its job and waits for a place, as an update
// does, and puts it back as one that goes free. Its end is no news to those that wait for turns, so it must not keep
// one.
func TestFreedRunGivesItsTurnBack(t *testing.T) {
	l := newLaneTest(1)
	l.add(l.launches(3, 1), l.now) // has the only place
	l.rest()
	waits := l.launches(6, 1)
	waits[0].Mode, waits[0].Limit = ModeSkip, 1
	l.add(waits, l.now)
	l.rest()
	if len(l.sender.left) != 1 || len(l.turns) != 1 {
		t.Fatalf("%d launches left and %d jobs have a turn; want 1 and 1", len(l.sender.left), len(l.turns))
	}

	back := l.take(6)
	back[0].Mode, back[0].Limit = ModeFree, 0
	l.add(back, l.now)
	l.rest()
	l.sender.answer(0)
	l.rest()
	l.sender.answer(0)
	if len(l.turns) != 0 {
		t.Errorf("the turn is still taken: %v", l.turns)
	}

	l.now++
	next := l.launches(6, 1)
	next[0].Mode, next[0].Limit = ModeSkip, 1
	l.add(next, l.now)
	l.rest()
	for _, o := range l.outcomes {
		if o.Skipped == job.ReasonOverlap {
			t.Errorf("run %s was skipped for one that is over", o.Run)
		}
	}
}
