package replication

import (
	"testing"
	"time"
)

// A node that led had all commits until its trust ended, and states no smaller lag than that. One that had the lease and did not
// begin its epoch knows no more than before.
func TestLagOfAFormerLeader(t *testing.T) {
	for name, c := range map[string]struct {
		trusted, paused time.Duration // how long it was trusted, and how much later it noticed that another node leads
		unread          bool          // it has not read the log to its end
		want            time.Duration
	}{
		"deposed at once":            {trusted: time.Minute, want: 0},
		"deposed after a standstill": {trusted: time.Minute, paused: 40 * time.Second, want: 40 * time.Second},
		"does not lead after all":    {trusted: time.Second, unread: true, want: behindAtFirst + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Hour
			n := &Node{opts: Options{Boot: func() time.Duration { return now }}}
			n.levelUntil(now - behindAtFirst)
			n.leadership.starting.Store(c.unread)
			n.trusted.Store(int64(now + c.trusted))
			now += c.trusted + c.paused
			n.endTrust()
			n.followsAnew()
			if lag := now - time.Duration(n.levelAt.Load()); lag != c.want || n.Trust() > 0 {
				t.Errorf("the lag is %s, want %s; the trust %s", lag, c.want, n.Trust())
			}
			if n.IsComplete() {
				t.Error("it counts as complete")
			}
		})
	}
}

// A node that led for long, and begins to follow, has the usual time for what it lacks: how far it had come as a follower says
// nothing about it.
func TestFormerLeaderIsNotStuck(t *testing.T) {
	now := time.Minute
	n := &Node{opts: Options{Boot: func() time.Duration { return now }}}
	n.writer.at.LSN = 5
	n.newTailSession(nil, nil)
	now += time.Hour
	n.followsAnew()
	n.newTailSession(nil, nil)
	if waited := now - n.progress; waited >= stuckAfter {
		t.Errorf("it counts as stuck for %s", waited)
	}
}
