package replication

import (
	"fmt"
	"testing"
	"time"
)

// Each commit reaches a standby after the next ones have been published, as over a slow link under a steady load: the standby never has
// all that the leader has. It counts as level all the same, and states the age of its data: not less, as the reads of all copies
// check, and not much more.
func TestLevelOverSlowLinks(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		s.plan.commitEvery = 20 * time.Millisecond
		leader, others := s.led()
		const lag = 250 * time.Millisecond
		for _, n := range others {
			n.lag = lag
		}
		s.live(10 * time.Second)
		reads := s.counts["a copy is read"]
		s.live(20*time.Second, func() string {
			for _, n := range others {
				st := n.node.Status()
				if st.Lag > 3*lag || n.local.applied == leader.local.applied {
					return fmt.Sprintf("%s states a lag of %s, and has %d commits of %d", n.name, st.Lag, n.local.applied.LSN, leader.local.applied.LSN)
				}
			}
			return ""
		})
		if s.counts["a copy is read"] == reads {
			t.Errorf("seed %d: no copy was read", s.plan.seed)
		}
	})
}
