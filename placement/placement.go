package placement

import (
	"maps"
	"slices"
)

// Node is a node as the planner sees it.
type Node struct {
	Name   string
	Weight uint32 // capacity, relative to that of the others; 0 counts as 1
	Zone   string // copies of a shard are kept in different zones where that can be; "": in none
	Up     bool   // it is heard, and has been for long enough
	Comes  bool   // it is heard, and not yet for long enough to be up
	Drains bool   // it is to hold and lead nothing
}

// Shard is where the copies of a shard are.
type Shard struct {
	Number uint32
	Copies []string // nodes that hold a whole copy, or did when they were last heard
	Joins  string   // node that receives a copy at present; "" if none does
	Leaves string   // one of Copies, which gives its copy up when the one that joins has all; "" if none does
	Leader string   // node that leads it at present; "" if none is known to
	Level  []string // nodes that could lead it at once
	Pinned bool     // an operator has placed it: it is not moved for balance
}

// Move lets the node To receive a copy of a shard. With From, the copy of that node goes afterwards; without, the shard has too
// few copies. If To is "", the copy of From goes, because there are too many.
type Move struct {
	Shard    uint32
	From, To string
}

// weight returns the weight of a node, at least 1.
func (n *Node) weight() int { return max(1, int(n.Weight)) }

// isThere reports whether a node is heard.
func (n *Node) isThere() bool { return n.Up || n.Comes }

// isEligible reports whether a node may receive copies.
func (n *Node) isEligible() bool { return n.Up && !n.Drains }

// plan is what the planner knows while it plans.
type plan struct {
	nodes  map[string]*Node
	names  []string // of the nodes, sorted
	shards []Shard
	copies int            // that each shard is to have
	load   map[string]int // copies of each node, with those that it receives and without those that it gives up
	in     map[string]bool
	out    map[string]bool // nodes that receive or give up a copy
}

func newPlan(nodes []Node, shards []Shard, copies int) *plan {
	p := &plan{nodes: make(map[string]*Node), shards: slices.Clone(shards), copies: copies, load: make(map[string]int), in: make(map[string]bool), out: make(map[string]bool)}
	for i := range nodes {
		p.nodes[nodes[i].Name] = &nodes[i]
	}
	p.names = slices.Sorted(maps.Keys(p.nodes))
	for i := range p.shards {
		s := &p.shards[i]
		for _, name := range s.Copies {
			p.load[name]++
		}
		if s.Joins != "" {
			p.load[s.Joins]++
			p.in[s.Joins] = true
		}
		if s.Leaves != "" {
			p.load[s.Leaves]--
			p.out[s.Leaves] = true
		}
	}
	return p
}

// node returns a node; one that is not among the known ones is not up.
func (p *plan) node(name string) *Node {
	if n := p.nodes[name]; n != nil {
		return n
	}
	return &Node{Name: name}
}

// holds reports whether a node holds or receives a copy of a shard.
func (s *Shard) holds(name string) bool { return s.Joins == name || slices.Contains(s.Copies, name) }

// moves reports whether a copy of the shard moves at present.
func (s *Shard) moves() bool { return s.Joins != "" || s.Leaves != "" }
