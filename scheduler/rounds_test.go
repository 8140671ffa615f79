package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestRounds: each instant has a round less than an interval before it, a wait ends at a round, and the rounds of shards that
// have none in common are evenly apart.
func TestRounds(t *testing.T) {
	const every = 250 * time.Millisecond
	offsets := make(map[time.Duration]int)
	for shard := range uint32(16) {
		r := roundsFor(every, shard, 16)
		offsets[r.offset]++
		for _, after := range []time.Duration{0, 1, time.Millisecond, every - 1, every, time.Hour + 7} {
			at := time.Unix(1_700_000_000, 0).Add(after)
			last := r.last(at)
			if last.After(at) || at.Sub(last) >= every || r.last(last) != last {
				t.Fatalf("%+v: the last round at %s is %s", r, at, last)
			}
			for _, least := range []time.Duration{1, time.Millisecond, every, time.Second} {
				wait := r.wait(at, least)
				if end := at.Add(wait); wait < least || wait >= least+every || r.last(end) != end {
					t.Fatalf("%+v: from %s the wait of %s at least is %s", r, at, least, wait)
				}
			}
			if wait := r.wait(at, -time.Second); wait > 0 {
				t.Fatalf("what is due waits %s", wait)
			}
		}
	}
	if len(offsets) != 4 {
		t.Errorf("16 shards have rounds at %v, want four of each of four", offsets)
	}
	if now := time.Now(); (rounds{}).last(now) != now || (rounds{}).wait(now, time.Second) != time.Second {
		t.Error("one shard has rounds")
	}
}

// TestRoundsOf: all rounds of all shards are multiples of one interval.
func TestRoundsOf(t *testing.T) {
	if every := RoundsOf(10*time.Second, 1); every != 0 {
		t.Errorf("one shard has rounds each %s", every)
	}
	for shards := 2; shards <= 256; shards *= 2 {
		every := RoundsOf(10*time.Second, shards)
		for shard := range shards {
			at := pacingFor(10*time.Second, uint32(shard), shards).rounds.last(time.Now())
			if every < 10*time.Millisecond || at.UnixNano()%int64(every) != 0 {
				t.Fatalf("shard %d of %d has a round at %s, want multiples of %s", shard, shards, at, every)
			}
		}
	}
}

// TestShardsStepInRounds: what may wait, waits for a round of the shard, and no longer than without rounds; what may not,
// does not.
func TestShardsStepInRounds(t *testing.T) {
	e := must(Open(Options{
		Log: &stillLog{}, Store: newMemStore(), Sender: &shortSender{left: make(map[string]int)}, Shard: 3,
		Settings: Settings{Lead: 10 * time.Second, Shards: 16},
	}))
	g := gathering{engine: e, pace: pacingFor(10*time.Second, 3, 16), lastStep: time.Now()}
	isRound := func(at time.Time) bool {
		off := at.Sub(g.pace.rounds.last(at.Add(time.Millisecond)))
		return off > -2*time.Millisecond && off < 5*time.Millisecond
	}
	e.outcomes.add(job.Outcome{}, true)
	if at, _ := e.outcomes.stepAt(g.outcomesPatience()); !isRound(at) || time.Until(at) > g.pace.outcomes {
		t.Errorf("an outcome waits for %s, %s from now", at, time.Until(at))
	}
	g.awaits = true
	if at, _ := e.outcomes.stepAt(g.outcomesPatience()); time.Until(at) > minPacing.outcomes {
		t.Errorf("an outcome for which ticks wait takes %s", time.Until(at))
	}
	e.outcomes.drop(1)
	now := instant.Of(time.Now())
	g.awaits, g.wakeAt, g.latest = false, now, now+5000
	if wait := g.untilDecision(); !isRound(time.Now().Add(wait)) || wait > g.pace.decisions+g.pace.outcomes {
		t.Errorf("a decision waits for %s", wait)
	}
	g.latest = now + 300
	if wait := g.untilDecision(); wait > 300*time.Millisecond {
		t.Errorf("a decision waits for %s, want 300 ms at most", wait)
	}
}
