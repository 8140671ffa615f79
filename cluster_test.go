package carillon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
)

// troupe is a cluster on one NATS server outside: what its nodes do to one another does not depend on how
// many servers carry their words.
type troupe struct {
	t     *testing.T
	url   string
	nodes map[string]*Server
	nc    *nats.Conn
	js    jetstream.JetStream
}

func newTroupe(t *testing.T) *troupe {
	t.Helper()
	s := runOutside(t, "port: -1\njetstream { store_dir: \"%s\" }\nmax_payload: 4194304\n")
	p := &troupe{t: t, url: s.ClientURL(), nodes: make(map[string]*Server)}
	var err error
	if p.nc, err = nats.Connect(p.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.nc.Close)
	if p.js, err = jetstream.New(p.nc); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *troupe) options(name, dir string) Options {
	return Options{
		Dir: dir, HTTPListen: "127.0.0.1:0", NATSURL: p.url, ClusterName: "prod", Node: name, AllowPrivateTargets: true,
		Lead: time.Second, Logger: testLog(),
	}
}

// start starts a node and returns it when it is ready.
func (p *troupe) start(name, dir string) *Server {
	p.t.Helper()
	s, err := Start(p.t.Context(), p.options(name, dir))
	if err != nil {
		p.t.Fatalf("start %s: %v", name, err)
	}
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
	p.nodes[name] = s
	return s
}

// kill ends a node as a signal would that cannot be caught: it gives nothing up and says nothing.
func (p *troupe) kill(s *Server) {
	s.stopEngine()
	<-s.nodeDone
}

