package server

import (
	"reflect"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestSumOfClusters: a node leads if it leads a shard, and its trust is the shortest of those that it leads; a warning of all
// shards is there once.
func TestSumOfClusters(t *testing.T) {
	sum := sumClusters([]*client.Cluster{
		{
			Name: "prod", Node: "a", Role: "standby", Lag: 2, LagMS: 30, Warnings: []string{"one server"}, Void: map[string]uint64{"alien": 1},
			Nodes: []client.ClusterNode{{Node: "a", Role: "standby", LSN: 5, SilentMS: 9}, {Node: "b", Role: "leader", LSN: 7}},
		},
		{
			Name: "prod", Node: "a", Role: "leader", TrustMS: 4000, Waits: "b", Warnings: []string{"one server", "a wait"}, Void: map[string]uint64{"alien": 2},
			Nodes: []client.ClusterNode{{Node: "a", Role: "leader", LSN: 3, SilentMS: 4}},
		},
		{Name: "prod", Node: "a", Role: "leader", TrustMS: 1000, LagMS: 7},
	})
	want := &client.Cluster{
		Name: "prod", Node: "a", Role: "leader", TrustMS: 1000, Lag: 2, LagMS: 30, Waits: "b", Warnings: []string{"one server", "a wait"}, Void: map[string]uint64{"alien": 3},
		Nodes: []client.ClusterNode{{Node: "a", Role: "leader", LSN: 8, SilentMS: 4}, {Node: "b", Role: "leader", LSN: 7}},
	}
	if !reflect.DeepEqual(sum, want) {
		t.Errorf("the sum is %+v, want %+v", sum, want)
	}
	for _, of := range [][3]string{{"standby", "standby", "standby"}, {"standby", "joining", "joining"}, {"candidate", "joining", "candidate"}, {"joining", "leader", "leader"}, {"", "standby", "standby"}} {
		if got := roleOf(of[0], of[1]); got != of[2] {
			t.Errorf("%s and %s are %s, want %s", of[0], of[1], got, of[2])
		}
	}
}
