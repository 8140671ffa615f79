package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// newImpatientHerd is a herd whose grace is a second and whose jobs skip what was missed.
func newImpatientHerd(t *testing.T, jobs int) *herd {
	h := newHerd(t)
	h.core.settings.Grace = time.Second
	for i := range jobs {
		p := h.put("herd", fmt.Sprint("herd", i), "*/30 * * * * *")
		h.core.profiles.at(p.Timer.Profile).Missed = job.MissedSkip
	}
	return h
}

// stepOn makes steps a while apart and counts the launches.
func (h *herd) stepOn(steps int, apart instant.Millis) (launches int) {
	for range steps {
		h.now += apart
		launches += len(h.step())
	}
	return launches
}

// TestHerdIsOnTime: the ticks of a herd that takes five times the grace to be decided came due while the engine
// led, so they all fire, whatever the policy for missed runs, and none at the pace of catching up.
func TestHerdIsOnTime(t *testing.T) {
	h := newImpatientHerd(t, 400)
	h.now += 29_800 - h.now%30_000
	h.step()
	launches := 8 + h.stepOn(60, 100)
	if c := h.core; launches != 400 || c.counts.Skipped != 0 || c.late.Len() != 0 {
		t.Fatalf("%d launches, %d skipped, %d late; want 400 launches", launches, c.counts.Skipped, c.late.Len())
	}
}

// TestStandstillIsMissed: what came due while the engine stood still was missed, and what came
// due before that is not, though it is decided behind it.
func TestStandstillIsMissed(t *testing.T) {
	h := newImpatientHerd(t, 400)
	h.now += 29_800 - h.now%30_000
	launches := len(h.step()) + h.stepOn(5, 100)
	h.now += 40_000 // the second tick of each comes due in here
	launches += len(h.step()) + h.stepOn(100, 10)
	if c := h.core; launches != 400 || c.counts.SkippedBy[job.ReasonMissed] != 400 {
		t.Fatalf("%d launches, %d missed; want 400 of each", launches, c.counts.SkippedBy[job.ReasonMissed])
	}
	if n := len(h.core.presence.gaps); n != 0 {
		t.Errorf("%d gaps are remembered, though all is decided", n)
	}
}

// TestStandstillWithinTheLead: the engine stands still when a herd is partly decided, ahead of its instant. The last
// step had all of the herd in hand, so none of it is missed.
func TestStandstillWithinTheLead(t *testing.T) {
	h := newImpatientHerd(t, 400)
	h.now += 29_800 - h.now%30_000
	launches := len(h.step())
	h.now += 10_000
	launches += len(h.step()) + h.stepOn(100, 10)
	if c := h.core; launches != 400 || c.counts.Skipped != 0 {
		t.Errorf("%d launches, %d skipped; want 400 launches", launches, c.counts.Skipped)
	}
}

// TestPresence checks which instants count as missed, in a table.
func TestPresence(t *testing.T) {
	const grace = 1000
	p := newPresence(100_000)
	p.attend(100_500, 100_000, 101_000, 0, grace) // early
	p.attend(103_000, 101_000, 101_000, 0, grace) // late, within the slack
	p.attend(120_000, 103_000, 0, 0, grace)       // it asked for nothing
	p.attend(140_000, 120_000, 130_000, 0, grace) // ten seconds late
	for due, want := range map[instant.Millis]instant.Millis{
		98_999: 99_000, 99_000: 0, 101_500: 0, 110_000: 0, 130_000: 0, 130_001: 137_000, 136_999: 137_000, 137_000: 0,
	} {
		if edge, _ := p.missedUntil(due, grace); edge != want {
			t.Errorf("due %d: missed until %d, want %d", due, edge, want)
		}
	}
	p.attend(132_000, 140_000, 141_000, 0, grace) // the clock was set back
	if edge, _ := p.missedUntil(133_000, grace); edge != 0 {
		t.Errorf("an instant that comes again is missed until %d", edge)
	}
	for i := range instant.Millis(10 * gapsMax) {
		p.attend(200_000+i*20_000, 190_000+i*20_000, 1, 0, grace)
	}
	if len(p.gaps) > gapsMax {
		t.Errorf("%d gaps are remembered, at most %d may be", len(p.gaps), gapsMax)
	}
}
