package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
)

// TestNumbersOfShardsThatNoClusterHas are refused in the options, before anything is opened.
func TestNumbersOfShardsThatNoClusterHas(t *testing.T) {
	p := newTroupe(t)
	for _, shards := range []int{-1, 3, 12, 512} {
		o := p.options("a", t.TempDir())
		o.Shards = shards
		p.startFails(o, nil, "want a power of two from 1 to 256")
		if _, err := Start(t.Context(), o); !errors.As(err, new(*OptionsError)) {
			t.Errorf("%d shards: %v is no error of the options", shards, err)
		}
	}
	alone := aloneOptions(t.TempDir())
	alone.Shards = 4
	p.startFails(alone, nil, "a number of shards needs a cluster name (--cluster-name)")
}

// TestOtherShardsAreRefused: a node that wants another number of shards than the cluster has is refused with both numbers, and
// neither its directory nor NATS has anything of that; so is one whose directory has a shard that the cluster does not have.
func TestOtherShardsAreRefused(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.startShards("a", t.TempDir())
	dir := t.TempDir()
	for shards, want := range map[int]string{1: "has 4, and this node is to have 1", 8: "has 4, and this node is to have 8"} {
		o := p.options("b", dir)
		o.Shards = shards
		p.startFails(o, replication.ErrOtherShards, `the cluster "prod"`, want, "leave out --shards")
	}
	id, err := datadir.ReadIdentity(dir)
	if names, _ := filepath.Glob(filepath.Join(dir, datadir.ShardsName, "*")); err != nil || id.ClusterID != "" || len(names) != 1 {
		t.Errorf("after the refusals the directory is of the cluster %q and has %v, %v", id.ClusterID, names, err)
	}
	streams := p.js.StreamNames(t.Context())
	n := 0
	for range streams.Name() {
		n++
	}
	if want := troupeShards + 1; n != want || streams.Err() != nil { // and the bucket of the leases
		t.Errorf("NATS has %d streams, want %d; %v", n, want, streams.Err())
	}
	if b := p.startShards("b", dir); b.Ready().Role != "standby" {
		t.Errorf("with the right number it is %+v", b.Ready())
	}
}

// TestDirectoriesWithOtherShards: a directory with a shard that the cluster does not have is refused by its number, and so is
// one with rows of its own; one that was in a cluster of several shards does not start in one of one.
func TestDirectoriesWithOtherShards(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	first := t.TempDir()
	p.startFails(withShards(p.options("a", lone(t, 3))), replication.ErrOwnData, "a cluster with 4 shards begins without data")
	a := p.startShards("a", first)

	more := t.TempDir()
	makeShards(t, more, 0, 5)
	p.startFails(p.options("b", more), nil, `the cluster "prod" in NATS has 4 shards`, "has shard 5", "serves the shards 0 to 3", "--data")

	own := lone(t, 3)
	p.startFails(p.options("b", own), replication.ErrOwnData, "not of all 4 shards of the cluster", "--discard-data")
	if _, err := os.Stat(datadir.ShardDir(own, 1)); !os.IsNotExist(err) {
		t.Errorf("the refused start has made a shard: %v", err)
	}
	o := p.options("b", own)
	o.DiscardData = true
	b := p.startWith(o)
	if r := b.Ready(); r.Role != "standby" || r.Jobs != 0 {
		t.Errorf("with --discard-data b is %+v", r)
	}
	if id := b.dir.Identity(); id.State != datadir.StateMember {
		t.Errorf("the directory is %+v", id)
	}
	p.putInEach()
	for _, s := range []*Server{a, b} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	other := p.options("a", first)
	other.Prefix, other.ClusterName = "tower", "tower"
	p.startFails(other, nil, datadir.NodeName, `"prod"`)
	if err := os.Remove(filepath.Join(first, datadir.NodeName)); err != nil {
		t.Fatal(err)
	}
	p.startFails(other, replication.ErrOwnData, "of 4 shards", `there is no cluster "tower" yet`, "cluster found")
}

// withShards returns the options of a node that founds a cluster with several shards.
func withShards(o Options) Options {
	o.Shards = troupeShards
	return o
}

// makeShards makes the data of some shards in a directory.
func makeShards(t *testing.T, dir string, shards ...uint32) {
	t.Helper()
	d, err := datadir.OpenDirectory(datadir.Options{Dir: dir, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range shards {
		s, err := d.OpenShard(n, datadir.ShardOptions{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
