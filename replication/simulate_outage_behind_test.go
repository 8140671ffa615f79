package replication

import (
	"testing"
	"time"
)

// TestOutageBehindTheCopies: all copies of some shards have moved as checkpoints, and NATS loses more than what the checkpoints
// remember. No node leads such a shard with less than what was acknowledged, for however long all wait: not with an older copy,
// and not with none. Then the operator removes the stream of the shard, and starts the node with the most with
// --recreate-stream, and all is there.
func TestOutageBehindTheCopies(t *testing.T) {
	if seeds, made := tellOutages(t, outageBehindTheCopies, "a stream is made anew by an operator"); seeds > 1 && made == 0 {
		t.Errorf("no shard needed the operator in %d seeds", seeds)
	}
}

func outageBehindTheCopies(seed uint64) *ground {
	full := newShardsPlan(seed)
	p := plan{seed: seed, nodes: full.nodes, length: full.length, commitEvery: full.commitEvery, latest: full.latest, loud: *simLoud, several: full.several}
	p.shardsPlan = shardsPlan{shards: full.shards, copies: full.copies, ancestors: 1 + int(seed%8)}
	g := newCluster(p)
	for _, m := range g.machines {
		g.after(g.between(0, 500*time.Millisecond), m.launch)
	}
	g.until(g.between(20*time.Second, 40*time.Second), func() bool { return false })
	g.often(3*time.Second, func() {
		shard := uint32(1 + g.rng.IntN(p.shards-1))
		g.askPlaces(PlaceRequest{Verb: PlaceMove, Shard: shard, To: g.machines[g.rng.IntN(p.nodes)].name})
	})
	g.until(g.now+g.between(20*time.Second, 60*time.Second), func() bool { return false })
	g.outage(g.between(10*time.Second, g.now-10*time.Second), true) // the shards were founded within ten seconds
	g.healed = true
	for _, m := range g.machines {
		g.after(g.between(time.Second, 40*time.Second), m.launch)
	}
	g.until(g.now+3*time.Minute, func() bool { return false })
	for _, w := range g.worlds {
		if g.worlds[0].check.broken == "" && w.check.leader() == nil {
			w.makeAnew()
		}
	}
	g.settles()
	return g
}

// makeAnew is what an operator does for a shard without a leader after NATS has lost a part of its log: stops the node with the
// most, removes the stream, and starts the node with --recreate-stream.
func (w *world) makeAnew() {
	most := w.nodes[0]
	for _, n := range w.nodes {
		if n.local.Last().LSN > most.local.Last().LSN {
			most = n
		}
	}
	w.saw("a stream is made anew by an operator", uint64(w.number), uint64(most.index))
	most.machine.kill()
	w.stream.before, w.stream.messages = 0, nil
	w.stream.first = most.local.Last().LSN
	w.stream.era++
	for _, n := range w.nodes {
		if n.alive {
			n.node.first.Store(w.stream.first) // as whoever finds the stream anew
		}
	}
	most.recreates = true
	most.machine.launch()
	w.until(w.now+time.Minute, func() bool { return w.check.leader() != nil })
	most.recreates = false
}
