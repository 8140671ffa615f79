package server

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// TestRemovedNodeLeavesNATS: a node with an embedded NATS server that is taken out of the cluster is no member of NATS any more, and
// keeps no replica of a log, so that the next node may die. So is a witness, which the cluster does not know.
func TestRemovedNodeLeavesNATS(t *testing.T) {
	t.Parallel()
	t.Run("of one shard", func(t *testing.T) { removedNodeLeavesNATS(t, 1, false) })
	t.Run("of two shards", func(t *testing.T) { removedNodeLeavesNATS(t, 2, false) })
	t.Run("a witness", func(t *testing.T) { removedNodeLeavesNATS(t, 1, true) })
}

func removedNodeLeavesNATS(t *testing.T, shards int, isWitness bool) {
	t.Parallel()
	nodes := nodeOptions(t, 4)
	for i := range nodes {
		nodes[i].Shards = shards
	}
	nodes[3].Witness = isWitness
	servers := startAll(t.Context(), t, nodes...)
	nc, err := servers[0].bus.Connect("test")
	if err != nil {
		t.Fatal(err)
	}
	c := clienttest.New(t, nc, client.Options{})
	pending := ""
	place := func() error {
		reply, err := c.Place(t.Context(), client.PlaceRequest{Verb: client.PlaceRemove, Node: "d"})
		pending = reply.Pending
		return err
	}
	testkit.Until(t, "d is refused, because it is there", func() bool {
		err := place()
		if err == nil || strings.Contains(err.Error(), "is out of the cluster") {
			t.Fatalf("d was removed, or part of that was done: %v", err)
		}
		return strings.Contains(err.Error(), "node d is there") || strings.Contains(err.Error(), "node d is connected, or was a moment ago")
	})
	if err := servers[3].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "d is removed", func() bool {
		err := place()
		return err == nil || strings.Contains(err.Error(), "there is no node") && !client.IsUnavailable(err)
	})
	if is, err := servers[1].bus.IsMember(t.Context(), "d"); is || err != nil { // whatever becomes of the leader now
		t.Errorf("NATS counts d when it is removed: %t, %v", is, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	seen := func() (names int, isOnD, isWhole bool) {
		list := js.ListStreams(context.Background())
		isWhole = true
		for info := range list.Info() {
			names++
			isOnD = isOnD || info.Cluster.Leader == "d"
			isWhole = isWhole && len(info.Cluster.Replicas) == 2
			for _, r := range info.Cluster.Replicas {
				isOnD, isWhole = isOnD || r.Name == "d", isWhole && !r.Offline && r.Current
			}
		}
		return names, isOnD, list.Err() == nil && names > shards && isWhole
	}
	if _, isOnD, _ := seen(); isOnD && pending == "" {
		t.Error("nothing is said to be pending, and a stream has a replica on d")
	}
	testkit.Until(t, "each stream has its replicas on the others", func() bool {
		_, isOnD, isWhole := seen()
		return isWhole && !isOnD
	})
}
