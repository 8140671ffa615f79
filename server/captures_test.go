package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestStreamsThatCapture makes streams over the server's subjects, and one that stores none of its requests,
// and checks the status.
func TestStreamsThatCapture(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	make := func(name string, noAck bool, subjects ...string) {
		t.Helper()
		_, err := p.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: subjects, NoAck: noAck, Storage: jetstream.MemoryStorage})
		if err != nil {
			t.Fatal(err)
		}
	}
	make("DEAD", false, "carillon.dead.>")
	make("NARROW", false, "carillon.v1.a.jobs.put")
	s := startDoors(t, p, func(o *Options) { o.Events = true })
	status := func() []string { return p.info(s).Warnings }
	if w := status(); len(w) != 1 || !strings.Contains(w[0], "stream NARROW captures") {
		t.Fatalf("at the start: %q", w)
	}
	make("AUDIT", true, "carillon.v1.b.>") // acknowledges nothing
	make("CONTROL", false, "carillon.backup.>", "carillon.standby.>")
	make("SHARDS", false, "carillon.shard.>")
	testkit.Until(p.t, "the status has it", func() bool { return len(status()) == 3 })
	if w := status(); !strings.Contains(w[0], "stream CONTROL captures") || !strings.Contains(w[1], "stream NARROW captures") || !strings.Contains(w[2], "stream SHARDS captures") {
		t.Errorf("later: %q", w)
	}
	c := of(t, p.nc, "c")
	if st, err := c.Status(t.Context()); err != nil || len(st.Warnings) != 3 {
		t.Errorf("over NATS: %q, %v", st.Warnings, err)
	}
	if !strings.Contains(scrape(t, s), "carillon_warnings 3\n") {
		t.Error("the metrics do not have the warnings")
	}
	_, _, err := of(t, p.nc, "a").Put(t.Context(), client.Job{Name: "x", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}})
	if err != nil && !errors.Is(err, client.ErrForeignReply) {
		t.Error(err)
	}
	for _, name := range []string{"NARROW", "CONTROL", "SHARDS"} {
		if err := p.js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Until(p.t, "the warnings are gone", func() bool { return len(status()) == 0 })
}

// TestClusterStreamsAreOwn: the streams of a cluster cause no warning.
func TestClusterStreamsAreOwn(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	o := p.options("a", t.TempDir())
	o.Events = true
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	if w := p.info(s).Warnings; len(w) != 0 {
		t.Errorf("%q", w)
	}
}

// TestStreamIsNoNode lets a stream capture the requests among the nodes of a cluster. Its acknowledgements do
// not count as a node's answer: a name counts as free, and a leader does not count as gone.
func TestStreamIsNoNode(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	_, err := p.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "NODES", Subjects: []string{"carillon.cluster.>"}, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	testkit.Until(t, "the standby warns of the stream, and of nothing else", func() bool {
		w := p.info(b).Warnings
		return len(w) == 1 && strings.Contains(w[0], "stream NODES captures")
	})
	if term := p.info(a).Cluster.Term; term != 1 {
		t.Errorf("the lease is in its term %d", term)
	}
}
