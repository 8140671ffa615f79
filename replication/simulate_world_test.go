package replication

import "time"

// world is one shard of a simulation, and all of one that has no more: its stream, its lease and its nodes.
type world struct {
	*ground
	number uint32
	stream *simStream
	lease  *simRegister
	nodes  []*simNode // one for each machine
	check  checker

	trimmed time.Duration // when the front of the stream was dropped last; only where all shards are simulated
}

// newWorld returns the simulation of a cluster with one shard, or of one of several.
func newWorld(p plan) *world {
	g := newGround(p)
	g.keys = &simKeys{ground: g}
	w := g.newShard()
	for i := range p.nodes {
		w.nodes = append(w.nodes, newSimNode(w, newMachine(g, i)))
	}
	return w
}

// newShard adds a shard without nodes.
func (g *ground) newShard() *world {
	w := &world{ground: g, number: uint32(len(g.worlds))}
	w.stream, w.lease = &simStream{world: w}, &simRegister{world: w}
	w.check = newChecker(w)
	g.worlds = append(g.worlds, w)
	return w
}

// run lets the faults happen, then heals the world, and waits until all nodes are level with a leader.
func (w *world) run() {
	for _, n := range w.nodes {
		w.after(w.between(0, 500*time.Millisecond), n.start)
	}
	w.plan.begin(w)
	w.until(w.plan.length, func() bool { return false })
	w.heal()
	w.check.settled = w.now
	if !w.until(w.now+healTime, w.check.level) {
		w.check.fail("liveness", "%s after the last fault there is no leader that commits and whom all have reached: %s", healTime, w.describe())
	}
	w.check.finish()
	for _, n := range w.nodes {
		n.die()
	}
}

// healTime is how long after the last fault all nodes have to become level. It covers the wait of a node that has just started
// for one that has more, which is 90 s, a lease, the remaining time-outs of an election, and a checkpoint.
const healTime = 2 * time.Minute
