package pad

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestFreedRunGivesItsTurnBack withdraws a launch that has the turn of its job and waits for a place, as an update
// does, and puts it back as one that goes free. Its end is no news to those that wait for turns, so it must not keep
// one.
func TestFreedRunGivesItsTurnBack(t *testing.T) {
	l := newLaneTest(1)
	l.Add(l.launches(3, 1), l.now) // has the only place
	l.rest()
	waits := l.launches(6, 1)
	waits[0].Mode, waits[0].Limit = ModeSkip, 1
	l.Add(waits, l.now)
	l.rest()
	if len(l.sender.left) != 1 || len(l.turns) != 1 {
		t.Fatalf("%d launches left and %d jobs have a turn; want 1 and 1", len(l.sender.left), len(l.turns))
	}

	back := l.Take(6)
	back[0].Mode, back[0].Limit = ModeFree, 0
	l.Add(back, l.now)
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
	l.Add(next, l.now)
	l.rest()
	for _, o := range l.outcomes {
		if o.Skipped == job.ReasonOverlap {
			t.Errorf("run %s was skipped for one that is over", o.Run)
		}
	}
}

// turnLaunch returns a launch of a job that lets one run go at a time, and whose runs end with the first success.
func (l *laneTest) turnLaunch(id job.ID, mode Mode) Launch {
	w := l.launches(id, 1)[0]
	w.Mode, w.Limit, w.Ends = mode, 1, EndsTaken
	return w
}

// TestOldAttemptFreesNoTurn lets an attempt of a run that was cancelled end after the run was retried by hand: the turn
// is that of the new attempt by then, which waits for a place.
func TestOldAttemptFreesNoTurn(t *testing.T) {
	for name, again := range map[string]Mode{"by hand": ModeWait, "after a report": ModeHeld} {
		t.Run(name, func(t *testing.T) {
			l := newLaneTest(1)
			first := l.turnLaunch(6, ModeSkip)
			l.Add([]Launch{first}, l.now)
			l.rest()
			if again == ModeWait {
				l.EndRuns([]job.RunID{first.Run}, l.now.Time())
			}
			second := first
			second.Mode, second.Attempt = again, 2
			l.Add([]Launch{second}, l.now)
			l.rest()
			if load := l.Count(l.now); load.Queued != 1 {
				t.Fatalf("%+v; want the second attempt to wait for its place", load)
			}
			l.sender.answer(0)
			if !l.turns[6].has(first.Run) {
				t.Error("the first attempt has freed the turn of the second")
			}
			l.EndRuns([]job.RunID{first.Run}, l.now.Time())
			if len(l.turns) != 0 {
				t.Errorf("the turn is still taken: %v", l.turns)
			}
		})
	}
}

// TestFreedTurnGoesToTheLine: a run that waits for its turn gets it before one that was due later and whose row is read
// just then.
func TestFreedTurnGoesToTheLine(t *testing.T) {
	l := newLaneTest(10)
	l.Add([]Launch{l.turnLaunch(1, ModeWait)}, l.now)
	l.rest()
	l.now++
	second := l.turnLaunch(1, ModeWait)
	l.Add([]Launch{second}, l.now)
	l.rest() // it waits for its turn
	l.now++
	third := l.turnLaunch(1, ModeWait)
	third.HasPayload = true // so its row must be read before it gets in line
	l.Add([]Launch{third}, l.now)
	l.launchDue(l.now, nil)
	l.feed()
	l.sender.answer(0)
	l.handOn(len(l.inHand))
	l.rest()
	if len(l.sender.left) != 1 || l.sender.left[0] != second.Run {
		t.Errorf("%v left; want %s, which was due before %s", l.sender.left, second.Run, third.Run)
	}
}

// TestForeseenEndThatDoesNotCome: a run whose end was foreseen goes on at a worker, because the job demands reports by
// now. It takes its turn again.
func TestForeseenEndThatDoesNotCome(t *testing.T) {
	l := newLaneTest(10)
	first := l.turnLaunch(1, ModeWait)
	l.Add([]Launch{first}, l.now)
	l.rest()
	l.sender.answer(0)
	if len(l.turns) != 0 {
		t.Fatalf("the turn is not free: %v", l.turns)
	}
	l.Occupy([]job.RunID{first.Run})
	l.now++
	l.Add([]Launch{l.turnLaunch(1, ModeWait)}, l.now)
	l.rest()
	if len(l.sender.left) != 0 {
		t.Errorf("%v left beside %s", l.sender.left, first.Run)
	}
	l.EndRuns([]job.RunID{first.Run}, l.now.Time())
	l.rest()
	if len(l.sender.left) != 1 {
		t.Errorf("%d left after the end of %s, want 1", len(l.sender.left), first.Run)
	}
}

// TestHangOn: an attempt whose job is about to change keeps its turn when it ends, until the core has decided.
func TestHangOn(t *testing.T) {
	l := newLaneTest(10)
	first := l.turnLaunch(1, ModeWait)
	l.Add([]Launch{first}, l.now)
	l.rest()
	l.HangOn(1)
	l.sender.answer(0)
	if !l.turns[1].has(first.Run) {
		t.Error("the turn is free before the core has decided")
	}
	l.EndRuns([]job.RunID{first.Run}, l.now.Time())
	if len(l.turns) != 0 {
		t.Errorf("the turn is still taken: %v", l.turns)
	}
}
