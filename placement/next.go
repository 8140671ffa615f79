package placement

import "slices"

// Next returns the moves of copies that may begin now, so that each shard has so many copies on nodes that are up and do not
// drain, in different zones where that can be, and each node holds its share by its weight. No node receives more than one copy
// at a time, and none gives up more than one; moves under way count. Next never moves a copy away from a node that is not up,
// because that node may come back: an operator removes it. While such a node holds copies nothing is moved for zones and
// balance.
//
// The moves are those of the first rule that needs one, for each node and shard: too few copies, copies on nodes that drain, too
// many, two copies in one zone, balance.
func Next(nodes []Node, shards []Shard, copies int) (moves []Move) {
	p := newPlan(nodes, shards, copies)
	for _, rule := range []func(*plan, *Shard) (Move, bool){(*plan).add, (*plan).drain, (*plan).trim} {
		for i := range p.shards {
			moves = p.try(moves, &p.shards[i], rule)
		}
	}
	if p.misses() {
		return moves
	}
	for i := range p.shards {
		moves = p.try(moves, &p.shards[i], (*plan).separate)
	}
	for {
		m, ok := p.balance()
		if !ok {
			return moves
		}
		moves = append(moves, m)
	}
}

// try applies a rule to a shard of which nothing moves.
func (p *plan) try(moves []Move, s *Shard, rule func(*plan, *Shard) (Move, bool)) []Move {
	if s.moves() {
		return moves
	}
	if m, ok := rule(p, s); ok {
		p.begin(s, m)
		moves = append(moves, m)
	}
	return moves
}

// begin notes that a move is under way.
func (p *plan) begin(s *Shard, m Move) {
	if s.Joins, s.Leaves = m.To, m.From; m.To != "" {
		p.load[m.To]++
		p.in[m.To] = true
	}
	if m.From != "" {
		p.load[m.From]--
		p.out[m.From] = true
	}
}

// misses reports whether a node that holds copies is not up.
func (p *plan) misses() bool {
	for i := range p.shards {
		for _, name := range p.shards[i].Copies {
			if !p.node(name).Up {
				return true
			}
		}
	}
	return false
}

// wanted returns how many copies a shard can have.
func (p *plan) wanted() int {
	eligible := 0
	for _, n := range p.nodes {
		if n.isEligible() {
			eligible++
		}
	}
	return min(p.copies, eligible)
}

// add gives a shard that has too few copies another one. A copy on a node that drains counts until it has moved. Of a shard that
// no node is known to have there is nothing to copy.
func (p *plan) add(s *Shard) (m Move, ok bool) {
	if len(s.Copies) == 0 || len(s.Copies) >= p.wanted() {
		return m, false
	}
	to := p.best(s, "", false)
	return Move{Shard: s.Number, To: to}, to != ""
}

// drain moves a copy away from a node that drains.
func (p *plan) drain(s *Shard) (m Move, ok bool) {
	for _, name := range s.Copies {
		if n := p.node(name); n.Up && n.Drains && !p.out[name] {
			if to := p.best(s, name, false); to != "" {
				return Move{s.Number, name, to}, true
			}
		}
	}
	return m, false
}

// trim takes a copy away from a shard that has too many: that of the node with the greatest load, and not the leader's. So many
// as wanted remain on nodes that are up.
func (p *plan) trim(s *Shard) (m Move, ok bool) {
	up := 0
	for _, name := range s.Copies {
		if p.node(name).Up {
			up++
		}
	}
	if up <= p.copies {
		return m, false
	}
	for _, name := range s.Copies {
		n := p.node(name)
		if !n.Up || name == s.Leader || p.out[name] {
			continue
		}
		if !ok || n.Drains && !p.node(m.From).Drains || p.isHeavier(name, m.From) && n.Drains == p.node(m.From).Drains {
			m, ok = Move{Shard: s.Number, From: name}, true
		}
	}
	return m, ok
}

// separate moves a copy out of a zone in which the shard has another one.
func (p *plan) separate(s *Shard) (m Move, ok bool) {
	for _, name := range s.Copies {
		if p.out[name] || p.clashes(s, p.node(name), name) == 0 {
			continue
		}
		if to := p.best(s, name, true); to != "" && (!ok || p.isHeavier(name, m.From)) {
			m, ok = Move{s.Number, name, to}, true
		}
	}
	return m, ok
}

