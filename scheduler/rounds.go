package scheduler

import "time"

// rounds are the instants at which a shard of several commits what may wait. Four shards have theirs in common, also on different
// nodes, so that their logs and the copies of their logs sync at the same time. A sync costs more than its write: while a thread
// waits for the disk, and for some milliseconds afterwards, the Go runtime wakes every 20 µs to look after it, and it wakes as
// often for four such threads. If all shards had the same rounds, the launches that are due then would wait for all their steps.
//
// The zero value has no rounds: every instant is one.
type rounds struct {
	every, offset time.Duration // by the wall clock, from the Unix epoch
}

const (
	// shardsOfRound is how many shards have their rounds in common, while there are no more than 32.
	shardsOfRound = 4
	// roundsMost bounds the number of rounds in the time between two of a shard, so that their commits do not overlap.
	roundsMost = 8
)

// roundsFor returns the rounds of a shard of so many, one in each interval of a length.
func roundsFor(every time.Duration, shard uint32, shards int) rounds {
	groups := min(max(1, shards/shardsOfRound), roundsMost)
	return rounds{every: every, offset: every * time.Duration(int(shard)%groups) / time.Duration(groups)}
}

// RoundsOf returns an interval of which all rounds of a cluster with so many shards and such a lead are multiples by the wall clock; 0
// with one shard, which has none. What ends a little before a multiple is in the log at the next round, and does not wait for another.
func RoundsOf(lead time.Duration, shards int) time.Duration {
	if shards < 2 {
		return 0
	}
	return pacingFor(lead, 0, shards).rounds.every / roundsMost
}

// last returns the last round that is not after an instant: less than an interval before it.
func (r rounds) last(t time.Time) time.Time {
	if r.every == 0 {
		return t
	}
	return t.Add(-((time.Duration(t.UnixNano()) - r.offset) % r.every))
}

// wait returns how long it is from now until the first round that is no sooner than a time from now.
func (r rounds) wait(now time.Time, least time.Duration) time.Duration {
	if r.every == 0 || least <= 0 {
		return least
	}
	return r.last(now.Add(least + r.every - 1)).Sub(now)
}
