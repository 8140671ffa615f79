package replication_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/inbox"
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
	d.refused(2, func(o *replication.Options) { o.Found, o.ID = true, replication.ClusterID{1} }, replication.ErrOwnData, "carillon shard divide --data DIR --shards 2")
	d.refused(2, func(o *replication.Options) { o.ID = replication.ClusterID{1} }, replication.ErrStreamGone, "CARILLON_LOG_carillon_0")
	d.want(2, 2)
	d.refused(0, func(o *replication.Options) { o.Own = true }, replication.ErrOwnData, `not of all 2 shards of the cluster "prod"`)
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

// founder is a node whose data is divided into four shards.
func founder(o *replication.Options) {
	o.Found, o.ID, o.Begins = true, replication.ClusterID{7}, []uint64{40, 41, 42, 43}
}

// metadata returns that of the stream of a shard.
func (d *division) metadata(shard uint32) map[string]string {
	d.t.Helper()
	s, err := d.js.Stream(d.t.Context(), replication.StreamName("carillon", shard))
	if err != nil {
		d.t.Fatal(err)
	}
	return s.CachedInfo().Config.Metadata
}

// TestFounderWithDividedData: the log of each shard begins where its data ends. A founder that dies before all are made
// continues; meanwhile no other node makes one, because it would let a node without data lead.
func TestFounderWithDividedData(t *testing.T) {
	d := newDivision(t)
	d.refused(8, founder, replication.ErrOtherShards, "is divided into 4, and it is to found 8")
	for _, want := range []int{0, 4, 4} {
		if n, err := d.divide(want, founder); n != 4 || err != nil {
			t.Fatalf("%d shards, %v", n, err)
		}
	}
	for n, first := range []string{"40", "41", "42", "43"} {
		m := d.metadata(uint32(n))
		if m["carillon_first_lsn"] != first || m["carillon_cluster_id"] != (replication.ClusterID{7}).String() || m["carillon_founder"] != "" {
			t.Errorf("shard %d: %v", n, m)
		}
	}
	d.want(0, 4)
	d.refused(4, func(o *replication.Options) { founder(o); o.ID = replication.ClusterID{8} }, replication.ErrOtherCluster, "--give-up "+(replication.ClusterID{7}).String())

	first, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err != nil {
		t.Fatal(err)
	}
	config := first.CachedInfo().Config
	delete(config.Metadata, "carillon_whole") // as a founder leaves it that dies before
	config.Metadata["carillon_founder"] = "a"
	if _, err := d.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := d.js.DeleteStream(t.Context(), replication.StreamName("carillon", 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.divide(0, nil); err == nil || replication.IsFinal(err) || !strings.Contains(err.Error(), "another node is going to found") {
		t.Errorf("another node does not wait: %v", err)
	}
	if n, err := d.divide(4, founder); n != 4 || err != nil {
		t.Fatalf("%d shards, %v", n, err)
	}
	if m := d.metadata(3); m["carillon_first_lsn"] != "43" {
		t.Errorf("shard 3: %v", m)
	}
	d.want(0, 4)
}

// TestEmptyNodeAwaitsTheDivision: an empty node that takes what number of shards the cluster has waits for a founder that is there, and
// does not take one shard for the number of a cluster that is not there yet.
func TestEmptyNodeAwaitsTheDivision(t *testing.T) {
	d := newDivision(t)
	sub, err := replication.AnswerFounder(inbox.NewDesk(d.nc, nil, slog.New(slog.DiscardHandler)), "carillon", 0, "a", "prod")
	if err == nil {
		err = d.nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.divide(0, nil); err == nil || replication.IsFinal(err) || !strings.Contains(err.Error(), "another node is going to found") {
		t.Errorf("%d shards, %v", n, err)
	}
	if n, err := d.divide(4, founder); n != 4 || err != nil {
		t.Fatalf("the founder: %d shards, %v", n, err)
	}
	d.want(0, 4)
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
}

// TestFounderGivesUpAnotherDivision: the streams of the cluster that it gives up are gone, whatever their number.
func TestFounderGivesUpAnotherDivision(t *testing.T) {
	d := newDivision(t)
	d.want(8, 8)
	old, err := replication.ParseClusterID(d.metadata(0)["carillon_cluster_id"])
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.divide(4, func(o *replication.Options) { founder(o); o.GiveUp = old })
	if n != 4 || err != nil {
		t.Fatalf("%d shards, %v", n, err)
	}
	if m := d.metadata(0); m["carillon_cluster_id"] != (replication.ClusterID{7}).String() || m["carillon_shards"] != "4" {
		t.Errorf("shard 0: %v", m)
	}
	if _, err := d.js.Stream(t.Context(), replication.StreamName("carillon", 7)); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("shard 7: %v", err)
	}
}
