package replication

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// outage makes the power fail everywhere, at the stream and the bucket too: these fall back to an earlier
// state.
func (s *story) outage(lost time.Duration) {
	for _, n := range s.nodes {
		n.die()
	}
	s.fallBack(lost)
}

// fallBack makes the stream and the bucket what they were some time ago.
func (s *story) fallBack(lost time.Duration) {
	kept := 0
	for _, m := range s.stream.messages {
		if m.stored <= s.now-lost {
			kept++
		}
	}
	s.stream.messages = s.stream.messages[:kept]
	s.stream.era++
	then := s.lease.asOf(s.now - lost)
	s.bucket.era++
	s.lease.states = nil
	s.lease.set(then.value, then.revision, then.reason)
	s.check.forgetUnknown()
	s.world.note("outage")
}

// forgetUnknown removes commits from the log that no node has any more. They were not acknowledged; one that its author is about to
// write into its own log will be. Of those that a node has, and that were not acknowledged, the next leader may know nothing.
func (c *checker) forgetUnknown() {
	known := uint64(0)
	for _, n := range c.nodes {
		for lsn := n.local.log.Last().LSN; lsn > known; lsn-- {
			if at, ok := n.local.Find(lsn); ok && c.has(at) {
				known = lsn
			}
		}
	}
	if c.underWay = (job.Position{}); known < uint64(len(c.log)) {
		c.underWay = c.log[known]
	}
	c.log, c.reader.at, c.unsure = c.log[:known], c.log[known-1], known
}

// overtakes reports whether a frame begins a later epoch in the place of commits that NATS has lost, and that were not acknowledged.
// Then these are no part of the log.
func (c *checker) overtakes(f *Frame) bool {
	lsn := f.At.LSN
	isLater := lsn > 1 && lsn <= c.unsure && lsn <= uint64(len(c.log)) && f.At.Epoch > c.log[lsn-1].Epoch && f.Prev == c.log[lsn-2].Hash
	if !isLater || c.ackedBy(c.now) >= lsn {
		return false
	}
	c.saw("overtaken", lsn, f.At.Epoch)
	c.log, c.reader.at, c.unsure = c.log[:lsn-1], c.log[lsn-2], 0
	return true
}

// settled requires that one node leads, that all acknowledged commits are in its log, and that no node has joined anew, but for some.
func (s *story) settled(may ...*simNode) {
	s.t.Helper()
	leader, _ := s.led()
	if !s.check.level() && !s.until(s.now+30*time.Second, s.check.level) {
		s.t.Fatalf("seed %d: they are not level: %s", s.plan.seed, s.describe())
	}
	for lsn, at := range s.check.acked {
		if found, ok := leader.local.Find(lsn); !ok || found != at {
			s.t.Fatalf("seed %d: %v was acknowledged, and the leader has %v", s.plan.seed, at, found)
		}
	}
	for _, n := range s.nodes {
		if n.rejoined > 0 && !slices.Contains(may, n) {
			s.t.Fatalf("seed %d: %s has joined anew", s.plan.seed, n.name)
		}
	}
	if s.check.broken != "" {
		s.t.Fatalf("seed %d: %s", s.plan.seed, s.check.broken)
	}
}

// Power fails everywhere while a standby is down. That standby is started first, and the former leader up to 30
// s later: the standby waits, and all acknowledged commits are there.
func TestOutageWaitsForTheFormerLeader(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		leader, others := s.led()
		for _, n := range others {
			n.die()
		}
		s.live(20 * time.Second)
		s.outage(s.between(time.Second, 30*time.Second))
		s.live(time.Second)
		for _, n := range others {
			n.start()
		}
		s.live(s.between(0, 30*time.Second), func() string {
			if s.check.leader() != nil {
				return "a node leads that lacks the end of the log"
			}
			return ""
		})
		leader.start()
		s.check.since, s.healed = 0, true
		s.live(20 * time.Second)
		s.settled()
		if now, _ := s.led(); now != leader {
			t.Errorf("seed %d: %s leads, and %s had the longest log", s.plan.seed, now.name, leader.name)
		}
	})
}

// A standby takes over from a leader whose machine has failed. Then power fails everywhere, and the first
// leader, whose lease the bucket shows again, is started first: it waits for the standby that was present.
func TestOutageAfterATakeover(t *testing.T) {
	tell(t, []int{2}, func(s *story) {
		first, others := s.led()
		first.die()
		begun := s.now
		s.live(10 * time.Second)
		s.outage(s.now - begun + s.between(6*time.Second, 10*time.Second))
		s.live(time.Second)
		first.start()
		s.live(s.between(0, 30*time.Second), func() string {
			if s.check.leader() != nil {
				return "a node leads that lacks the end of the log"
			}
			return ""
		})
		others[0].start()
		s.check.since, s.healed = 0, true
		s.live(20 * time.Second)
		s.settled()
	})
}

// The former leader is started first, and the standby was already gone when that node last led: it waits for
// none. A standby that stays alone leads after the wait.
func TestOutageOfOne(t *testing.T) {
	tell(t, []int{2}, func(s *story) {
		leader, others := s.led()
		others[0].die()
		s.live(25 * time.Second)
		s.outage(10 * time.Second)
		s.live(time.Second)
		leader.start()
		s.live(2 * time.Second)
		if now, _ := s.led(); now != leader {
			t.Errorf("seed %d: %s leads", s.plan.seed, now.name)
		}
		leader.die()
		others[0].start()
		s.live(40*time.Second, func() string {
			if s.check.leader() != nil {
				return "the standby does not wait"
			}
			return ""
		})
		s.live(25 * time.Second)
		if now, _ := s.led(); now != others[0] {
			t.Errorf("seed %d: %s leads", s.plan.seed, now.name)
		}
	})
}

// NATS alone loses power, and comes back without its last seconds. The leader writes its lease and the commits again, and goes on
// launching; no other node takes the lease that the bucket shows.
func TestNATSGoesBack(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		leader, _ := s.led()
		s.fallBack(s.between(time.Second, 15*time.Second))
		s.live(40*time.Second, launching(leader))
		s.check.since, s.healed = 0, true
		s.live(20 * time.Second)
		s.settled()
		if s.counts["leads"] != 1 {
			t.Errorf("seed %d: %d nodes led", s.plan.seed, s.counts["leads"])
		}
	})
}

// NATS comes back as it was before a takeover, while the node that led then follows. Nobody takes its lease while the leader may
// launch, and all acknowledged commits are there.
func TestNATSGoesBackBehindATakeover(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		first, _ := s.led()
		begun := s.now
		first.die()
		s.live(5 * time.Second)
		first.start()
		s.live(s.between(time.Second, 5*time.Second))
		s.fallBack(s.now - begun + s.between(0, 5*time.Second))
		if s.chance(0.5) { // it may learn of its old lease before the leader has written its own again
			first.die()
			s.after(s.between(0, 500*time.Millisecond), first.start)
		}
		s.live(40 * time.Second)
		s.check.since, s.healed = 0, true
		s.live(20 * time.Second)
		s.settled()
	})
}
