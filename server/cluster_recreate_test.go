package server

import (
	"os"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// TestLogsOfSeveralShardsAreMadeAnew: NATS has lost all streams of a cluster of several shards, and the nodes have the data
// between them. Without being told to, no node makes a log anew; told which shards each has the newest data of, they lead
// again, with all jobs.
func TestLogsOfSeveralShardsAreMadeAnew(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	a, b := p.startShards("a", dirs["a"]), p.startShards("b", dirs["b"])
	var names []string
	for shard := range uint32(troupeShards) {
		names = append(names, nameIn(shard))
		p.put(names[shard])
	}
	p.levelInEach(a, b)
	for _, s := range []*Server{b, a} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name := range p.js.StreamNames(t.Context()).Name() {
		if err := p.js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	o := p.options("a", dirs["a"])
	o.Copies = 3
	p.startFails(o, nil, "NATS has lost its logs", "--recreate-stream", "--shards")
	o.Shards = troupeShards
	p.startFails(o, replication.ErrStreamGone, "--recreate-stream --shards 4")
	o.RecreateStream, o.Shards = true, 8
	p.startFails(o, replication.ErrOtherShards, "has a job that belongs to shard", "--shards")
	o.RecreateShards, o.Shards = []uint32{9}, troupeShards
	p.startFails(o, nil, "there is no shard 9")
	o.RecreateShards = []uint32{0, 1}
	other := p.options("b", dirs["b"])
	other.Copies, other.Shards, other.RecreateStream, other.RecreateShards = 3, troupeShards, true, []uint32{2, 3}
	started := make(chan *Server)
	go func() { started <- p.startWith(other) }()
	a = p.startWith(o)
	b = <-started
	testkit.Until(t, "each shard has a leader", func() bool { return len(a.leads())+len(b.leads()) == troupeShards })
	for _, name := range names {
		if _, err := p.client(false).Get(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRestoredShardsBesideTheirOldLogs: all nodes are lost, and NATS has the logs of all shards. A backup to which all of them
// go back is brought up to date by them. If one does not, nothing of the backup becomes a member's, and if a shard is missing,
// neither.
func TestRestoredShardsBesideTheirOldLogs(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	a := p.startShards("a", dir)
	for shard := range uint32(troupeShards) {
		p.put(nameIn(shard))
	}
	p.close(a)
	p.startFails(newTroupe(t).options("f", restored(t, dir)), replication.ErrOwnData, "of 4 shards", "there is no cluster \"prod\" yet", "cluster found")
	backup, second, third := restored(t, dir), restored(t, dir), restored(t, dir)
	a = p.startShards("a", dir)
	for shard := range uint32(troupeShards) {
		p.put("after-" + nameIn(shard))
	}
	p.close(a)

	c := p.startShards("c", backup)
	if n := p.jobs(); n != 2*troupeShards {
		t.Errorf("the logs brought the backup to %d jobs", n)
	}
	p.close(c)
	stream, err := p.js.Stream(t.Context(), replication.StreamName("carillon", 2))
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	p.startFails(p.options("d", second), replication.ErrOwnData, "shard 2", "is no part of the log", "--give-up")
	if id, err := datadir.ReadIdentity(second); err == nil && id.ClusterID != "" {
		t.Errorf("after the refusal the directory is %+v", id)
	}
	mustRemove(t, datadir.ShardDir(third, 3))
	mustRemove(t, third+"/"+datadir.PartsName)
	p.startFails(p.options("e", third), replication.ErrOwnData, "not of all 4 shards of the cluster")
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
