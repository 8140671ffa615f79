package replication

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// story is a simulation in which only the faults of a test occur.
type story struct {
	*world
	t *testing.T
}

// newStory starts a cluster and waits until it is level.
func newStory(t *testing.T, nodes int, seed uint64) *story {
	w := newWorld(plan{seed: seed, mode: keeping, nodes: nodes, length: time.Hour, commitEvery: 200 * time.Millisecond, latest: 10 * time.Second, loud: *simLoud})
	for _, n := range w.nodes {
		w.after(w.between(0, 500*time.Millisecond), n.start)
	}
	w.plan.begin(w)
	s := &story{w, t}
	s.live(20 * time.Second)
	return s
}

// live lets time pass, and checks the cluster every few milliseconds.
func (s *story) live(d time.Duration, looks ...func() string) {
	s.t.Helper()
	for end := s.now + d; s.now < end; {
		next := s.now + 5*time.Millisecond
		s.until(next, func() bool { return false })
		s.now = next
		for _, look := range looks {
			if wrong := look(); wrong != "" {
				s.t.Fatalf("seed %d: at %s: %s", s.plan.seed, s.now, wrong)
			}
		}
		if s.check.broken != "" {
			s.t.Fatalf("seed %d: %s", s.plan.seed, s.check.broken)
		}
	}
}

// led returns the leader and the other nodes.
func (s *story) led() (leader *simNode, others []*simNode) {
	s.t.Helper()
	if leader = s.check.leader(); leader == nil {
		s.t.Fatalf("seed %d: at %s: not one node leads", s.plan.seed, s.now)
	}
	for _, n := range s.nodes {
		if n != leader {
			others = append(others, n)
		}
	}
	return leader, others
}

// launching returns what is wrong if a node may not launch.
func launching(n *simNode) func() string {
	return func() string {
		if n.node.Trust() <= 0 || !n.leading {
			return fmt.Sprintf("%s may not launch", n.name)
		}
		return ""
	}
}

// tell runs a story for some seeds and numbers of nodes.
func tell(t *testing.T, nodes []int, run func(*story)) {
	t.Helper()
	testkit.NotUnderRace(t, onlyOneRuns)
	seeds := 20
	if *simSeeds != simSeedsDefault {
		seeds = *simSeeds
	}
	for _, n := range nodes {
		for seed := *simFrom; seed < *simFrom+uint64(seeds); seed++ {
			s := newStory(t, n, seed)
			run(s)
			for _, n := range s.nodes {
				n.die()
			}
		}
	}
}

// The link between leader and standby is cut while both reach the servers: a standby that sees the renewals
// does not take the lease, and the leader goes on launching.
func TestLinkCutTakesNothing(t *testing.T) {
	for _, state := range []wayState{silent, reset} {
		tell(t, []int{2, 3}, func(s *story) {
			leader, others := s.led()
			s.links[[2]int{leader.index, others[0].index}], s.links[[2]int{others[0].index, leader.index}] = state, state
			s.live(40*time.Second, launching(leader))
			clear(s.links)
			s.live(5*time.Second, launching(leader))
			if s.counts["leads"] != 1 {
				t.Errorf("seed %d: %d nodes led", s.plan.seed, s.counts["leads"])
			}
		})
	}
}

// The stream and the bucket have no leader for as long as an election takes: the standbys promise not to take
// the lease, and the leader goes on launching.
func TestElectionStopsNothing(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		leader, _ := s.led()
		s.stream.offTill, s.bucket.offTill = s.now+9*time.Second, s.now+9*time.Second
		s.live(15*time.Second, launching(leader))
	})
}

// A leader without standbys goes on launching through an election, during which a standby returns.
func TestAloneThroughElection(t *testing.T) {
	tell(t, []int{2}, func(s *story) {
		leader, others := s.led()
		others[0].die()
		s.live(5*time.Second, launching(leader))
		s.stream.offTill, s.bucket.offTill = s.now+9*time.Second, s.now+9*time.Second
		s.after(3*time.Second, others[0].start)
		s.live(20*time.Second, launching(leader))
		s.crashAfterAll(leader)
	})
}

