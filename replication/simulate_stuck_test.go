package replication

import (
	"testing"
	"time"
)

// TestStuckLeaderCostsNoCommit: the loop of a leader is stuck, as on a disk that hangs, and NATS loses the end of the log, which the
// standbys have on their disks. A standby that starts just then finds a stream that ends before its own log, and a leader that
// says that it has more and publishes nothing. It keeps what it has, for a checkpoint of that leader would bring less.
func TestStuckLeaderCostsNoCommit(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		_, others := s.led()
		s.plan.stuck = 1
		s.live(time.Second)
		s.plan.stuck = 0
		if s.counts["the loop of a leader is stuck"] != 1 {
			t.Fatalf("seed %d: the loop of the leader is not stuck", s.plan.seed)
		}
		s.stream.lose(2)
		had := others[0].local.Last()
		for _, n := range others {
			n.die()
			n.start()
		}
		s.live(10*time.Second, func() string {
			if found, ok := others[0].local.Find(had.LSN); !ok || found != had {
				return "a standby has dropped what it had"
			}
			return ""
		})
		s.check.since, s.healed = 0, true
		if !s.until(s.now+time.Minute, s.check.level) || s.check.broken != "" {
			t.Errorf("seed %d: %s: %s", s.plan.seed, s.check.broken, s.describe())
		}
	})
}
