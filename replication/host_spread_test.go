package replication

import (
	"fmt"
	"testing"
)

// TestLeadershipsAreSpread lets nodes hand over, one after the other, until none has anything to hand over: then no node
// leads two more than another, and none was given a shard that it does not have.
func TestLeadershipsAreSpread(t *testing.T) {
	for _, c := range []struct {
		what   string
		nodes  int
		shards int
		has    func(node, shard int) bool
	}{
		{"one node has it all", 1, 4, func(int, int) bool { return true }},
		{"four shards on three nodes", 3, 4, func(int, int) bool { return true }},
		{"sixteen shards on four nodes", 4, 16, func(int, int) bool { return true }},
		{"each shard on two of four nodes", 4, 16, func(node, shard int) bool { return node == 0 || node == 1+shard%3 }},
		{"more nodes than shards", 5, 2, func(int, int) bool { return true }},
	} {
		leader := make([]int, c.shards) // node 0 leads all
		step := func(own int) bool {
			views := make([]shardView, c.shards)
			for s := range views {
				views[s].leader = fmt.Sprint(leader[s])
				for n := range c.nodes {
					if leader[s] == own && n != own && c.has(n, s) {
						views[s].level = append(views[s].level, fmt.Sprint(n))
					}
				}
			}
			i, to := spread(fmt.Sprint(own), views)
			if i < 0 {
				return false
			}
			if leader[i] != own {
				t.Fatalf("%s: node %d hands over shard %d, which node %d leads", c.what, own, i, leader[i])
			}
			var n int
			if _, err := fmt.Sscan(to, &n); err != nil || !c.has(n, i) {
				t.Fatalf("%s: shard %d goes to node %s, which does not have it", c.what, i, to)
			}
			leader[i] = n
			return true
		}
		steps := 0
		for again := true; again; {
			again = false
			for own := range c.nodes {
				if step(own) {
					again = true
					steps++
				}
			}
			if steps > 10*c.shards {
				t.Fatalf("%s: it never ends", c.what)
			}
		}
		leads := make([]int, c.nodes)
		for _, n := range leader {
			leads[n]++
		}
		for n, count := range leads {
			if most := (c.shards + c.nodes - 1) / c.nodes; count > most+1 || c.shards >= c.nodes && count == 0 {
				t.Errorf("%s: node %d leads %d of %d shards: %v", c.what, n, count, c.shards, leads)
			}
		}
	}
}

// TestNothingIsSpreadWhileAShardHasNoLeader: a takeover comes first.
func TestNothingIsSpreadWhileAShardHasNoLeader(t *testing.T) {
	views := []shardView{{leader: "a", level: []string{"b"}}, {leader: "a", level: []string{"b"}}, {}}
	if i, to := spread("a", views); i >= 0 {
		t.Errorf("shard %d is handed over to %s", i, to)
	}
}