// crashAfterAll kills the leader, and requires that another node leads soon: it had become an heir again.
func (s *story) crashAfterAll(leader *simNode) {
	s.t.Helper()
	leader.die()
	s.live(1500 * time.Millisecond)
	next, _ := s.led()
	s.live(time.Second, launching(next))
}

// A leader dies just after it was handed the shard, before it has renewed its lease: a node that follows leads soon, also the one
// that has handed over.
func TestSuccessorIsReplacedSoon(t *testing.T) {
	for _, led := range []time.Duration{0, 30 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		t.Run(led.String(), func(t *testing.T) {
			tell(t, []int{2, 3}, func(s *story) {
				before, _ := s.led()
				s.plan.handOver = 1
				leader := s.waitFor(2*time.Second, func() *simNode {
					if n := s.check.leader(); n != nil && n != before {
						return n
					}
					return nil
				})
				s.plan.handOver = 0
				s.live(led)
				leader.die()
				s.waitFor(2500*time.Millisecond, func() *simNode {
					if n := s.check.leader(); n != nil && n != leader && launching(n)() == "" {
						return n
					}
					return nil
				})
			})
		})
	}
}

// waitFor lets time pass until look returns a node, for so long at most.
func (s *story) waitFor(most time.Duration, look func() *simNode) *simNode {
	s.t.Helper()
	for end := s.now + most; s.now < end; s.live(5 * time.Millisecond) {
		if n := look(); n != nil {
			return n
		}
	}
	s.t.Fatalf("seed %d: at %s: it has not come for %s: %s", s.plan.seed, s.now, most, s.describe())
	return nil
}

// A leader that stands still, or is cut off silently or by resets, launches no longer than the grace, and
// another node leads within four seconds.
func TestReplacedWithinTheGrace(t *testing.T) {
	for what, strike := range map[string]func(*story, *simNode){
		"stands still":  func(s *story, n *simNode) { n.pause(20 * time.Second) },
		"is cut off":    func(_ *story, n *simNode) { n.linked, n.muted = false, true },
		"loses its way": func(_ *story, n *simNode) { n.linked = false },
	} {
		t.Run(what, func(t *testing.T) {
			tell(t, []int{2, 3}, func(s *story) {
				leader, _ := s.led()
				strike(s, leader)
				s.live(leader.node.opts.Grace + 10*time.Millisecond)
				if left := leader.node.Trust(); left > 0 {
					t.Errorf("seed %d: it launches for %s more", s.plan.seed, left)
				}
				s.live(3 * time.Second)
				launch := 0
				for _, n := range s.nodes {
					if n != leader && n.node.role == RoleLeader && launching(n)() == "" {
						launch++
					}
				}
				if launch != 1 {
					t.Errorf("seed %d: %d others launch: %s", s.plan.seed, launch, s.describe())
				}
				s.live(20 * time.Second)
			})
		})
	}
}

// Each direct read of a standby takes longer than its checks are apart, and the log grows faster than that. Its
// consumer, which was silent for a while, works again: the standby is level soon, and attends to its other duties
// meanwhile.
func TestSlowReadsDoNotHoldAStandby(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		s.plan.commitEvery = 20 * time.Millisecond
		leader, others := s.led()
		slow, reads := others[0], others[0].reads
		slow.slowDown(200*time.Millisecond, time.Hour)
		slow.silentUntil = s.now + 4*time.Second
		s.live(4 * time.Second)
		if slow.reads-reads < 3 {
			t.Errorf("seed %d: it has read %d messages directly", s.plan.seed, slow.reads-reads)
		}
		s.live(2500 * time.Millisecond)
		if has, wants := slow.local.applied.LSN, leader.local.applied.LSN; has+20 < wants {
			t.Errorf("seed %d: it is %d commits behind: %s", s.plan.seed, wants-has, s.describe())
		}
	})
}