// balance finds the move that brings a copy from a node with a greater load to one with a smaller one, and notes it: from the
// heaviest node, to the lightest, of the shard that suits the other node best.
func (p *plan) balance() (m Move, ok bool) {
	for _, from := range p.byLoad(true) {
		for _, to := range p.byLoad(false) {
			if !p.improves(from, to) {
				continue
			}
			if s := p.suits(from, to); s != nil {
				m = Move{s.Number, from, to}
				p.begin(s, m)
				return m, true
			}
		}
	}
	return m, false
}

// improves reports whether a copy may move from a node to another one, and that makes the greater load smaller.
func (p *plan) improves(from, to string) bool {
	a, b := p.node(from), p.node(to)
	if from == to || p.out[from] || p.in[to] || !a.Up || !b.isEligible() {
		return false
	}
	return p.load[from]*b.weight() > (p.load[to]+1)*a.weight()
}

// suits returns the shard that may move from a node to another one and suits that one best, compared with this one; nil if none
// may.
func (p *plan) suits(from, to string) (best *Shard) {
	a, b := p.node(from), p.node(to)
	gain := 0.0
	for i := range p.shards {
		s := &p.shards[i]
		if s.moves() || s.Pinned || s.holds(to) || !slices.Contains(s.Copies, from) || p.clashes(s, b, from) > p.clashes(s, a, from) {
			continue
		}
		if g := score(s.Number, b) / score(s.Number, a); best == nil || g > gain {
			best, gain = s, g
		}
	}
	return best
}

// best returns the node that is to receive a copy of a shard, instead of the node from: of those with which the fewest copies
// share a zone the one with the smallest load, and of these the one that suits. With apart, it is one that shares no zone, and
// for which the loads do not become worse. "" if there is none.
func (p *plan) best(s *Shard, from string, apart bool) (name string) {
	for _, other := range p.names {
		n := p.nodes[other]
		if !n.isEligible() || p.in[other] || s.holds(other) {
			continue
		}
		if apart && (p.clashes(s, n, from) > 0 || p.load[other] > p.load[from] && !p.hasRoom(n)) {
			continue
		}
		if name == "" || p.isBetter(s, from, n, p.nodes[name]) {
			name = other
		}
	}
	return name
}

// isBetter reports whether a node is to receive a copy rather than another one.
func (p *plan) isBetter(s *Shard, from string, a, b *Node) bool {
	if ca, cb := p.clashes(s, a, from), p.clashes(s, b, from); ca != cb {
		return ca < cb
	}
	if la, lb := (p.load[a.Name]+1)*b.weight(), (p.load[b.Name]+1)*a.weight(); la != lb {
		return la < lb
	}
	return score(s.Number, a) > score(s.Number, b)
}

// hasRoom reports whether a node holds less than its share of all copies, rounded up, and one more.
func (p *plan) hasRoom(n *Node) bool {
	weights := 0
	for _, o := range p.nodes {
		if o.isEligible() {
			weights += o.weight()
		}
	}
	share := (len(p.shards)*p.copies*n.weight() + weights - 1) / weights
	return p.load[n.Name] <= share
}

// clashes returns how many copies of a shard, but that of from, are in the zone of a node.
func (p *plan) clashes(s *Shard, n *Node, from string) (count int) {
	if n.Zone == "" {
		return 0
	}
	for _, name := range s.Copies {
		if name != from && name != n.Name && p.node(name).Zone == n.Zone {
			count++
		}
	}
	return count
}

// isHeavier reports whether a node has a greater load by its weight than another one.
func (p *plan) isHeavier(a, b string) bool {
	return p.load[a]*p.node(b).weight() > p.load[b]*p.node(a).weight()
}

// byLoad returns the names of the nodes by their loads, the heaviest first or last.
func (p *plan) byLoad(heaviest bool) []string {
	names := slices.Clone(p.names)
	slices.SortStableFunc(names, func(a, b string) int {
		d := p.load[a]*p.node(b).weight() - p.load[b]*p.node(a).weight()
		if heaviest {
			return -d
		}
		return d
	})
	return names
}
