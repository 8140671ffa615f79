package replication

import (
	"testing"
	"time"
)

// NATS comes back as it was before a takeover, when the node that led then wakes, or is heard again, as a leader that has not heard of
// the takeover. What NATS shows is its own lease, and its own log. It does not launch beside the node that has led since, and nothing
// that either has acknowledged is lost. In half of the stories NATS was away for long, so that nobody may launch when it comes back.
func TestNATSGoesBackForADeposedLeader(t *testing.T) {
	for what, strike := range map[string]func(*simNode){
		"stood still": func(n *simNode) { n.pause(time.Hour) },
		"was cut off": func(n *simNode) { n.linked, n.muted = false, true },
	} {
		t.Run(what, func(t *testing.T) {
			tell(t, []int{2, 3}, func(s *story) {
				first, _ := s.led()
				begun := s.now
				strike(first)
				s.live(s.between(2*time.Second, 20*time.Second))
				off := s.off()
				s.stream.offTill, s.bucket.offTill = s.now+off, s.now+off
				s.live(off)
				s.fallBack(s.now - begun + s.between(0, time.Second))
				s.live(s.between(0, 500*time.Millisecond))
				first.goesOn()
				s.live(40 * time.Second)
				s.check.since, s.healed = 0, true
				s.live(20 * time.Second)
				s.settled()
			})
		})
	}
}

// The same, and the nodes that have led since are cut off just when the former leader is back, so that nobody tells it of them. It waits
// as long as a lease for the nodes that it knew.
func TestNATSGoesBackForADeposedLeaderAlone(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		leader, _ := s.led()
		s.goBackForOne(leader, func() { leader.linked, leader.muted = false, true })
	})
}

// The same with any node, also with one that stood still.
func TestNATSGoesBackForANodeAlone(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		alone := s.nodes[s.rng.IntN(len(s.nodes))]
		s.goBackForOne(alone, func() { s.strike(alone.machine) })
	})
}

// goBackForOne makes NATS what it was before a node was struck, and cuts off all that have led since, just before that node goes on.
func (s *story) goBackForOne(alone *simNode, strike func()) {
	begun := s.now
	strike()
	s.live(s.between(4*time.Second, 20*time.Second))
	off := s.between(10*time.Millisecond, 100*time.Millisecond)
	s.stream.offTill, s.bucket.offTill = s.now+off, s.now+off
	s.live(off)
	s.fallBack(s.now - begun + s.between(0, time.Second))
	var later []*simNode // who led since
	for _, n := range s.nodes {
		if n != alone && n.leading {
			n.linked, n.muted, later = false, true, append(later, n)
		}
	}
	s.live(s.between(0, 500*time.Millisecond))
	alone.goesOn()
	s.live(s.between(2*time.Second, 12*time.Second))
	for _, n := range later {
		n.goesOn()
	}
	s.live(40 * time.Second)
	s.check.since, s.healed = 0, true
	s.live(20 * time.Second)
	s.settled(alone)
}

// strike lets a machine stand still, or cuts it off, until it goes on.
func (g *ground) strike(m *machine) {
	if g.rng.IntN(2) == 0 {
		m.suspend(time.Hour)
	} else {
		m.linked, m.muted = false, true
	}
}

// goesOn ends what has struck a machine.
func (m *machine) goesOn() {
	m.wakeNow()
	m.linked, m.muted = true, false
}

// The same with several shards, whose leases a node renews with one write. All shards are where they belong in the end.
func TestNATSGoesBackForADeposedHost(t *testing.T) {
	tellOutages(t, func(seed uint64) *ground {
		g, _ := calmCluster(seed)
		g.goBackFor(g.machines[g.rng.IntN(len(g.machines))], func(*machine) bool { return false })
		g.healed = true
		g.settles()
		return g
	}, "")
}

// The same with several shards, and the other machines, or some of them, are cut off just when the struck one is back.
func TestNATSGoesBackForADeposedHostAlone(t *testing.T) {
	tellOutages(t, func(seed uint64) *ground {
		g, _ := calmCluster(seed)
		alone, all := g.machines[g.rng.IntN(len(g.machines))], g.rng.IntN(2) == 0
		g.goBackFor(alone, func(m *machine) bool { return m != alone && (all || g.rng.IntN(2) == 0) })
		g.healed = true
		g.settles()
		return g
	}, "")
}

// off returns how long NATS is away before it comes back as it was: half of the times so short that nobody notices.
func (g *ground) off() time.Duration {
	if g.rng.IntN(2) == 0 {
		return g.between(10*time.Millisecond, 100*time.Millisecond)
	}
	return g.between(time.Second, 20*time.Second)
}

// goBackFor makes NATS what it was before a machine was struck, just before that machine goes on. Some machines are cut off for the
// next seconds.
func (g *ground) goBackFor(m *machine, cutOff func(*machine) bool) {
	begun, pass := g.now, func(d time.Duration) { g.until(g.now+d, func() bool { return false }) }
	g.strike(m)
	pass(g.between(2*time.Second, 20*time.Second))
	back := g.now + g.off()
	g.bucket.offTill = back
	for _, w := range g.worlds {
		w.stream.offTill = back
	}
	pass(back - g.now)
	g.fallBack(begun - g.between(0, time.Second))
	for _, other := range g.machines {
		if cutOff(other) {
			other.part(g.between(2*time.Second, 14*time.Second))
		}
	}
	pass(g.between(0, 500*time.Millisecond))
	m.goesOn()
}
