package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/shard"
	"github.com/carillon-io/carillon/testkit"
)

// waitingLog counts the lines that say that a node waits for the cluster.
type waitingLog struct {
	slog.Handler
	waits *atomic.Int32
}

func (l waitingLog) Enabled(context.Context, slog.Level) bool { return true }
func (l waitingLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "waiting for the cluster" {
		l.waits.Add(1)
	}
	return nil
}
func (l waitingLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l waitingLog) WithGroup(string) slog.Handler      { return l }

// TestOneNodeBecomesACluster: a node alone is made the founder; an empty node waits for it, and is sent its jobs.
func TestOneNodeBecomesACluster(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	dir := lone(t, 30)
	o := p.options("a", dir)
	p.startFails(o, replication.ErrOwnData, "no cluster", "carillon cluster found --cluster-name prod")
	done, err := datadir.Found(datadir.FoundOptions{Dir: dir, ClusterName: "prod", Node: "a", Logger: discard})
	if err != nil || done.Jobs != 30 || done.Node != "a" || len(done.ClusterID) != 32 {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := datadir.Found(datadir.FoundOptions{Dir: dir, ClusterName: "prod", Logger: discard}); err != nil || again.ClusterID != done.ClusterID {
		t.Errorf("again: %+v, %v", again, err)
	}

	// As the founder does from the moment on at which it has a connection.
	rule, err := inbox.NewRule("carillon")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := replication.AnswerFounder(inbox.NewDesk(p.nc, rule, discard), "carillon", 0, "a", "prod")
	if err == nil {
		err = p.nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	waits := new(atomic.Int32)
	started := make(chan *Server, 1)
	go func() {
		o := p.options("b", filepath.Join(dir, "..", "b"))
		o.Logger = slog.New(waitingLog{waits: waits})
		s, err := Start(t.Context(), o)
		if err != nil {
			t.Errorf("start b: %v", err)
		}
		started <- s
	}()
	testkit.Until(p.t, "b waits", func() bool { return waits.Load() > 0 })
	a := p.start("a", dir)
	_ = sub.Unsubscribe()
	b := <-started
	if b == nil {
		return
	}
	defer b.Close(context.Background())
	p.level(a, b)
	if id := a.first().shard.Node().ID().String(); id != done.ClusterID || b.first().shard.Node().ID().String() != id {
		t.Errorf("the cluster is %s, and %s was drawn", id, done.ClusterID)
	}
	p.close(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	if n := p.jobs(); n != 30 {
		t.Errorf("b has %d jobs", n)
	}
}

// TestEmptyNodeWaitsForTheFoundersData: the founder dies between making the log and its first commit. An empty node must
// not begin a log of its own in it.
func TestEmptyNodeWaitsForTheFoundersData(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	dir := lone(t, 3)
	if _, err := datadir.Found(datadir.FoundOptions{Dir: dir, ClusterName: "prod", Node: "a", Logger: discard}); err != nil {
		t.Fatal(err)
	}
	d, err := openShard(datadir.Options{Dir: dir, ClusterName: "prod", Node: "a", Logger: discard}, datadir.ShardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	founder := shard.New(shard.Options{Data: d, Logger: discard, Cluster: &shard.Cluster{
		Replication: replication.Options{Conn: p.nc, Prefix: "carillon", Cluster: "prod", Node: "a", Replicas: 1, Logger: discard},
		OnFound:     func(context.Context) error { return errors.New("the founder ends once it has made the stream") },
	}})
	if err := founder.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "once it has made") {
		t.Fatal(err)
	}
	mustClose(t, d)
	said, role := new(testkit.Buffer), make(chan string, 1)
	go func() {
		o := p.options("b", filepath.Join(dir, "..", "b"))
		o.Logger = slog.New(slog.NewTextHandler(said, nil))
		s, err := Start(t.Context(), o)
		if err != nil {
			role <- err.Error()
			return
		}
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		role <- s.Ready().Role
	}()
	testkit.Until(t, "an empty node waits", func() bool {
		return len(role) > 0 || strings.Contains(said.String(), "must not lead")
	})
	p.start("a", dir)
	if n := p.jobs(); n != 3 {
		t.Errorf("%d jobs", n)
	}
	if b := testkit.Receive(t, role); b != "standby" {
		t.Errorf("the empty node is %s", b)
	}
}

// restored makes what a restore makes of a backup of a node: a copy without the file that says whose it is.
func restored(t *testing.T, dir string) string {
	t.Helper()
	to := testkit.CopyDir(t, dir)
	if err := os.Remove(filepath.Join(to, datadir.NodeName)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestRestoredBackupBesideItsOldLog: all nodes are lost, and NATS has the log. A backup to which the log still goes back
// is brought up to date by it; one to which it does not begins the cluster anew when the operator gives the log up.
func TestRestoredBackupBesideItsOldLog(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	a := p.start("a", dir)
	p.put("before")
	p.close(a)
	backup, second := restored(t, dir), restored(t, dir)
	a = p.start("a", dir)
	p.put("after")
	p.close(a)

	c := p.start("c", backup)
	if n := p.jobs(); n != 2 {
		t.Errorf("the log brought the backup to %d jobs", n)
	}
	stream, err := p.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	p.put("later")
	id := c.first().shard.Node().ID().String()
	o := p.options("d", second)
	p.startFails(o, replication.ErrOwnData, "--give-up "+id+" --lose-commits ", "commits ")
	if _, err := datadir.Found(datadir.FoundOptions{Dir: second, ClusterName: "prod", Logger: discard}); err != nil {
		t.Fatal(err)
	}
	p.startFails(o, replication.ErrOtherCluster, "--give-up "+id, "--discard-data")
	if _, err := datadir.Found(datadir.FoundOptions{Dir: second, ClusterName: "prod", GiveUp: id, Logger: discard}); err != nil {
		t.Fatal(err)
	}
	p.startFails(o, replication.ErrClusterLives, "node c")
	p.close(c)
	lost := p.lacks(o)
	if _, err := datadir.Found(datadir.FoundOptions{Dir: second, ClusterName: "prod", GiveUp: id, LoseCommits: lost - 1, Logger: discard}); err != nil {
		t.Fatal(err)
	}
	p.lacks(o)
	if _, err := datadir.Found(datadir.FoundOptions{Dir: second, ClusterName: "prod", GiveUp: id, LoseCommits: lost, Logger: discard}); err != nil {
		t.Fatal(err)
	}
	d, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.Background())
	testkit.Until(p.t, "d leads", p.leads(d))
	if n := p.jobs(); n != 1 || d.first().shard.Node().ID().String() == id {
		t.Errorf("%d jobs in the cluster %s", n, d.first().shard.Node().ID())
	}
	p.startFails(p.options("c", backup), replication.ErrOtherCluster, "--discard-data")
	o = p.options("c", backup)
	o.DiscardData = true
	again, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(context.Background())
	p.level(d, again)
	if n := len(kept(t, backup)); n != 2 {
		t.Errorf("%d things are put aside", n)
	}
}

// lacks starts a founder whose data lacks commits of the log that it gives up, which must be refused, and returns the number that the
// refusal names.
func (p *troupe) lacks(o Options) (commits uint64) {
	p.t.Helper()
	s, err := Start(p.t.Context(), o)
	if err == nil {
		_ = s.Close(context.Background())
	}
	if !errors.Is(err, replication.ErrGivesUpCommits) {
		p.t.Fatalf("%v; want %v", err, replication.ErrGivesUpCommits)
	}
	_, number, _ := strings.Cut(err.Error(), "--lose-commits ")
	if _, err := fmt.Sscan(strings.TrimSuffix(number, "`"), &commits); err != nil || commits == 0 {
		p.t.Fatalf("%q: %v", number, err)
	}
	return commits
}

// TestFounderOfAnEmbeddedCluster: a node alone with an embedded server becomes one of three members. All come up at the
// same moment, because JetStream serves when all are there, and the jobs are those of the founder.
func TestFounderOfAnEmbeddedCluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	nodes[0].Dir, nodes[2].Witness = lone(t, 20), true
	if _, err := datadir.Found(datadir.FoundOptions{Dir: nodes[0].Dir, ClusterName: "prod", Node: "a", Logger: discard}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range nodes {
		nodes[i].Logger, nodes[i].lease = testLog(), shortLease
	}
	servers := startAll(ctx, t, nodes...)
	p := &troupe{t: t}
	p.level(servers[0], servers[1])
	for i, s := range servers[:2] {
		if n := s.first().shard.Status().Jobs; n != 20 {
			t.Errorf("node %d has %d jobs", i, n)
		}
	}
}

// TestMistypedNameOfAnEmbeddedCluster: a node whose name for the cluster is wrong finds no peers; with the right one it
// does, and the servers take it in.
func TestMistypedNameOfAnEmbeddedCluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	nodes[2].Witness = true
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	servers, errs := make([]*Server, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for _, i := range []int{1, 2} {
		all.Go(func() { servers[i], errs[i] = Start(ctx, nodes[i]) })
	}
	wrong := nodes[0]
	wrong.ClusterName = "prdo"
	short, stop := context.WithTimeout(ctx, 4*time.Second)
	defer stop()
	if s, err := Start(short, wrong); err == nil {
		t.Errorf("a cluster of one came up: %+v", s.Ready())
		_ = s.Close(ctx)
	}
	servers[0], errs[0] = Start(ctx, nodes[0])
	all.Wait()
	for _, s := range servers {
		if s != nil {
			defer s.Close(context.Background())
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
