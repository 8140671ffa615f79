package placement

import "slices"

// Handover is a leadership that is to go to another node.
type Handover struct {
	Shard    uint32
	From, To string
}

// Spread returns the hand-overs by which each node leads its share, by its weight, of the shards that it could lead; none while a
// shard has no leader. A node that drains leads nothing that another one can. It returns one path: hand-overs that, carried out
// in their order, take a leadership from a node that leads too much, over others, to one that leads too little. After them the
// caller asks again.
func Spread(nodes []Node, shards []Shard) []Handover {
	p := newPlan(nodes, shards, 0)
	leads := make(map[string]int)
	for i := range p.shards {
		if p.shards[i].Leader == "" {
			return nil
		}
		leads[p.shards[i].Leader]++
	}
	names := slices.Clone(p.names)
	slices.SortStableFunc(names, func(a, b string) int { return -p.compareLeads(leads, a, b) })
	for _, from := range names {
		if path := p.path(leads, from); path != nil {
			return path
		}
	}
	return nil
}

// compareLeads compares how much two nodes lead by their weights. A node that drains leads too much with one shard.
func (p *plan) compareLeads(leads map[string]int, a, b string) int {
	return p.leadLoad(leads[a], a)*p.node(b).weight() - p.leadLoad(leads[b], b)*p.node(a).weight()
}

// drained is the load of a node that drains: more than that of any other.
const drained = 1 << 20

func (p *plan) leadLoad(leads int, name string) int {
	if p.node(name).Drains && leads > 0 {
		return leads * drained
	}
	return leads
}

// path returns the shortest way by which a node gives a leadership up and a node that leads less gets one; nil if there is none.
// It searches breadth first, over nodes to which one of the shards of the node before could go.
func (p *plan) path(leads map[string]int, from string) []Handover {
	came := map[string]Handover{from: {}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for i := range p.shards {
			s := &p.shards[i]
			if s.Leader != at {
				continue
			}
			for _, to := range s.Level {
				if _, seen := came[to]; seen || !p.node(to).isEligible() {
					continue
				}
				came[to] = Handover{s.Number, at, to}
				if p.leadLoad(leads[from], from)*p.node(to).weight() > (leads[to]+1)*p.node(from).weight() {
					return walk(came, from, to)
				}
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// walk returns the hand-overs from a node to another one. The last one comes first, so that no node leads more on the way than
// one that gives up.
func walk(came map[string]Handover, from, to string) (path []Handover) {
	for at := to; at != from; at = came[at].From {
		path = append(path, came[at])
	}
	return path
}
