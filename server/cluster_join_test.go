package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// TestJoinFromCheckpoint: a node without data joins a cluster whose stream does not reach back to the
// beginning; it receives a checkpoint, and can lead afterwards.
func TestJoinFromCheckpoint(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a := p.start("a", t.TempDir())
	for i := range 30 {
		p.put(fmt.Sprintf("job-%d", i))
	}
	stream, err := p.js.Stream(t.Context(), replication.StreamName("carillon", 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := p.start("b", dir)
	p.level(a, b)
	p.kill(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	page, err := p.client(false).List(t.Context(), client.ListRequest{})
	if err != nil || len(page.Jobs) != 30 {
		t.Errorf("b has %d jobs: %v", len(page.Jobs), err)
	}
	if left, _ := filepath.Glob(filepath.Join(inShard(dir), "incoming", "*")); len(left) > 0 {
		t.Errorf("the join left %v", left)
	}
	p.eachTickOnce("job-7", 3)
}

// TestDivergedNodeJoinsAnew: a node comes back whose last commit the cluster never had. It puts the commit
// aside, and follows.
func TestDivergedNodeJoinsAnew(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	a, b := p.start("a", dir), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	p.kill(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	// A commit of a leader that died after its own disk had it, and before the stream had it.
	log := a.first().data.Log()
	if _, err := log.Append(log.Last().Epoch, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = p.start("a", dir)
	p.level(b, a)
	saved, _ := filepath.Glob(filepath.Join(inShard(dir), "diverged-*"))
	if len(saved) != 1 {
		t.Errorf("put aside: %v", saved)
	}
}

// TestStreamGone: an operator deletes the stream under the leader, which makes it anew and goes on. An operator
// deletes it while the cluster is down, and its nodes refuse to start without the log unless a flag permits it.
func TestStreamGone(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	a, b := p.start("a", dirs["a"]), p.start("b", dirs["b"])
	p.put("x")
	name := replication.StreamName("carillon", 0)
	if err := p.js.DeleteStream(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	p.put("y")
	p.level(a, b)
	for _, s := range []*Server{b, a} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.js.DeleteStream(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	o := p.options("a", dirs["a"])
	if s, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--recreate-stream") {
		t.Fatalf("started without the stream: %v, %v", s, err)
	}
	o.RecreateStream = true
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	testkit.Until(p.t, "a leads", p.leads(s))
	if _, err := p.client(false).Get(t.Context(), "y"); err != nil {
		t.Error(err)
	}
}
