package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// fleetShards is the number of shards of the cluster that is rolled, and fleetJobs that of its jobs, each of which ticks every
// fleetTick.
const (
	fleetShards = 4
	fleetJobs   = 16
	fleetTick   = 200 * time.Millisecond
)

// fleet is a cluster of three nodes and several shards, of which each but the first has two copies.
type fleet struct {
	*rig
	processes map[string]*process
	versions  map[string]string // of the programs of the nodes
	binaries  map[string]string // by version
}

// TestUpgradeShards rolls a cluster of three nodes and four shards to a release with newer rows, back, and there again, with real
// binaries and with moves of shards between nodes of both. While one node cannot read newer rows, no shard has any, also if that
// node has no copy of it: it may receive one. Ids and versions stay, and each tick is decided once.
func TestUpgradeShards(t *testing.T) {
	if !*upgradeFlag {
		t.Skip("run it by make upgrade")
	}
	f := &fleet{newRig(t), make(map[string]*process), make(map[string]string), map[string]string{"v1": buildRelease(t, "v1", nil), "v2": buildChanged(t, "v2", newerRows)}}
	f.more = []string{"--shards", fmt.Sprint(fleetShards)}
	for _, node := range []string{"a", "b", "c"} {
		f.run(node, "v1")
	}
	f.settle()
	for i := range fleetJobs {
		f.mustTick(fmt.Sprint("job-", i))
	}
	before := f.identities()
	f.roll("c", "v2")
	f.move("c", "v2")
	f.roll("a", "v2")
	f.onlyBoth("c", "a")
	f.newerRowsAreRefused("b")
	f.move("b", "v1") // a checkpoint of a newer node, for an older one
	f.roll("a", "v1") // the way back is open
	f.move("a", "v1")
	f.roll("a", "v2")
	f.roll("b", "v2")
	f.move("b", "v2")
	for shard := range uint32(fleetShards) {
		testkit.Retry(t, "a newer row is taken", func(context.Context) error { return f.put(nameInShard("newer", shard), newerMark) })
	}
	f.stop(f.processes["b"])
	f.wantRefused(f.start(f.binaries["v1"], "b"))
	f.run("b", "v2")
	f.settle()
	now := f.identities()
	maps.DeleteFunc(now, func(name, _ string) bool { return strings.HasPrefix(name, "newer") })
	if !maps.Equal(before, now) {
		t.Errorf("ids and versions were %v and are %v", before, now)
	}
	for i := range fleetJobs {
		f.tickedOnce(fmt.Sprint("job-", i))
	}
}

// nameInShard returns a name of a job in a shard.
func nameInShard(word string, shard uint32) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint(word, "-", i); job.ShardOf(job.SlotOf("default", name), fleetShards) == shard {
			return name
		}
	}
}

// run starts a node with the program of a version.
func (f *fleet) run(node, version string) {
	f.t.Helper()
	f.processes[node], f.versions[node] = f.start(f.binaries[version], node), version
}

// roll stops a node, and starts it with the program of a version.
func (f *fleet) roll(node, version string) {
	f.t.Helper()
	f.stop(f.processes[node])
	f.run(node, version)
	f.settle()
}

// settle waits until each node runs, each shard is led and has as many copies as it should, and none moves.
func (f *fleet) settle() {
	f.t.Helper()
	testkit.Retry(f.t, "the cluster is settled", func(ctx context.Context) error {
		st, err := f.cl.Status(ctx)
		if err == nil {
			err = f.unsettled(&st)
		}
		return err
	})
}

func (f *fleet) unsettled(st *client.Status) error {
	for node, version := range f.versions {
		if !slices.ContainsFunc(st.Cluster.Nodes, func(n client.ClusterNode) bool {
			return n.Node == node && n.Version == version && n.SilentMS < 1000
		}) {
			return fmt.Errorf("%s does not run %s: %+v", node, version, st.Cluster.Nodes)
		}
	}
	for _, s := range st.Shards {
		copies := 2
		if s.Shard == 0 {
			copies = len(f.versions)
		}
		if !s.HasLeader || len(s.Replicas) != copies || slices.ContainsFunc(s.Replicas, func(r client.ShardReplica) bool {
			return r.Move != "" || r.Role != "leader" && r.Role != "standby" || r.SilentMS > 1000
		}) {
			return fmt.Errorf("shard %d is %+v", s.Shard, s)
		}
	}
	return nil
}

// hasCopy reports whether a node has a copy of a shard.
func hasCopy(s *client.ShardStatus, node string) bool {
	return slices.ContainsFunc(s.Replicas, func(r client.ShardReplica) bool { return r.Node == node })
}

