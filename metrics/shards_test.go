package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// TestMetricsOfEachShard: each metric of an engine, its log, its store and its node is there for each of several shards.
func TestMetricsOfEachShard(t *testing.T) {
	var shards []Shard
	for n := range uint32(3) {
		role := []string{"leader", "standby", "leader"}[n]
		shards = append(shards, Shard{
			Number: n, Engine: reading{scheduler.Status{Shard: n, Role: role, Jobs: 10 + int(n)}},
			Storage: func() *Storage { return &Storage{Segments: 20 + int(n)} },
			Cluster: func() *client.Cluster {
				return &client.Cluster{Term: 30 + uint64(n), Nodes: []client.ClusterNode{{Node: "b", Role: "standby"}}}
			},
		})
	}
	shards[1].Storage = func() *Storage { return nil } // it is receiving another one
	text := scrapeText(New(Options{Logger: quiet, Shards: func() []Shard { return shards }, Divided: true, ShardsInAll: 4}))
	for n := range 3 {
		for _, line := range []string{
			fmt.Sprintf(`carillon_jobs{shard="%d"} %d`, n, 10+n), fmt.Sprintf(`carillon_wal_segments{shard="%d"} %d`, n, 20+n),
			fmt.Sprintf(`carillon_wal_fsync_seconds_count{shard="%d"} 0`, n), fmt.Sprintf(`carillon_lease_term{shard="%d"} %d`, n, 30+n),
			fmt.Sprintf(`carillon_node_role{node="b",role="standby",shard="%d"} 1`, n),
		} {
			if wanted := n != 1 || !strings.Contains(line, "wal_"); strings.Contains(text, line+"\n") != wanted {
				t.Errorf("the line %s is there: %t, want %t", line, !wanted, wanted)
			}
		}
	}
	if !strings.Contains(text, `carillon_info{role="standby",shard="1",version="dev"} 1`) {
		t.Error("there is no line with the role of shard 1")
	}
	for n := range 5 { // the node has no copy of shard 3
		if line := fmt.Sprintf("carillon_shard_info{shard=\"%d\"} 1\n", n); strings.Contains(text, line) != (n < 4) {
			t.Errorf("the line %s is there: %t", line, n >= 4)
		}
	}
}

// TestMetricsFollowTheShards: a shard that comes later is shown, and one that has gone is not. One of several has the label also
// while it is the only one.
func TestMetricsFollowTheShards(t *testing.T) {
	of := func(n uint32) Shard {
		return Shard{Number: n, Engine: reading{scheduler.Status{Shard: n}}, Storage: func() *Storage { return &Storage{Segments: 20 + int(n)} }}
	}
	shards := []Shard{of(0)}
	handler := New(Options{Logger: quiet, Shards: func() []Shard { return shards }, Divided: true})
	for _, has := range [][]uint32{{0}, {0, 5}, {5}} {
		shards = nil
		for _, n := range has {
			shards = append(shards, of(n))
		}
		text := scrapeText(handler)
		for _, n := range []uint32{0, 5} {
			line := fmt.Sprintf("carillon_wal_segments{shard=\"%d\"} %d\n", n, 20+n)
			if is := strings.Contains(text, line); is != slices.Contains(has, n) {
				t.Errorf("with the shards %v: %q is there: %t", has, line, is)
			}
		}
	}
}

// just returns a function that returns one shard.
func just(s Shard) func() []Shard { return func() []Shard { return []Shard{s} } }