func (p *troupe) client(standby bool) *client.Client {
	p.t.Helper()
	c, err := client.New(p.nc, client.Options{Standby: standby})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// put registers a job that ticks ten times a second.
func (p *troupe) put(name string) {
	p.t.Helper()
	_, _, err := p.client(false).Put(p.t.Context(), client.Job{
		Name: name, Schedule: "@every 100ms", Target: client.Target{Kind: "nats", Subject: "out." + name},
		MissedRunPolicy: "backfill", MaxCatchupRuns: new(uint32(1000)),
	})
	if err != nil {
		p.t.Fatalf("put %s: %v", name, err)
	}
}

// until waits for a condition.
func (p *troupe) until(what string, holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// info is what a node tells of the cluster over HTTP.
func (p *troupe) info(s *Server) client.Status {
	p.t.Helper()
	var status client.Status
	reply, err := http.Get(s.Ready().HTTP + "/api/v1/status")
	if err != nil {
		p.t.Fatal(err)
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(&status); err != nil {
		p.t.Fatal(err)
	}
	return status
}

func (p *troupe) leads(s *Server) func() bool {
	return func() bool { return p.info(s).Role == "leader" }
}

// level waits until a standby has what the leader has.
func (p *troupe) level(leader, standby *Server) {
	p.t.Helper()
	p.until("the standby is level", func() bool {
		return p.info(standby).Role == "standby" && standby.member.Applied() == leader.member.Applied()
	})
}

// eachTickOnce checks that every tick between two of a job's runs was decided, and once.
func (p *troupe) eachTickOnce(name string, atLeast int) {
	p.t.Helper()
	runs, err := p.client(false).ListRuns(p.t.Context(), client.RunListRequest{Job: name, Limit: 1000})
	if err != nil {
		p.t.Fatal(err)
	}
	if len(runs.Runs) < atLeast {
		p.t.Fatalf("%s has %d runs, want at least %d", name, len(runs.Runs), atLeast)
	}
	for i := 1; i < len(runs.Runs); i++ {
		later, earlier := runs.Runs[i-1], runs.Runs[i]
		if step := later.ScheduledAt.Sub(earlier.ScheduledAt.Time); step != 100*time.Millisecond {
			p.t.Errorf("%s: the tick at %v (%s) is followed by that at %v (%s)", name, earlier.ScheduledAt, earlier.Status, later.ScheduledAt, later.Status)
		}
	}
}

// TestTakeover: a leader dies without a word; the standby leads in about a second, under a higher epoch
// and fence, and no tick is lost or decided twice. The dead one comes back as a standby.
func TestTakeover(t *testing.T) {
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	a := p.start("a", dirs["a"])
	b := p.start("b", dirs["b"])
	if a.Ready().Role != "leader" || b.Ready().Role != "standby" {
		t.Fatalf("a is %s and b %s", a.Ready().Role, b.Ready().Role)
	}
	received := make(chan *nats.Msg, 10000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	first := receiveOne(t, received)
	p.kill(a)
	begun := time.Now()
	p.until("b leads", p.leads(b))
	t.Logf("took over after %s", time.Since(begun))
	p.put("y")
	var fence uint64
	p.until("a run of y comes", func() bool {
		m := receiveOne(t, received)
		if m.Header.Get("Carillon-Job") == "x" {
			fence = max(fence, fenceOf(t, m))
		}
		return m.Header.Get("Carillon-Job") == "y"
	})
	if fence <= fenceOf(t, first) {
		t.Errorf("the fence went from %d to %d", fenceOf(t, first), fence)
	}
	if st := p.info(b); st.Epoch != 2 || st.Cluster.Holder != "b" || st.Cluster.Term != 2 {
		t.Errorf("after the takeover: %+v, %+v", st, st.Cluster)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = p.start("a", dirs["a"])
	if a.Ready().Role != "standby" {
		t.Errorf("a came back as %s", a.Ready().Role)
	}
	p.level(b, a)
	p.eachTickOnce("x", 10)
}

func receiveOne(t *testing.T, messages <-chan *nats.Msg) *nats.Msg {
	t.Helper()
	select {
	case m := <-messages:
		return m
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		return nil
	}
}

func fenceOf(t *testing.T, m *nats.Msg) uint64 {
	t.Helper()
	fence, err := strconv.ParseUint(m.Header.Get("Carillon-Fence"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fence
}

// TestHandover: asked to, and at a stop, the leader lets the standby lead. No run is launched twice.
func TestHandover(t *testing.T) {
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	received := make(chan *nats.Msg, 10000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	receiveOne(t, received)
	c := p.client(false)
	if _, err := c.Handover(t.Context(), 0, "nobody"); err == nil || !strings.Contains(err.Error(), "no standby") {
		t.Errorf("a hand-over to nobody: %v", err)
	}
	reply, err := c.Handover(t.Context(), 0, "")
	if err != nil || reply.From != "a" || reply.To != "b" {
		t.Fatalf("handed over: %+v, %v", reply, err)
	}
	p.until("b leads", p.leads(b))
	p.level(b, a)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.until("a leads", p.leads(a))
	p.put("y")
	seen := make(map[string]int)
	p.until("a run of y comes", func() bool {
		m := receiveOne(t, received)
		seen[m.Header.Get("Carillon-Run-Id")]++
		return m.Header.Get("Carillon-Job") == "y"
	})
	for id, n := range seen {
		if n > 1 {
			t.Errorf("run %s was launched %d times", id, n)
		}
	}
	p.eachTickOnce("x", 5)
	if _, err := c.Handover(t.Context(), 0, ""); err == nil {
		t.Error("a hand-over without a standby was taken")
	}
}

// TestStandbyReads: a node that stands by answers reads that are meant for it, says how far it is behind,
// and changes nothing.
func TestStandbyReads(t *testing.T) {
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	c := p.client(true)
	if j, err := c.Get(t.Context(), "x"); err != nil || j.Name != "x" {
		t.Errorf("read from the standby: %+v, %v", j, err)
	}
	if _, err := c.Pause(t.Context(), "x", ""); !client.IsUnavailable(err) || !strings.Contains(err.Error(), "stands by") {
		t.Errorf("paused by the standby: %v", err)
	}
	m, err := p.nc.Request("carillon.standby.v1.default.jobs.get", []byte(`{"name":"x"}`), 5*time.Second)
	if err != nil || m.Header.Get("Carillon-Node") != "b" || m.Header.Get("Carillon-Lag") == "" {
		t.Errorf("the standby's reply: %v, %v", m, err)
	}
	if reply, err := http.Get(b.Ready().HTTP + "/readyz"); err != nil || reply.StatusCode != 200 {
		t.Errorf("the standby is not ready: %v, %v", reply, err)
	}
}

// TestJoinFromCheckpoint: a node without data joins a cluster whose stream does not go back to the
// beginning; it is sent a checkpoint, and can lead afterwards.
func TestJoinFromCheckpoint(t *testing.T) {
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
	p.until("b leads", p.leads(b))
	page, err := p.client(false).List(t.Context(), client.ListRequest{})
	if err != nil || len(page.Jobs) != 30 {
		t.Errorf("b has %d jobs: %v", len(page.Jobs), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "incoming", "*")); len(left) > 0 {
		t.Errorf("the join left %v", left)
	}
	p.eachTickOnce("job-7", 3)
}

// TestDivergedNodeJoinsAnew: a node comes back whose last commit the cluster never had. It puts the commit
// aside, and follows.
func TestDivergedNodeJoinsAnew(t *testing.T) {
	p := newTroupe(t)
	dir := t.TempDir()
	a, b := p.start("a", dir), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	p.kill(a)
	p.until("b leads", p.leads(b))
	// What a leader leaves that dies between its own disk and the stream.
	last := a.member.Last()
	if _, err := a.member.Append(last.Epoch, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = p.start("a", dir)
	p.level(b, a)
	saved, _ := filepath.Glob(filepath.Join(dir, "diverged-*"))
	if len(saved) != 1 {
		t.Errorf("put aside: %v", saved)
	}
}

// TestStreamGone: somebody deletes the stream under the leader, who makes it anew and goes on; somebody
// deletes it while the cluster is down, and its nodes refuse to forget what they had, unless told.
func TestStreamGone(t *testing.T) {
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
	p.until("a leads", p.leads(s))
	if _, err := p.client(false).Get(t.Context(), "y"); err != nil {
		t.Error(err)
	}
}

// TestForeignThings: what is none of the cluster's harms it not, and says what it is.
func TestForeignThings(t *testing.T) {
	p := newTroupe(t)
	dir := t.TempDir()
	a := p.start("a", dir)
	b := p.start("b", t.TempDir())
	if err := p.nc.Publish("carillon.log.0", []byte("no frame")); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	p.level(a, b)
	for _, s := range []*Server{a, b} {
		p.until("the alien message is counted", func() bool { return p.info(s).Cluster.Void["alien"] == 1 })
	}
	refuses := func(what, want string, change func(*Options)) {
		t.Helper()
		o := p.options("c", t.TempDir())
		change(&o)
		s, err := Start(t.Context(), o)
		if err == nil {
			_ = s.Close(context.Background())
			t.Errorf("%s was taken", what)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want something about %q", what, err, want)
		}
	}
	refuses("another cluster's stream", "carries the log of cluster", func(o *Options) { o.ClusterName = "test" })
	refuses("a name that is taken", "--node", func(o *Options) { o.Node = "a" })
	other := newTroupe(t)
	s := other.start("c", t.TempDir())
	moved := s.data.dir
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuses("another cluster's data", "empty data directory", func(o *Options) { o.Dir = moved })
	if _, err := os.Stat(filepath.Join(moved, "store")); err != nil {
		t.Error(err)
	}
}

// TestDurabilityLocal: commits count without the stream, and reach the standby all the same.
func TestDurabilityLocal(t *testing.T) {
	p := newTroupe(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Durability = DurabilityLocal
		s, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		return s
	}
	a, b := start("a"), start("b")
	p.put("x")
	p.level(a, b)
	if _, err := p.client(false).Handover(t.Context(), 0, ""); err != nil {
		t.Fatal(err)
	}
	p.until("b leads", p.leads(b))
	p.level(b, a)
	p.eachTickOnce("x", 1)
	if d := p.info(b).Cluster.Durability; d != "local" {
		t.Errorf("the status says %q", d)
	}
}

func testLog() *slog.Logger {
	if os.Getenv("CARILLON_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// TestJetStreamWithoutRoom: servers that cannot hold the log are an error that names the size and the flag.
func TestJetStreamWithoutRoom(t *testing.T) {
	s := runOutside(t, "port: -1\njetstream { store_dir: \"%s\", max_file_store: 10485760 }\nmax_payload: 4194304\n")
	p := &troupe{t: t, url: s.ClientURL()}
	got, err := Start(t.Context(), p.options("a", t.TempDir()))
	if err == nil {
		_ = got.Close(context.Background())
		t.Fatal("a log of 1 GiB was put into 10 MiB")
	}
	if !strings.Contains(err.Error(), "--stream-bytes-max") {
		t.Error(err)
	}
}
