package datadir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestDiscardedUntilNoShardHasAny: of a directory with several shards whose data is discarded for a cluster's, the file says so
// until the last of them has the cluster's, in whichever order they meet the cluster and receive its data.
func TestDiscardedUntilNoShardHasAny(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := func() string {
		id, err := ReadIdentity(dir)
		mustDo(t, err)
		return id.Cluster + " " + id.ClusterID[:2] + " " + id.State
	}
	is := func(want string) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("the file says %q, want %q", got, want)
		}
	}
	open := func(o Options) *Directory {
		t.Helper()
		o.Dir, o.Logger = dir, discard
		d, err := OpenDirectory(o)
		mustDo(t, err)
		mustDo(t, d.CheckShards(0, 1, 2))
		return d
	}
	mustDo(t, NoteParts(dir, 0, 1, 2))
	d := open(Options{ClusterName: "old"})
	for shard := range uint32(3) {
		mustDo(t, d.MeetCluster(shard, idOne, false))
		is("old " + idOne[:2] + " ")
	}
	mustDo(t, d.Close())

	d = open(Options{ClusterName: "new", DiscardData: true})
	mustDo(t, d.MeetCluster(0, idTwo, false)) // it has nothing to discard, and the others have not met the cluster
	is("new " + idTwo[:2] + " discarding")
	mustDo(t, d.MeetCluster(1, idTwo, true))
	mustDo(t, d.MeetCluster(2, idTwo, true))
	mustDo(t, d.MarkJoined(2))
	is("new " + idTwo[:2] + " discarding")
	mustDo(t, d.Close()) // as a crash, before shard 1 has the data of the cluster

	d = open(Options{ClusterName: "new"})
	mustDo(t, d.MeetCluster(0, idTwo, false))
	mustDo(t, d.MeetCluster(1, idTwo, true))
	mustDo(t, d.MeetCluster(2, idTwo, false))
	is("new " + idTwo[:2] + " discarding")
	mustDo(t, d.MarkJoined(1))
	is("new " + idTwo[:2] + " ")
	mustDo(t, d.Close())
}

// TestServedShardsAreNamed: a directory of a cluster with other shards is refused with the shard and with those that are
// served.
func TestServedShardsAreNamed(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, NoteParts(dir, 0, 5))
	d, err := OpenDirectory(Options{Dir: dir, ClusterName: "prod", Logger: discard})
	mustDo(t, err)
	defer func() { mustDo(t, d.Close()) }()
	testkit.Refuses(t, d.CheckShards(0, 1, 2, 3), "has shard 5", "serves the shards 0 to 3", PartsName)
	testkit.Refuses(t, d.CheckShards(0), "has shard 5", "serves shard 0 alone")
	mustDo(t, d.CheckShards(0, 1, 2, 3, 4, 5, 6, 7))
	mustDo(t, os.MkdirAll(filepath.Join(ShardDir(dir, 7), LogName), 0o700))
	testkit.Refuses(t, d.CheckShards(0, 1, 2, 3, 4, 5), ShardDir(dir, 7), "has data of a shard", "serves the shards 0 to 5", "put it elsewhere")
	mustDo(t, d.CheckShards(0, 1, 2, 3, 4, 5, 6, 7))
}

// TestShardsOf: a directory has the shards that PARTS names and those with a log; one with what was put aside alone does not count.
func TestShardsOf(t *testing.T) {
	dir := t.TempDir()
	of := func() []uint32 {
		shards, err := ShardsOf(dir)
		mustDo(t, err)
		return shards
	}
	if got := of(); got != nil {
		t.Errorf("an empty directory has the shards %v", got)
	}
	for shard, name := range map[uint32]string{0: LogName, 2: LogName, 4: "diverged-1-2-3.frames"} {
		mustDo(t, os.MkdirAll(filepath.Join(ShardDir(dir, shard), name), 0o700))
	}
	if got := of(); !slices.Equal(got, []uint32{0, 2}) {
		t.Errorf("without PARTS: %v", got)
	}
	mustDo(t, NoteParts(dir, 0, 3))
	if got := of(); !slices.Equal(got, []uint32{0, 2, 3}) {
		t.Errorf("with shard 3 in PARTS, which is gone: %v", got)
	}
}
