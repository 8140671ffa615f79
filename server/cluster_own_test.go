package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// aloneOptions are those of a node alone with an embedded server.
func aloneOptions(dir string) Options {
	return Options{Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: testLog()}
}

// lone makes a data directory of a node alone that has so many jobs.
func lone(t *testing.T, jobs int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "alone")
	s, err := Start(t.Context(), aloneOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	nc, c := clienttest.Connect(t, s.Ready().NATS)
	defer nc.Close()
	for i := range jobs {
		_, _, err := c.Put(t.Context(), client.Job{Name: fmt.Sprintf("own-%d", i), Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "out"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startFails starts a node, which must be refused with an error that says each of some things.
func (p *troupe) startFails(o Options, is error, wants ...string) {
	p.t.Helper()
	s, err := Start(p.t.Context(), o)
	if err == nil {
		_ = s.Close(context.Background())
	}
	if is != nil && !errors.Is(err, is) {
		p.t.Errorf("%v; want %v", err, is)
	}
	testkit.Refuses(p.t, err, wants...)
}

func (p *troupe) jobs() int {
	p.t.Helper()
	page, err := p.client(false).List(p.t.Context(), client.ListRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	return len(page.Jobs)
}

func (p *troupe) close(s *Server) {
	p.t.Helper()
	if err := s.Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// kept lists what a directory has put aside.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(inShard(dir), "*.*-*Z"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestOwnDataIsNotJoinedAway: the jobs of a node alone are not replaced by those of a cluster that an empty node founded,
// unless the operator says so; then they are put aside.
func TestOwnDataIsNotJoinedAway(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	b := p.start("b", t.TempDir())
	p.put("cluster")
	dir := lone(t, 30)
	o := p.options("a", dir)
	p.startFails(o, replication.ErrOwnData, "--discard-data", "carillon cluster found", "--give-up "+b.first().shard.Node().ID().String())
	again, err := Start(t.Context(), aloneOptions(dir))
	if err != nil {
		t.Fatalf("alone after the refusal: %v", err)
	}
	if n := again.Ready().Jobs; n != 30 {
		t.Errorf("alone again with %d jobs", n)
	}
	p.close(again)

	o.DiscardData = true
	a, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	p.level(b, a)
	if names := kept(t, dir); len(names) != 2 || !strings.Contains(strings.Join(names, " "), filepath.Join(inShard(dir), "store.replaced-")) {
		t.Errorf("put aside: %v", names)
	}
	p.close(a)
	a = p.start("a", dir) // without the flag: it is a member
	p.level(b, a)
	if n := len(kept(t, dir)); n != 2 {
		t.Errorf("%d things are put aside after a start as a member", n)
	}
}

// setsMost is how many times a node puts data aside.
const setsMost = 8

// TestReplacedDataIsBounded: a node that has put data aside eight times ends, and its data stays.
func TestReplacedDataIsBounded(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.start("b", t.TempDir())
	dir := lone(t, 3)
	for i := range setsMost {
		if err := os.Mkdir(filepath.Join(inShard(dir), fmt.Sprintf("store.replaced-2026110%dT000000.000Z", i+1)), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	o := p.options("a", dir)
	o.DiscardData = true
	p.startFails(o, datadir.ErrManyReplaced, "store.replaced-20261101T000000.000Z", "remove")
	if n := len(kept(t, dir)); n != setsMost {
		t.Errorf("%d sets are put aside", n)
	}
	if err := os.Remove(filepath.Join(inShard(dir), "store.replaced-20261101T000000.000Z")); err != nil {
		t.Fatal(err)
	}
	p.start("a", dir) // the directory remembers the flag
	if n := len(kept(t, dir)); n != setsMost+1 {
		t.Errorf("%d things are put aside, want %d", n, setsMost+1)
	}
}

// TestLaggingStandbyKeepsNoCopy: a standby that lacks what the stream has dropped receives a checkpoint; the
// leader sees that it has all of the replaced data, and nothing is put aside.
func TestLaggingStandbyKeepsNoCopy(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, dir := p.start("a", t.TempDir()), t.TempDir()
	b := p.start("b", dir)
	p.put("x")
	p.level(a, b)
	before := applied(b)
	p.close(b)
	p.put("y")
	stream, err := p.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	p.put("z")
	b = p.start("b", dir)
	p.level(a, b)
	if base := b.first().data.Log().Base(); base.LSN <= before.LSN {
		t.Errorf("the log begins at %v: no checkpoint was sent", base)
	}
	if names := kept(t, dir); len(names) != 0 {
		t.Errorf("put aside: %v", names)
	}
}

// TestWitnessHasADirectoryOfItsOwn: a witness refuses a node's directory, and a node a witness's.
func TestWitnessHasADirectoryOfItsOwn(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	p.close(p.start("a", dir))
	witness := Options{Dir: dir, ClusterName: "prod", Witness: true, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Routes: []string{"127.0.0.1:1"}, Logger: discard}
	p.startFails(witness, nil, "--witness", dir)
	witness.Dir = lone(t, 1)
	p.startFails(witness, nil, "--witness", witness.Dir)

	dir = t.TempDir()
	d, err := datadir.OpenWitness(datadir.Options{Dir: dir, ClusterName: "prod", Witness: true, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p.startFails(p.options("", dir), nil, "is the witness", "--witness")
}

// TestDataOfAnotherCluster: a node's data is given up for a cluster of another name only if the operator says so, and if
// that cluster is there.
func TestDataOfAnotherCluster(t *testing.T) {
	t.Parallel()
	first := newTroupe(t)
	dir := t.TempDir()
	a := first.start("a", dir)
	first.put("x")
	first.close(a)
	second := newTroupe(t)
	o := second.options("a", dir)
	o.ClusterName = "test"
	second.startFails(o, nil, `belongs to cluster "prod", not to "test"`)
	o.DiscardData = true
	second.startFails(o, replication.ErrOwnData, `no cluster "test"`)
	first.close(first.start("a", dir)) // it is what it was
	b := second.options("b", t.TempDir())
	b.ClusterName = "test"
	for _, o := range []Options{b, o} {
		s, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.Background())
	}
	if names := kept(t, dir); len(names) != 2 {
		t.Errorf("put aside: %v", names)
	}
	if id, err := datadir.ReadIdentity(dir); err != nil || id.Cluster != "test" || id.Node != "a" || id.State != datadir.StateMember {
		t.Errorf("%+v, %v", id, err)
	}
}

// TestMistypedClusterName: as long as no cluster was met, the next start with the right name works.
func TestMistypedClusterName(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, dir := p.start("a", t.TempDir()), t.TempDir()
	o := p.options("", dir)
	o.ClusterName = "prdo"
	p.startFails(o, replication.ErrOtherCluster, `"prdo"`)
	drawn, err := datadir.ReadIdentity(dir)
	if err != nil || drawn.State != datadir.StateNew {
		t.Fatalf("%+v, %v", drawn, err)
	}
	b := p.start("", dir)
	p.level(a, b)
	if b.opts.Node != drawn.Node {
		t.Errorf("the node is %s, and was %s", b.opts.Node, drawn.Node)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
