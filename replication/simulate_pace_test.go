package replication

import (
	"context"
	"time"
)

// When the loops of a process look again by themselves is the product's decision, and so is what they do at each event. The
// simulation only lets the events come, up to eventEvery late, and requires that no loop sleeps while it has something to do.

// eventEvery is the time between two looks of the simulation at the events of a loop.
const eventEvery = checkEvery

// nextTick returns when a loop of this machine wakes that is to look at the next whole period of the clock.
func (m *machine) nextTick(period time.Duration) time.Duration {
	return m.boot() + untilTickAt(m.wall(), period)
}

// wall is the wall clock of the machine.
func (m *machine) wall() time.Time { return time.Unix(0, int64(m.boot())) }

// sleepUntil suspends the running task until an instant of the machine's clock, and for eventEvery at most.
func (m *machine) sleepUntil(t time.Duration) {
	m.ground.sleep(max(time.Microsecond, min(eventEvery, t-m.boot())))
}

// run is [tailSession.run].
func (n *simNode) run(ctx context.Context, f *tailSession) (reason string, err error) {
	f.tick = func(period time.Duration) { n.looks = n.nextTick(period) }
	for f.tick(checkEvery); reason == "" && err == nil; {
		n.sleepUntil(n.looks)
		if n.ends {
			return "", nil
		}
		if err = n.hearsConsumer(ctx, f); err != nil {
			return "", err
		}
		if reason = n.hear(ctx, f); reason != "" {
			return reason, nil
		}
		n.unfit = 0
		if n.boot() < n.looks {
			n.world.check.rests(n, f)
			continue
		}
		begun, paused := n.world.now, n.paused
		reason, err = f.look(ctx)
		n.world.check.attended(n, n.world.now-begun-(n.paused-paused))
	}
	return reason, err
}

// hear passes on what a follower hears. It returns the reason for which the node has taken the lease; "" if it has not.
func (n *simNode) hear(ctx context.Context, f *tailSession) (reason string) {
	n.watch(func(l leaseSeen) bool {
		reason = f.hearsLease(ctx, l)
		return reason != ""
	})
	for reason == "" && len(n.node.answers) > 0 {
		f.hearsAnswer(ctx, <-n.node.answers)
	}
	return reason
}

// hearAsLeader passes on what a leader hears, as [Node.serve] does.
func (n *simNode) hearAsLeader() {
	n.watch(func(l leaseSeen) bool {
		n.node.sawLease(l)
		n.node.publishStatus(RoleLeader)
		return false
	})
	for len(n.node.answers) > 0 {
		<-n.node.answers
	}
}

// rests is called with a follower that has nothing to do, as it thinks. While its next look is further away than checkEvery, that must be so.
func (c *checker) rests(n *simNode, f *tailSession) {
	now := n.boot()
	if n.looks-now <= checkEvery {
		return
	}
	c.counts["calm"]++
	leader, ok := n.node.peers.leader(now)
	switch reason := n.node.reasonNow(now); {
	case reason != "":
		c.fail("wakes", "%s sleeps for %s more, and could take the lease: %s", n.name, n.looks-now, reason)
	case f.direct, ok && leader.published() > n.node.writer.at.LSN && now-n.node.progress >= stuckAfter:
		c.fail("wakes", "%s sleeps for %s more, and is to read the stream directly: it has %d, the leader %d", n.name, n.looks-now, n.node.writer.at.LSN, leader.published())
	}
}

// notedClaims notes the reason of each claim for the checks.
type notedClaims struct {
	register
	node *simNode
}

func (r notedClaims) claim(ctx context.Context, v *leaseValue, seen leaseValue, revision uint64) (uint64, error) {
	r.node.reason = r.node.node.reasonNow(r.node.boot())
	return r.register.claim(ctx, v, seen, revision)
}

// renewals is the loop of [hostLease.renewAll] on a machine.
type renewals struct {
	*machine
	looks time.Duration // when it looks again by itself, on the clock of the machine
}

func newRenewals(m *machine) *renewals { return &renewals{m, m.nextTick(dueEvery)} }

// wait waits until the loop is to look, or until it is over.
func (l *renewals) wait(over func() bool) {
	for !over() {
		l.sleepUntil(l.looks)
		select {
		case <-l.lease.news:
			return
		default:
		}
		if l.boot() >= l.looks {
			return
		}
		l.rests()
	}
}

// renewed sets the time of the next look.
func (l *renewals) renewed(err error) { l.looks = l.boot() + l.lease.untilLook(err != nil, l.wall()) }

// noticedMost is how long a process may not notice, at most, that another node has taken one of its leases.
const noticedMost = 300 * time.Millisecond

// rests requires that no lease is due, and that none was taken by another node, while the next look is further away than the product
// promises.
func (l *renewals) rests() {
	now := l.boot()
	for _, n := range l.lease.leading() {
		switch left := l.looks - now; {
		case left > dueEvery && n.leadership.due(now):
			l.ground.fail("wakes", "%s sleeps for %s more, and its lease of shard %d is due", l.name, left, n.opts.Shard)
		case left > noticedMost && l.lease.ledger.tookOver(n):
			l.ground.fail("wakes", "%s sleeps for %s more, and another node has shard %d", l.name, left, n.opts.Shard)
		}
	}
}
