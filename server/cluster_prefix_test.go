package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// alone are the options of a server without a cluster on the troupe's NATS.
func (p *troupe) alone(dir string) Options {
	o := p.options("", dir)
	o.ClusterName = ""
	return o
}

// refusesToStart starts a server, which must be refused because the prefix is served, with these words.
func (p *troupe) refusesToStart(o Options, words ...string) {
	p.t.Helper()
	s, err := Start(p.t.Context(), o)
	if err == nil {
		_ = s.Close(context.Background())
		p.t.Fatalf("a second server serves the prefix")
	}
	if !errors.Is(err, ErrPrefixServed) {
		p.t.Fatalf("refused by %v, want %v", err, ErrPrefixServed)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			p.t.Errorf("the refusal does not have %q: %v", word, err)
		}
	}
}

// TestTwoServersOnOnePrefix: of two servers without a cluster the second is refused, with the name of the first, and
// works with a prefix of its own, or when the first has gone.
func TestTwoServersOnOnePrefix(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	first := p.startWith(p.alone(t.TempDir()))
	o := p.alone(t.TempDir())
	p.refusesToStart(o, "a server without a cluster on host", "process ", "--prefix", `"carillon"`)
	o.Prefix = "other"
	p.startWith(o)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.startWith(p.alone(t.TempDir()))
}

// TestServersThatStartTogether: of servers without a cluster that start at the same time on one prefix one is up.
func TestServersThatStartTogether(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	for range 5 {
		servers, errs := make([]*Server, 3), make([]error, 3)
		var all sync.WaitGroup
		for i := range servers {
			o := p.alone(t.TempDir())
			all.Go(func() { servers[i], errs[i] = Start(t.Context(), o) })
		}
		all.Wait()
		up := 0
		for i, s := range servers {
			if s != nil {
				up++
				_ = s.Close(context.Background())
			} else if !errors.Is(errs[i], ErrPrefixServed) {
				t.Error(errs[i])
			}
		}
		if up != 1 {
			t.Fatalf("%d servers serve the prefix: %v", up, errs)
		}
	}
}

// TestServerBesideACluster: a server without a cluster is refused while nodes are up on its prefix, and while their
// log is in NATS, and starts when it is deleted.
func TestServerBesideACluster(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	dir := t.TempDir()
	p.refusesToStart(p.alone(dir), "of cluster prod (", "--cluster-name prod", "--prefix")
	for _, s := range []*Server{b, a} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	name := replication.StreamName("carillon", 0)
	p.refusesToStart(p.alone(dir), "log of the cluster prod", name, "nats stream rm", "--cluster-name prod")
	if err := p.js.DeleteStream(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	p.startWith(p.alone(dir))
}

// TestStandbyThatLostItsName: a standby whose file NODE is missing does not lead without a cluster name, and is a
// standby again when the file is back.
func TestStandbyThatLostItsName(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	a, b := p.start("a", t.TempDir()), p.start("b", dir)
	p.put("x")
	p.level(a, b)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(dir, datadir.NodeName)
	if err := os.Rename(node, node+".away"); err != nil {
		t.Fatal(err)
	}
	p.refusesToStart(p.alone(dir), "node a of cluster prod (leader)")
	if err := os.Rename(node+".away", node); err != nil {
		t.Fatal(err)
	}
	p.level(a, p.start("b", dir))
}

// TestClusterBesideAServer: a node does not found a cluster on the prefix of a server without one, and a node of a
// cluster that was there before does not lead beside it.
func TestClusterBesideAServer(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	intruder := p.startWith(p.alone(t.TempDir()))
	dir := t.TempDir()
	p.refusesToStart(p.options("a", dir), "a server without a cluster", "--prefix")
	if err := intruder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := p.start("a", dir)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.js.DeleteStream(t.Context(), replication.StreamName("carillon", 0)); err != nil {
		t.Fatal(err)
	}
	p.startWith(p.alone(t.TempDir()))
	o := p.options("a", dir)
	o.RecreateStream = true
	p.refusesToStart(o, "a server without a cluster", "stop that one")
}

// TestIntruder: a server that may not ask NATS who serves its prefix comes up beside a cluster. Both sides say so
// in their status, and a standby can come back beside it as long as its cluster has a leader.
func TestIntruder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers look for others each ten seconds")
	}
	p := newTroupeOn(t, `
authorization { users: [ {user: a, password: p}, {user: x, password: p, permissions: { publish: { deny: ["carillon.cluster.0.who", "$JS.API.>"] } } } ] }
no_auth_user: a
`)
	dir := t.TempDir()
	a, b := p.start("a", t.TempDir()), p.start("b", dir)
	o := p.alone(t.TempDir())
	o.NATSURL = strings.Replace(p.url, "nats://", "nats://x:p@", 1)
	x := p.startWith(o)
	says := func(s *Server) func() bool {
		return func() bool {
			return strings.Contains(strings.Join(p.info(s).Warnings, "\n"), "a server without a cluster on host")
		}
	}
	testkit.Until(p.t, "the leader says so", says(a))
	testkit.Until(p.t, "the standby says so", says(b))
	if !strings.Contains(scrape(t, a), "carillon_warnings 1\n") {
		t.Error("the metrics do not have the warning")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = p.start("b", dir)
	p.level(a, b)
	for _, s := range []*Server{b, a} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	p.refusesToStart(p.options("b", dir), "a server without a cluster")
	if err := x.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := p.options("b", dir)
	last.LeadAlone = true // without a wait for the other one
	b = p.startWith(last)
	testkit.Until(p.t, "b leads", p.leads(b))
	if w := p.info(b).Warnings; len(w) > 0 {
		t.Errorf("%q", w)
	}
}
