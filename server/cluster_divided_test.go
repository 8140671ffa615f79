package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/divide"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/shard"
	"github.com/carillon-io/carillon/testkit"
)

// divideInto divides the data of a directory for a cluster of four shards.
func divideInto(t *testing.T, from, giveUp string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "divided")
	_, err := divide.Run(t.Context(), divide.Options{From: from, Shards: troupeShards, FoundOptions: datadir.FoundOptions{
		Dir: dir, ClusterName: "prod", Node: "a", GiveUp: giveUp, Logger: discard,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// jobsOf returns how many jobs each shard of a node has.
func jobsOf(s *Server) (jobs []int) {
	for _, m := range s.members() {
		jobs = append(jobs, m.shard.Status().Jobs)
	}
	return jobs
}

func sumOf(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

// TestNodeAloneBecomesFourShards: the data of a node alone is divided, the node founds a cluster of four shards with it and
// fires, another one joins with nothing, and leads with all jobs when the founder ends.
func TestNodeAloneBecomesFourShards(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	dir := divideInto(t, lone(t, 60), "")
	p.startFails(p.options("a", lone(t, 1)), replication.ErrOwnData)
	eight := p.options("a", dir)
	eight.Shards = 8
	p.startFails(eight, replication.ErrOtherShards, "is divided into 4")
	a := p.start("a", dir) // its directory says how many shards there are
	b := p.start("b", t.TempDir())
	if r := a.Ready(); r.Shards != troupeShards || len(r.Leads) != troupeShards || r.Jobs != 60 {
		t.Fatalf("a is ready as %+v", r)
	}
	if id := a.dir.Identity(); id.State != datadir.StateMember {
		t.Errorf("the founder's directory is %+v", id)
	}
	received := make(chan *nats.Msg, 10_000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.putInEach()
	p.eachShardFires(received)
	testkit.Until(t, "b has a copy of each shard", func() bool { return len(b.held()) == troupeShards-1 })
	p.levelInEach(a, b)
	want := jobsOf(a)
	if slices.Contains(want, 1) || sumOf(want) != 60+troupeShards {
		t.Errorf("a has %v jobs in its shards", want)
	}
	// A copy that comes as a checkpoint is level before its rows are in memory.
	testkit.Until(t, "b has the jobs of a", func() bool { return slices.Equal(jobsOf(b), want) })
	p.close(a)
	testkit.Until(t, "b leads all shards", func() bool { return len(b.leads()) == troupeShards })
	p.eachShardFires(received)
	p.eachShardTicksOnce()
	if n := p.jobs(); n != 60+troupeShards {
		t.Errorf("the cluster has %d jobs", n)
	}
	again := p.start("a", dir)
	if r := again.Ready(); r.Role != "standby" || r.Jobs != 60+troupeShards {
		t.Errorf("the founder came back as %+v", r)
	}
}

// TestClusterOfOneShardBecomesFour: the data of a node of a cluster is divided if the operator gives that cluster up. Its
// stream is deleted once none of its nodes is there.
func TestClusterOfOneShardBecomesFour(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	one := t.TempDir()
	c := p.start("c", one)
	p.put("before")
	id := c.first().shard.Node().ID().String()
	p.close(c)
	_, err := divide.Run(t.Context(), divide.Options{From: one, Shards: troupeShards, FoundOptions: datadir.FoundOptions{Dir: filepath.Join(t.TempDir(), "no"), ClusterName: "prod", Logger: discard}})
	if err == nil || !strings.Contains(err.Error(), "--give-up "+id) {
		t.Errorf("a member was divided: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "divided")
	if _, err := divide.Run(t.Context(), divide.Options{From: one, Shards: troupeShards, FoundOptions: datadir.FoundOptions{Dir: dir, ClusterName: "prod", GiveUp: id, Logger: discard}}); err != nil {
		t.Fatal(err)
	}
	c = p.start("c", one)
	p.put("after")
	p.startFails(p.options("c", dir), replication.ErrClusterLives, "node c")
	p.close(c)
	p.lacks(p.options("c", dir)) // the division lacks what was put since, whatever LSNs its shards have

	fresh := filepath.Join(t.TempDir(), "fresh")
	if _, err := divide.Run(t.Context(), divide.Options{From: one, Shards: troupeShards, FoundOptions: datadir.FoundOptions{Dir: fresh, ClusterName: "prod", GiveUp: id, Logger: discard}}); err != nil {
		t.Fatal(err)
	}
	d := p.start("c", fresh)
	if r := d.Ready(); r.Jobs != 2 || r.Shards != troupeShards {
		t.Errorf("ready as %+v", r)
	}
	p.startFails(p.options("c", one), replication.ErrOtherCluster)
}

// TestFounderOfShardsDies: it dies when the streams are made, and one of its shards has met the cluster. It is still the
// founder then, and its next start completes what is left.
func TestFounderOfShardsDies(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	dir := divideInto(t, lone(t, 20), "")
	d, err := datadir.OpenDirectory(datadir.Options{Dir: dir, ClusterName: "prod", Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.OpenShard(0, datadir.ShardOptions{Shards: troupeShards})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CheckShards(0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	cluster := &shard.Cluster{
		Replication: replication.Options{Conn: p.nc, Prefix: "carillon", Cluster: "prod", Node: "a", Replicas: 1, Shards: troupeShards, Logger: discard},
		OnFound:     func(context.Context) error { return errors.New("the founder ends here") },
	}
	o := shard.Options{Data: data, Logger: discard, Cluster: cluster}
	if n, err := shard.Divide(t.Context(), o); n != troupeShards || err != nil {
		t.Fatalf("%d shards, %v", n, err)
	}
	if err := shard.New(o).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "ends here") {
		t.Fatal(err)
	}
	mustClose(t, data)
	if id, err := datadir.ReadIdentity(dir); err != nil || !id.IsFounder() {
		t.Errorf("the directory is %+v, %v", id, err)
	}
	s := p.start("a", dir)
	if n := sumOf(jobsOf(s)); n != 20 {
		t.Errorf("%d jobs", n)
	}
	if id, err := datadir.ReadIdentity(dir); err != nil || id.State != datadir.StateMember || fmt.Sprint(s.leads()) != "[0 1 2 3]" {
		t.Errorf("the directory is %+v, %v, and leads %v", id, err, s.leads())
	}
}
