package replication

import (
	"maps"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// installed is the release of a node, and what its beats have shown to it of the releases of the others. It is the
// simulation's own account, made from what really arrived, to judge [Node.RowsMax] by.
type installed struct {
	rows    byte // newest version of rows that the node's release reads
	rolled  time.Duration
	heardOf map[int]lastHeard // by the index of the node; of this process
	keptOf  map[int]lastHeard // on its disk
}

type lastHeard struct {
	rows byte
	at   time.Duration
}

// rollEvery is the shortest time between two changes of a node's release. What a node keeps may be a minute old, so
// that it does not tell changes that follow each other faster.
const rollEvery = 61 * time.Second

// install begins a process, at times with another release than the one before it.
func (n *simNode) install() {
	if n.rows == 0 {
		n.rows, n.rolled = 5, -rollEvery
	}
	if n.world.now-n.rolled > rollEvery && n.world.chance(n.world.plan.roll) {
		n.rows, n.rolled = byte(3+n.world.rng.IntN(4)), n.world.now
		n.world.saw("another release", uint64(n.index), uint64(n.rows))
	}
	n.heardOf = maps.Clone(n.keptOf)
	if n.heardOf == nil {
		n.heardOf = make(map[int]lastHeard)
	}
}

// wall is the wall clock of the machine.
func (n *simNode) wall() instant.Millis {
	return instant.Of(time.UnixMilli(1e12).Add(n.world.now + time.Duration(n.index)*300*time.Millisecond))
}

// hears records that a beat of another node has arrived.
func (n *simNode) hears(from *simNode) {
	n.heardOf[from.index] = lastHeard{from.rows, n.world.now}
	for other, h := range from.heardOf {
		if other != n.index && h.at > n.heardOf[other].at {
			n.heardOf[other] = h
		}
	}
}

// writes is called with each leader that writes a commit: no node that it knows to be about may be unable to read it.
func (c *checker) writes(n *simNode) {
	most, _ := n.node.RowsMax()
	for other, h := range n.heardOf {
		if h.rows < most {
			c.fail("rows", "%s writes rows of version %d, and %s was heard at %s to read up to %d", n.name, most, c.nodes[other].name, h.at, h.rows)
		}
	}
	if most < n.rows {
		c.saw("writes older rows", uint64(n.index), uint64(most))
	}
}

// readable reports whether a leader writes the newest rows that all nodes read, and no older ones for any longer.
func (c *checker) readable(leader *simNode) bool {
	most, want := byte(0), leader.rows
	for _, n := range c.nodes {
		want = min(want, n.rows)
	}
	most, _ = leader.node.RowsMax()
	return most == want
}
