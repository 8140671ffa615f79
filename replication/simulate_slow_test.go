package replication

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// Each commit reaches a standby after the next ones have been published, as over a slow link under a steady load: the standby never has
// all that the leader has. It counts as level all the same, and states the age of its data: not less, as the reads of all copies
// check, and not much more.
func TestLevelOverSlowLinks(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		s.plan.commitEvery, s.plan.syncs = 20*time.Millisecond, true // so no commit waits for a standby
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
				if st.Lag > 4*lag || n.local.applied == leader.local.applied {
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

// The links between the nodes become slow. Up to some way the standbys promise in time, so that each stays an heir, and takes over
// soon; beyond that they promise nothing, so that the leader does not wait for them. In both cases it may launch all the time once
// the cluster has found out how slow they are, and the standbys hear of its newest commits.
func TestPromisesOverSlowLinks(t *testing.T) {
	testkit.NotUnderRace(t, onlyOneRuns)
	for way, inherits := range map[time.Duration]bool{20 * time.Millisecond: true, 100 * time.Millisecond: true, 115 * time.Millisecond: true, 150 * time.Millisecond: false, 400 * time.Millisecond: false} {
		t.Run(way.String(), func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				slowLinks(t, seed, way, inherits)
			}
		})
	}
}

func slowLinks(t *testing.T, seed uint64, way time.Duration, inherits bool) {
	p := plan{seed: seed, nodes: 3, length: time.Hour, commitEvery: 200 * time.Millisecond, latest: 10 * time.Second, loud: *simLoud}
	p.shardsPlan = shardsPlan{shards: 2, copies: 2}
	g := newCluster(p)
	for _, m := range g.machines {
		g.after(g.between(0, 500*time.Millisecond), m.launch)
	}
	g.until(40*time.Second, func() bool { return false })
	g.plan.far = way
	g.until(g.now+10*time.Second, func() bool { return false })
	for end := g.now + 20*time.Second; g.now < end; g.now += 5 * time.Millisecond {
		g.until(g.now+5*time.Millisecond, func() bool { return false })
		for _, w := range g.worlds {
			leader := w.check.leader()
			switch {
			case w.check.broken != "":
				t.Fatalf("seed %d: %s", seed, w.check.broken)
			case leader == nil || leader.node.Trust() <= 0:
				t.Fatalf("seed %d: at %s: no node may launch shard %d", seed, g.now, w.number)
			case len(leader.node.leadership.tenure.heirs) > 0 != inherits:
				t.Fatalf("seed %d: at %s: the heirs of shard %d are %v", seed, g.now, w.number, leader.node.leadership.tenure.heirs)
			}
			for _, n := range w.nodes {
				if n == leader || !n.alive {
					continue
				}
				if lag := n.node.Status().Lag; lag > beatFresh+4*way {
					t.Fatalf("seed %d: at %s: %s states a lag of %s in shard %d", seed, g.now, n.name, lag, w.number)
				}
			}
		}
	}
	for _, m := range g.machines {
		m.kill()
	}
}
