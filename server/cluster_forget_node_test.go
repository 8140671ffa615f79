package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// TestRemovedNodeLeavesNATS: a node with an embedded NATS server that is taken out of the cluster is no member of NATS any more, and
// keeps no replica of a log, so that the next node may die.
func TestRemovedNodeLeavesNATS(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	nodes := nodeOptions(t, 4)
	for i := range nodes {
		nodes[i].Shards, nodes[i].Logger = 2, slog.New(slog.NewTextHandler(&log, nil))
	}
	servers := startAll(t.Context(), t, nodes...)
	if err := servers[3].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	nc, err := servers[0].bus.Connect("test")
	if err != nil {
		t.Fatal(err)
	}
	c := clienttest.New(t, nc, client.Options{})
	testkit.Until(t, "d is removed", func() bool {
		_, err := c.Place(t.Context(), client.PlaceRequest{Verb: client.PlaceRemove, Node: "d"})
		return err == nil || strings.Contains(err.Error(), "there is no node") && !client.IsUnavailable(err)
	})
	t.Cleanup(func() { t.Log(log.String()) })
	testkit.Until(t, "NATS has forgotten it", func() bool { return strings.Contains(log.String(), "NATS does not count a node that was removed") })
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "each stream has its replicas on the others", func() bool {
		list := js.ListStreams(context.Background())
		names, isWell := 0, true
		for info := range list.Info() {
			names++
			isWell = isWell && info.Cluster.Leader != "d" && len(info.Cluster.Replicas) == 2
			for _, r := range info.Cluster.Replicas {
				isWell = isWell && r.Name != "d" && !r.Offline && r.Current
			}
		}
		return list.Err() == nil && names > 2 && isWell
	})
}
