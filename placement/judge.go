package placement

import (
	"errors"
	"fmt"
	"slices"
)

// Each judgement here goes by what is known now. A request that can become right by itself is refused with a [BusyError]; any
// other error stays until an operator asks for something else, or changes the cluster.

// BusyError says why a request about the places of shards cannot be carried out now, though it may be soon and by itself: another
// move has to end before, a node has come a moment ago, or a shard is about to get a leader.
type BusyError struct{ text string }

// Error implements error.
func (e *BusyError) Error() string { return e.text }

func busyf(format string, args ...any) error { return &BusyError{fmt.Sprintf(format, args...)} }

// justCame refuses a request about a node that is heard, and not yet for long enough to be up.
func justCame(node string) error {
	return busyf("node %s has been there for a moment only; ask again in a few seconds", node)
}

// CanDrain returns an error that says why a node cannot drain: there is no such node, it is not there, it drains already, or the
// other nodes that are up and do not drain are too few to hold all copies of a shard. If only the time for which nodes have been
// there is too short, it is a [BusyError].
func CanDrain(nodes []Node, shards []Shard, copies int, node string) error {
	p := newPlan(nodes, shards, copies)
	n := p.nodes[node]
	switch {
	case n == nil:
		return fmt.Errorf("there is no node %q; want one of %s", node, listOf(p.names))
	case n.Drains:
		return fmt.Errorf("node %s drains already", node)
	case n.Comes:
		return justCame(node)
	case !n.Up:
		return fmt.Errorf("node %s is not there; if it does not come back, remove it", node)
	}
	others, soon := p.others(node)
	for i := range p.shards {
		s := &p.shards[i]
		switch need := min(copies, len(s.Copies)); {
		case !s.holds(node) || others >= need:
		case soon >= need:
			return busyf("node %s cannot drain yet: shard %d would have %s, and is to have %d; other nodes have just come, so ask again in a few seconds", node, s.Number, copiesText(others), copies)
		default:
			return fmt.Errorf("node %s cannot drain: shard %d would have %s, and is to have %d; add a node before", node, s.Number, copiesText(others), copies)
		}
	}
	switch {
	case others > 0:
		return nil
	case soon > 0:
		return busyf("node %s cannot drain yet: the other nodes have just come; ask again in a few seconds", node)
	}
	return fmt.Errorf("node %s cannot drain: it is the only one; add a node before", node)
}

// others returns how many nodes besides one may receive copies now, and how many will when those that have just come are up.
func (p *plan) others(than string) (now, soon int) {
	for _, o := range p.nodes {
		switch {
		case o.Name == than || o.Drains:
		case o.Up:
			now, soon = now+1, soon+1
		case o.Comes:
			soon++
		}
	}
	return now, soon
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

// ErrNoNode says that no node of a name is known.
var ErrNoNode = errors.New("there is no node")

// CanRemove returns an error that says why a node cannot be taken out: there is no such node, it is there, or it has the only
// copy of a shard, or the only one that may be whole. It is a [BusyError] if another node that has the shard is there, and so is
// about to lead it, or to follow; and if the node drains, or there are no shards that it could hold, and the node is there: it is
// to end, and is heard for a moment longer.
func CanRemove(nodes []Node, shards []Shard, node string) error {
	p := newPlan(nodes, shards, 0)
	n := p.nodes[node]
	switch {
	case n == nil:
		return fmt.Errorf("%w %q; want one of %s", ErrNoNode, node, listOf(p.names))
	case n.isThere() && (n.Drains || len(shards) == 0):
		return busyf("node %s is there, or was a moment ago: stop its process, and ask again", node)
	case n.isThere():
		return fmt.Errorf("node %s is there: drain it, and stop its process before it is removed", node)
	}
	for i := range p.shards {
		switch s := &p.shards[i]; {
		case !slices.Contains(s.Copies, node):
		case len(s.Copies) == 1:
			return fmt.Errorf("node %s has the only copy of shard %d: start it again, and wait until another node has a copy", node, s.Number)
		case s.hasOther(node):
		case p.isOn(s, node):
			return busyf("node %s may have the only whole copy of shard %d, because no other node leads it or could; ask again when one leads", node, s.Number)
		default:
			return fmt.Errorf("node %s may have the only whole copy of shard %d, because no other node leads it or could: start the others, and wait until one leads", node, s.Number)
		}
	}
	return nil
}

// isOn reports whether a node other than one has a copy of a shard, as the places have it, and is there.
func (p *plan) isOn(s *Shard, than string) bool {
	return slices.ContainsFunc(s.Copies, func(name string) bool { return name != than && p.node(name).isThere() })
}

// hasOther reports whether another node than one is known to have a whole copy.
func (s *Shard) hasOther(than string) bool {
	return slices.ContainsFunc(s.Copies, func(name string) bool {
		return name != than && (name == s.Leader || slices.Contains(s.Level, name))
	})
}

// CanMove judges an operator's wish that a node is to hold a shard, and returns the move. The copy that goes is that of a node
// that drains or shares a zone with the new one, if there is one, and else the leader's; none goes if there are too few. The
// error says that there is no such shard or node, that the node is not there or drains, that it has a copy already, or that no
// node is there that could lead the shard; a [BusyError], that another move is under way, that the node has just come, or that
// the shard has no leader yet.
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
	case s.Leaves == to:
		return m, busyf("node %s gives its copy of shard %d up; ask again when it has", to, shard)
	case slices.Contains(s.Copies, to):
		return m, fmt.Errorf("node %s has a copy of shard %d already", to, shard)
	case n.Drains:
		return m, fmt.Errorf("node %s drains: let it have its share again before", to)
	case n.Comes:
		return m, justCame(to)
	case !n.Up:
		return m, fmt.Errorf("node %s is not there", to)
	case s.moves():
		return m, busyf("another move of shard %d is under way: to node %s", shard, s.Joins)
	}
	if err := p.canCopy(s); err != nil {
		return m, err
	}
	if p.in[to] {
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

// canCopy returns an error if a node cannot receive a copy of a shard now, because none leads it.
func (p *plan) canCopy(s *Shard) error {
	switch {
	case s.Leader != "" && len(s.Copies) > 0:
		return nil
	case s.Leader != "":
		return busyf("the place of shard %d is not known yet; ask again in a few seconds", s.Number)
	case len(s.Copies) == 0:
		return fmt.Errorf("no node is known to have shard %d", s.Number)
	case p.isOn(s, ""):
		return busyf("shard %d has no leader that answers, from which the node could receive it; ask again when it has one", s.Number)
	}
	return fmt.Errorf("shard %d has no leader from which the node could receive it, and no node that has it is there: start one of %s", s.Number, listOf(s.Copies))
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
