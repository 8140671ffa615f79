package placement

import (
	"errors"
	"fmt"
	"slices"
)

// CanDrain returns an error that says why a node cannot drain: there is no such node, it drains already, or the other nodes that
// are up and do not drain are too few to hold all copies of a shard.
func CanDrain(nodes []Node, shards []Shard, copies int, node string) error {
	p := newPlan(nodes, shards, copies)
	n := p.nodes[node]
	switch {
	case n == nil:
		return fmt.Errorf("there is no node %q; want one of %s", node, listOf(p.names))
	case n.Drains:
		return fmt.Errorf("node %s drains already", node)
	case !n.Up:
		return fmt.Errorf("node %s is not there, or has been for a moment only; if it does not come back, remove it", node)
	}
	others := 0
	for _, o := range p.nodes {
		if o.Name != node && o.isEligible() {
			others++
		}
	}
	for i := range p.shards {
		s := &p.shards[i]
		if s.holds(node) && others < min(copies, len(s.Copies)) {
			return fmt.Errorf("node %s cannot drain: shard %d would have %s, and is to have %d; add a node before", node, s.Number, copiesText(others), copies)
		}
	}
	if others == 0 {
		return fmt.Errorf("node %s cannot drain: it is the only one; add a node before", node)
	}
	return nil
}

// copiesText returns a number of copies in words.
func copiesText(n int) string {
	switch n {
	case 0:
		return "no copy"
	case 1:
		return "one copy"
	}
	return fmt.Sprintf("%d copies", n)
}

// CanRemove returns an error that says why a node cannot be taken out: there is no such node, it is there, or it has the only
// copy of a shard, or the only one that may be whole.
func CanRemove(nodes []Node, shards []Shard, node string) error {
	p := newPlan(nodes, shards, 0)
	n := p.nodes[node]
	switch {
	case n == nil:
		return fmt.Errorf("there is no node %q; want one of %s", node, listOf(p.names))
	case n.Up:
		return fmt.Errorf("node %s is there: drain it, and stop its process before it is removed", node)
	}
	for i := range p.shards {
		switch s := &p.shards[i]; {
		case !slices.Contains(s.Copies, node):
		case len(s.Copies) == 1:
			return fmt.Errorf("node %s has the only copy of shard %d: start it again, and wait until another node has a copy", node, s.Number)
		case !s.hasOther(node):
			return fmt.Errorf("node %s may have the only whole copy of shard %d, because no other node leads it or could: start the others, and wait until one leads", node, s.Number)
		}
	}
	return nil
}

// BusyError says why a node cannot receive a copy of a shard now, though it may soon: another move has to end
// before.
type BusyError struct{ text string }

// Error implements error.
func (e *BusyError) Error() string { return e.text }

func busyf(format string, args ...any) error { return &BusyError{fmt.Sprintf(format, args...)} }

// hasOther reports whether another node than one is known to have a whole copy.
func (s *Shard) hasOther(than string) bool {
	return slices.ContainsFunc(s.Copies, func(name string) bool {
		return name != than && (name == s.Leader || slices.Contains(s.Level, name))
	})
}

// CanMove judges an operator's wish that a node is to hold a shard, and returns the move. The copy that goes is that of a node
// that drains or shares a zone with the new one, if there is one, and else the leader's; none goes if there are too few. The
// error says that there is no such shard or node, that the node is not there or drains, or that it has a copy already; a
// [BusyError], that another move is under way.
func CanMove(nodes []Node, shards []Shard, copies int, shard uint32, to string) (m Move, err error) {
	p := newPlan(nodes, shards, copies)
	i := slices.IndexFunc(p.shards, func(s Shard) bool { return s.Number == shard })
	n := p.nodes[to]
	if i < 0 {
		return m, fmt.Errorf("there is no shard %d whose copies move; those are 1 to %d", shard, len(shards))
	}
	s := &p.shards[i]
	switch {
	case n == nil:
		return m, fmt.Errorf("there is no node %q; want one of %s", to, listOf(p.names))
	case slices.Contains(s.Copies, to):
		return m, fmt.Errorf("node %s has a copy of shard %d already", to, shard)
	case !n.Up:
		return m, fmt.Errorf("node %s is not there, or has been for a moment only", to)
	case n.Drains:
		return m, fmt.Errorf("node %s drains: let it have its share again before", to)
	case s.moves():
		return m, busyf("another move of shard %d is under way: to node %s", shard, s.Joins)
	case len(s.Copies) == 0:
		return m, errors.New("no node is known to have the shard")
	case s.Leader == "":
		return m, fmt.Errorf("shard %d has no leader that answers, from which the node could receive it", shard)
	case p.in[to]:
		return m, busyf("node %s receives a copy of another shard at the moment; ask again when it has it", to)
	}
	m = Move{Shard: shard, To: to}
	if len(s.Copies) >= copies {
		m.From = p.goes(s, n)
	}
	if p.out[m.From] {
		return m, busyf("node %s gives up a copy of another shard at the moment; ask again when that has moved", m.From)
	}
	return m, nil
}

// goes returns the node whose copy goes when another one receives a copy because an operator wants it.
func (p *plan) goes(s *Shard, to *Node) string {
	for _, is := range []func(n *Node) bool{
		func(n *Node) bool { return n.Drains },
		func(n *Node) bool { return n.Zone != "" && n.Zone == to.Zone },
		func(n *Node) bool { return n.Name == s.Leader },
		func(n *Node) bool { return true },
	} {
		for _, name := range s.Copies {
			if is(p.node(name)) {
				return name
			}
		}
	}
	return ""
}

// listOf returns names as text.
func listOf(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}
