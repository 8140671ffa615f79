package replication_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/replication"
)

// division asks a NATS server for the shards of a cluster, as a node that starts does.
type division struct {
	t  *testing.T
	nc *nats.Conn
	js jetstream.JetStream
}

func newDivision(t *testing.T) *division {
	t.Helper()
	s := bustest.RunWith(t, &server.Options{JetStream: true, StoreDir: t.TempDir()})
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return &division{t, nc, js}
}

func (d *division) divide(shards int, change func(*replication.Options)) (int, error) {
	o := replication.Options{Conn: d.nc, Cluster: "prod", Node: "a", Replicas: 1, Shards: shards}
	if change != nil {
		change(&o)
	}
	return replication.Divide(d.t.Context(), o)
}

func (d *division) want(shards, want int) {
	d.t.Helper()
	if got, err := d.divide(shards, nil); got != want || err != nil {
		d.t.Fatalf("%d shards wanted: there are %d, %v; want %d", shards, got, err, want)
	}
}

// refused wants an error of a kind, with a text, that no other attempt can change.
func (d *division) refused(shards int, change func(*replication.Options), kind error, text string) {
	d.t.Helper()
	if _, err := d.divide(shards, change); !errors.Is(err, kind) || !replication.IsFinal(err) || !strings.Contains(err.Error(), text) {
		d.t.Errorf("%d shards wanted: %v; want %v with %q", shards, err, kind, text)
	}
}

// TestClusterIsDividedOnce: the first node decides how many shards there are, the others take that, and a node that
// wants another number is refused.
func TestClusterIsDividedOnce(t *testing.T) {
	d := newDivision(t)
	d.want(0, 1) // there is no cluster yet, and this does not make one
	d.want(4, 4)
	d.want(4, 4)
	d.want(0, 4)
	d.refused(1, nil, replication.ErrOtherShards, `the cluster "prod" has 4, and this node is to have 1`)
	d.refused(8, nil, replication.ErrOtherShards, `the cluster "prod" has 4, and this node is to have 8`)
	d.refused(4, func(o *replication.Options) { o.Cluster = "test" }, replication.ErrOtherCluster, `carries the log of cluster "prod"`)
	for n := range uint32(4) {
		s, err := d.js.Stream(t.Context(), replication.StreamName("carillon", n))
		if err != nil {
			t.Fatal(err)
		}
		m := s.CachedInfo().Config.Metadata
		if m["carillon_format"] != "2" || m["carillon_shards"] != "4" || m["carillon_slots"] != []string{"0-63", "64-127", "128-191", "192-255"}[n] {
			t.Errorf("shard %d: %v", n, m)
		}
	}
}

// TestStartsTogether: nodes that found a cluster at the same moment agree.
func TestStartsTogether(t *testing.T) {
	d := newDivision(t)
	var all sync.WaitGroup
	for _, node := range []string{"a", "b", "c"} {
		all.Go(func() {
			if n, err := d.divide(8, func(o *replication.Options) { o.Node = node }); n != 8 || err != nil {
				t.Errorf("%s: %d shards, %v", node, n, err)
			}
		})
	}
	all.Wait()
	ids := make(map[string]bool)
	for n := range uint32(8) {
		s, err := d.js.Stream(t.Context(), replication.StreamName("carillon", n))
		if err != nil {
			t.Fatal(err)
		}
		ids[s.CachedInfo().Config.Metadata["carillon_cluster_id"]] = true
	}
	if len(ids) != 1 {
		t.Errorf("the shards are of %d clusters", len(ids))
	}
}

// TestFounderDies: the next node makes the streams that are missing. Once all were there, none is made again, because
// that would begin a log beside the data of its nodes.
func TestFounderDies(t *testing.T) {
	d := newDivision(t)
	d.want(4, 4)
	remove := func(n uint32) {
		t.Helper()
		if err := d.js.DeleteStream(t.Context(), replication.StreamName("carillon", n)); err != nil {
			t.Fatal(err)
		}
	}
	first, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err != nil {
		t.Fatal(err)
	}
	config := first.CachedInfo().Config
	delete(config.Metadata, "carillon_whole") // as a founder leaves it that dies before
	if _, err := d.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	remove(3)
	d.want(0, 4)
	if _, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 3)); err != nil {
		t.Errorf("the stream of shard 3 was not made: %v", err)
	}
	remove(3)
	d.want(0, 4)
	if _, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 3)); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream of shard 3 was made again: %v", err)
	}
}

// TestRefusedDivision: numbers that no cluster has, slots that do not fit, and nodes with data.
func TestRefusedDivision(t *testing.T) {
	d := newDivision(t)
	for _, n := range []int{-1, 3, 6, 257, 512} {
		if _, err := d.divide(n, nil); err == nil || !replication.IsFinal(err) || !strings.Contains(err.Error(), "want a power of two from 1 to 256") {
			t.Errorf("%d shards: %v", n, err)
		}
	}
	d.refused(2, func(o *replication.Options) { o.Own = true }, replication.ErrOwnData, "a cluster with 2 shards begins without data")
	d.refused(2, func(o *replication.Options) { o.ID = replication.ClusterID{1} }, replication.ErrStreamGone, "CARILLON_LOG_carillon_0")
	d.want(2, 2)
	first, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err != nil {
		t.Fatal(err)
	}
	config := first.CachedInfo().Config
	config.Metadata["carillon_slots"] = "0-100"
	if _, err := d.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	d.refused(0, nil, replication.ErrOtherShards, `has the slots "0-100", and shard 0 of 2 has 0-127`)
}
