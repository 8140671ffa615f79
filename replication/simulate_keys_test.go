package replication

import (
	"context"
	"slices"
	"testing"
	"time"
)

// newHostLease returns the lease of a process of which only the first shard is simulated.
func (n *simNode) newHostLease(o *Options) *hostLease {
	n.fed = n.world.keys.begin
	return newHostLease(o, testCluster, keysOfNode{n.world.keys, n.machine}, nil, func(string, error) {})
}

// feedLedger lets the ledger see, while a request of a member is under way, what the watch of the host has received. The
// member learns of it later, as in a process, where both have goroutines of their own.
func (m *machine) feedLedger() {
	if m.lease == nil || m.ground.rng.IntN(2) == 0 {
		return
	}
	for m.nextKey() {
		m.ground.counts["the ledger saw more during a request"]++
	}
}

// nextKey passes the next state of a key that has reached this machine on; it returns false if there is none.
func (m *machine) nextKey() bool {
	k := m.ground.keys
	if m.linked && len(m.first) > 0 {
		m.sees(m.first[0])
		m.first = m.first[1:]
		return true
	}
	if !m.linked || m.fed >= len(k.log) || k.log[m.fed].since > k.now-m.watchDelay-m.lag {
		return false
	}
	s := k.log[m.fed].keyState
	isHidden := k.deaf && s.revision == 0 || k.mute && s.revision <= m.shown
	if m.fed++; !isHidden {
		m.sees(s)
	}
	return true
}

func (m *machine) sees(s keyState) {
	m.shown = max(m.shown, s.revision)
	_ = m.lease.ledger.see(s)
	if m.lease.places != nil {
		_ = m.lease.places.see(s)
	}
}

// watchKeys passes on the states of the keys that have reached this machine, until see returns that it needs no more.
func (n *simNode) watchKeys(see func(leaseSeen) (enough bool)) {
	for more := true; more; more = n.nextKey() { // first what the ledger saw during a request
		select {
		case <-n.lease.ledger.shards[n.world.number].news:
			if see(n.lease.ledger.lease(n.world.number)) {
				return
			}
		default:
		}
	}
}

// renewKeys is [hostLease.renewAll] for the one shard of this node, until ctx ends.
func (n *simNode) renewKeys(ctx context.Context) {
	n.lease.add(n.node)
	defer n.lease.remove(n.node)
	for l := newRenewals(n.machine); ; {
		l.wait(func() bool { return ctx.Err() != nil })
		if ctx.Err() != nil {
			return
		}
		ends := n.boot() + n.node.leadership.left(n.boot())
		err := n.lease.renewDue(ctx)
		if ctx.Err() != nil && n.launches { // and not because it hands over
			n.deposedAt(ends)
		}
		if ctx.Err() != nil {
			return
		}
		l.renewed(err)
	}
}

// deposedAt notes that a renewal has ended a leadership whose lease would last until an instant.
func (n *simNode) deposedAt(ends time.Duration) {
	n.world.saw("deposed by the lease", uint64(n.index))
	own := n.node.leadership.value
	if v, err := decodeNode(n.world.keys.asOfKey(keyOfNode(n.name), n.world.now).value); err == nil && v.Process == own.Process && v.Epoch == own.Epoch {
		n.world.check.deposed(n, ends)
	}
}

// TestSimulationOfSeveral runs clusters with several shards, of which it simulates one: the nodes hold leases of nodes,
// and an epoch ends at any moment, as when another node takes another shard.
func TestSimulationOfSeveral(t *testing.T) {
	seeds := *simSeeds
	if testing.Short() {
		seeds = 30
	}
	runSimulations(t, "TestSimulationOfSeveral", seeds, sometimesOfSeveral(), simulateSeveral)
}

// sometimesOfSeveral returns the events of sometimes but one that is too rare here, once in seventy seeds: a leader that stood
// still finds that its lease is over before it hears of it by the log.
func sometimesOfSeveral() []string {
	return slices.DeleteFunc(slices.Clone(sometimes), func(what string) bool { return what == "deposed after a pause" })
}

func simulateSeveral(seed uint64) *world {
	p := newPlan(seed)
	p.loud, p.several, p.ends = *simLoud, true, time.Duration(5+seed%40)*time.Second
	w := newWorld(p)
	w.run()
	return w
}
