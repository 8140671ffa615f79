package replication

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// installed is the release of a node, and what it has heard of the others.
type installed struct {
	rows    byte         // newest version of rows that the node's release reads
	heardOf map[int]byte // what the beats said that have arrived since this node leads, by the index of the sender
	notedAt time.Duration
}

// install begins a process, at times with another release than the one before it.
func (n *simNode) install() {
	if n.rows == 0 || n.world.chance(n.world.plan.roll) {
		n.rows = byte(3 + n.world.seeded(n.index, n.life)%4)
		n.world.saw("another release", uint64(n.index), uint64(n.rows))
	}
	n.heardOf = make(map[int]byte)
}

// seeded returns a number that depends on the seed alone, so that worlds without rolls take none from the others.
func (w *world) seeded(a, b int) uint64 {
	if w.plan.roll == 0 {
		return 2
	}
	return (w.plan.seed*31+uint64(a))*131 + uint64(b)*7919
}

// noteOf is a commit that notes what a node reads.
func noteOf(r Reader) []byte { return fmt.Appendf(nil, "reads %s %d", r.Node, r.Rows) }

// noted is what a store has of the notes.
type noted struct {
	table map[string]byte
	upto  uint64 // LSN of the newest commit that is in the table
}

// take adds a commit to the table.
func (t *noted) take(lsn uint64, payload []byte) {
	var name string
	var rows byte
	if n, _ := fmt.Sscanf(string(payload), "reads %s %d", &name, &rows); n == 2 {
		if t.table = maps.Clone(t.table); t.table == nil {
			t.table = make(map[string]byte)
		}
		if t.table[name] = rows; rows == 0 {
			delete(t.table, name)
		}
	}
	t.upto = lsn
}

// nextNote returns what the leader has to note, at most once a second as in the product; nil if nothing.
func (n *simNode) nextNote() *Reader {
	if n.world.now-n.notedAt < time.Second {
		return nil
	}
	n.notedAt = n.world.now
	for _, r := range n.node.Unnoted(n.local.notes.table) {
		return &r
	}
	return nil
}

// writes is called with each leader that writes a commit. No node may be unable to read it that a leader has noted, or
// that this one has heard since it leads.
func (c *checker) writes(n *simNode) {
	if c.plan.mode == lossy || c.plan.mode == regrowing {
		return // notes are lost there, as other commits are
	}
	if slices.ContainsFunc(c.nodes, func(o *simNode) bool { return o.local.Last().Epoch > n.local.Last().Epoch }) {
		return // it learns only now that the log took a commit before another node led: who read what is of that time
	}
	most, _ := n.node.RowsMax(n.local.notes.table)
	for _, other := range c.nodes {
		reads, heard := n.heardOf[other.index]
		if !heard {
			reads = c.noted.table[other.name]
		}
		if other != n && reads != 0 && reads < most {
			c.fail("rows", "%s writes rows of version %d, and %s reads up to %d", n.name, most, other.name, reads)
		}
	}
	if most < n.rows {
		c.saw("writes older rows", uint64(n.index), uint64(most))
	}
}

// readable reports whether a leader writes the newest rows that all nodes read, and the log says what each of them reads.
func (c *checker) readable(leader *simNode) bool {
	want := leader.rows
	for _, n := range c.nodes {
		if want = min(want, n.rows); leader.local.notes.table[n.name] != n.rows {
			return false
		}
	}
	most, _ := leader.node.RowsMax(leader.local.notes.table)
	return most == want
}