// move lets a node, which is of a version, lead a shard of which it had no copy.
func (f *fleet) move(node, version string) {
	f.t.Helper()
	if f.versions[node] != version {
		f.t.Fatalf("%s is of %s, want %s", node, f.versions[node], version)
	}
	var moved *client.ShardStatus
	for shard := range f.rows() {
		if s := f.rows()[shard]; shard > 0 && !hasCopy(&s, node) {
			moved = &s
		}
	}
	if moved == nil {
		f.t.Logf("%s has a copy of each shard", node)
		return
	}
	f.bring(moved.Shard, node)
}

// rows returns what the status says of the shards.
func (f *fleet) rows() (rows []client.ShardStatus) {
	f.t.Helper()
	testkit.Retry(f.t, "the status", func(ctx context.Context) error {
		st, err := f.cl.Status(ctx)
		rows = st.Shards
		return err
	})
	return rows
}

// bring lets a node lead a shard, with a copy of it.
func (f *fleet) bring(shard uint32, node string) {
	f.t.Helper()
	testkit.Retry(f.t, fmt.Sprintf("shard %d moves to %s", shard, node), func(ctx context.Context) error {
		s := f.rows()[shard]
		if s.Leader == node {
			return nil
		}
		_, err := f.cl.Place(ctx, client.PlaceRequest{Verb: client.PlaceMove, Shard: shard, To: node})
		if err == nil || hasCopy(&s, node) {
			_, err = f.cl.Handover(ctx, shard, node)
		}
		return errors.Join(err, fmt.Errorf("it is at %s", s.Leader))
	})
	f.settle()
}

// onlyBoth lets a shard have its copies on two nodes alone.
func (f *fleet) onlyBoth(one, two string) {
	f.t.Helper()
	for _, s := range f.rows()[1:] {
		if hasCopy(&s, one) && hasCopy(&s, two) {
			return
		}
	}
	s := f.rows()[1]
	for _, node := range []string{one, two} {
		if !hasCopy(&s, node) {
			f.bring(1, node)
		}
	}
	if s = f.rows()[1]; !hasCopy(&s, one) || !hasCopy(&s, two) {
		f.t.Fatalf("the copies of shard 1 are %+v", s.Replicas)
	}
}

// newerRowsAreRefused checks that no shard that a newer node leads takes a row that a node cannot read.
func (f *fleet) newerRowsAreRefused(node string) {
	f.t.Helper()
	checked := 0
	for shard := range uint32(fleetShards) {
		if f.rows()[shard].Leader == node {
			continue
		}
		checked++
		if err := f.put(nameInShard("refused", shard), newerMark); err == nil || !strings.Contains(err.Error(), "node "+node) {
			f.t.Errorf("a row for shard %d that %s cannot read: %v, want a refusal that names it", shard, node, err)
		}
	}
	if checked < fleetShards/2 {
		f.t.Errorf("%d shards were checked", checked)
	}
}

// mustTick registers a job of which no tick is left out.
func (f *fleet) mustTick(name string) {
	f.t.Helper()
	_, _, err := f.cl.Put(f.t.Context(), client.Job{
		Name: name, Schedule: "@every " + fleetTick.String(), Target: client.Target{Kind: "nats", Subject: "upgrade.log"},
		MissedRunPolicy: "backfill", MaxCatchupRuns: new(uint32(1000)),
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// identities returns the id and the version of each job.
func (f *fleet) identities() map[string]string {
	f.t.Helper()
	ids := make(map[string]string)
	list, err := f.cl.List(f.t.Context(), client.ListRequest{Limit: 1000})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, j := range list.Jobs {
		ids[j.Name] = fmt.Sprint(j.ID, " ", j.Version)
	}
	return ids
}

// tickedOnce checks that each tick between two runs of a job was decided, and once.
func (f *fleet) tickedOnce(name string) {
	f.t.Helper()
	page, err := f.cl.ListRuns(f.t.Context(), client.RunListRequest{Job: name, Limit: 1000})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(page.Runs) < 20 {
		f.t.Errorf("%s has %d runs", name, len(page.Runs))
	}
	for i := 1; i < len(page.Runs); i++ {
		if step := page.Runs[i-1].ScheduledAt.Sub(page.Runs[i].ScheduledAt.Time); step != fleetTick {
			f.t.Errorf("%s: %s between two ticks, at %v", name, step, page.Runs[i].ScheduledAt)
		}
	}
}
