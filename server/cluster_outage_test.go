package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// outage is a troupe whose NATS server can lose power: it then loses what it had not synced.
type outage struct {
	*troupe
	store string
	nats  *server.Server
	port  int
	dirs  map[string]string
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	o := &outage{
		troupe: &troupe{t: t, nodes: make(map[string]*Server)}, store: filepath.Join(t.TempDir(), "nats"), port: server.RANDOM_PORT,
		dirs: map[string]string{"a": t.TempDir(), "b": t.TempDir()},
	}
	o.powerOn()
	var err error
	if o.nc, err = nats.Connect(o.url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.nc.Close)
	if o.js, err = jetstream.New(o.nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.powerOff() })
	return o
}

func (o *outage) powerOn() {
	o.t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: o.port, JetStream: true, StoreDir: o.store, MaxPayload: 4 << 20, NoSigs: true, NoLog: true})
	if err != nil {
		o.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		o.t.Fatal("the NATS server does not get ready")
	}
	o.nats, o.url = s, s.ClientURL()
	_, _ = fmt.Sscanf(o.url[strings.LastIndex(o.url, ":")+1:], "%d", &o.port)
}

func (o *outage) powerOff() {
	o.nats.Shutdown()
	o.nats.WaitForShutdown()
}

// image copies what the server has synced so far.
func (o *outage) image() string {
	o.t.Helper()
	image := filepath.Join(o.t.TempDir(), "image")
	o.powerOff()
	if err := os.CopyFS(image, os.DirFS(o.store)); err != nil {
		o.t.Fatal(err)
	}
	o.powerOn()
	return image
}

// lose resets the server to an image.
func (o *outage) lose(image string) {
	o.t.Helper()
	o.powerOff()
	if err := os.RemoveAll(o.store); err != nil {
		o.t.Fatal(err)
	}
	if err := os.CopyFS(o.store, os.DirFS(image)); err != nil {
		o.t.Fatal(err)
	}
	o.powerOn()
}

func (o *outage) start(name string) *Server { return o.troupe.start(name, o.dirs[name]) }

// cut ends a node as a power failure does.
func (o *outage) cut(s *Server) {
	o.t.Helper()
	o.kill(s)
	if err := s.Close(context.Background()); err != nil {
		o.t.Fatal(err)
	}
}

// register puts jobs that tick once an hour, and waits until each is acknowledged.
func (o *outage) register(what string, n int) {
	o.t.Helper()
	for i := range n {
		var err error
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			ctx, cancel := context.WithTimeout(o.t.Context(), 5*time.Second)
			_, _, err = o.client(false).Put(ctx, client.Job{
				Name: fmt.Sprintf("%s-%d", what, i), Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "out." + what},
			})
			if cancel(); err == nil {
				break
			}
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
}

// jobs counts the jobs of a node.
func (o *outage) jobs(s *Server) int { return o.info(s).Jobs }

// nothingAside fails if a node has put data aside.
func (o *outage) nothingAside() {
	o.t.Helper()
	for _, dir := range o.dirs {
		for _, pattern := range []string{"diverged-*", "*.replaced-*", "*.behind-*"} {
			if found, _ := filepath.Glob(filepath.Join(inShard(dir), pattern)); len(found) > 0 {
				o.t.Errorf("it was put aside: %v", found)
			}
		}
	}
}

// unready returns the body of /readyz of a node that starts, if it is not ready.
func unready(address string) string {
	reply, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return ""
	}
	defer reply.Body.Close()
	var body struct {
		Waits string `json:"waits"`
	}
	if reply.StatusCode != http.StatusServiceUnavailable || json.NewDecoder(reply.Body).Decode(&body) != nil {
		return ""
	}
	return body.Waits
}

// TestOutageOfAll: power fails everywhere while the standby is down for maintenance; NATS loses the end of what it has
// acknowledged. The standby is started first, and waits for the former leader, which has it all.
func TestOutageOfAll(t *testing.T) {
	o := newOutage(t)
	a, b := o.start("a"), o.start("b")
	o.register("before", 3)
	o.level(a, b)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	image := o.image()
	o.register("after", 20)
	o.cut(a)
	o.lose(image)

	options := o.options("b", o.dirs["b"])
	options.HTTPListen = bustest.FreeAddrs(t, 1)[0]
	started := make(chan *Server, 1)
	go func() {
		s, err := Start(t.Context(), options)
		if err != nil {
			t.Errorf("start b: %v", err)
		}
		started <- s
	}()
	testkit.Until(o.t, "b waits for a, and says so", func() bool { return strings.Contains(unready(options.HTTPListen), "waits for a,") })
	lease, end := context.WithTimeout(t.Context(), 17*time.Second) // longer than the lease
	defer end()
	if testkit.Poll(lease, func() bool { return unready(options.HTTPListen) == "" }) {
		t.Fatal("b does not wait any more")
	}
	a = o.start("a")
	if b = <-started; b == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	testkit.Until(o.t, "a leads", o.leads(a))
	o.level(a, b)
	if got := o.jobs(b); got != 23 {
		t.Errorf("b has %d jobs, want 23", got)
	}
	if waits := o.info(b).Cluster.Waits; waits != "" {
		t.Errorf("b still waits: %s", waits)
	}
	o.nothingAside()
}

// TestOutageAfterTakeover: the leader dies, its standby takes over and acknowledges jobs, power fails everywhere, and NATS comes
// back as it was when the first leader died. That one is started first: the lease is as it renewed it last, and it waits for the
// other all the same.
func TestOutageAfterTakeover(t *testing.T) {
	o := newOutage(t)
	a, b := o.start("a"), o.start("b")
	o.register("before", 3)
	o.level(a, b)
	image := o.image()
	testkit.Until(o.t, "a leads on", o.leads(a))
	o.cut(a)
	testkit.Until(o.t, "b leads", o.leads(b))
	o.register("after", 20)
	o.cut(b)
	o.lose(image)

	options := o.options("a", o.dirs["a"])
	options.HTTPListen = bustest.FreeAddrs(t, 1)[0]
	started := make(chan *Server, 1)
	go func() {
		s, err := Start(t.Context(), options)
		if err != nil {
			t.Errorf("start a: %v", err)
		}
		started <- s
	}()
	testkit.Until(o.t, "a waits for b, and says so", func() bool { return strings.Contains(unready(options.HTTPListen), "waits for b,") })
	b = o.start("b")
	if a = <-started; a == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	testkit.Until(o.t, "b leads", o.leads(b))
	o.level(b, a)
	if got := o.jobs(a); got != 23 {
		t.Errorf("a has %d jobs, want 23", got)
	}
	o.nothingAside()
}

// TestRestartAloneWaitsForNothing: the standby ends in order, and the leader dies and starts again beside no other node: it
// leads at once.
func TestRestartAloneWaitsForNothing(t *testing.T) {
	o := newOutage(t)
	a, b := o.start("a"), o.start("b")
	o.register("x", 3)
	o.level(a, b)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.cut(a)
	begun := time.Now()
	a = o.start("a")
	if took := time.Since(begun); a.Ready().Role != "leader" || took > 10*time.Second {
		t.Errorf("a is %s after %s", a.Ready().Role, took)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a = o.start("a"); a.Ready().Role != "leader" {
		t.Errorf("a is %s after a stop", a.Ready().Role)
	}
}

// TestAcknowledgedIsOnTheStandbysDisk: where NATS is not known to have on disk what it acknowledges, an acknowledgement waits
// for the disk of a standby that is in step, and only for so long. Where it is known, it waits for none.
func TestAcknowledgedIsOnTheStandbysDisk(t *testing.T) {
	for _, syncs := range []bool{false, true} {
		t.Run(fmt.Sprintf("NATS syncs %v", syncs), func(t *testing.T) {
			o := newOutage(t)
			start := func(name string) *Server {
				options := o.options(name, o.dirs[name])
				options.NATSSyncs = syncs
				s, err := Start(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close(context.Background()) })
				return s
			}
			a, b := start("a"), start("b")
			o.register("x", 5)
			o.level(a, b)
			release := b.shard.Stall() // the standby answers, but cannot write to its log
			acknowledged := make(chan struct{})
			go func() { o.register("y", 1); close(acknowledged) }()
			select {
			case <-acknowledged:
				if !syncs {
					t.Error("it was acknowledged before the standby had it")
				}
			case <-time.After(time.Second):
				if syncs {
					t.Error("it was not acknowledged, though NATS has it on disk")
				}
			}
			release()
			<-acknowledged
			o.level(a, b)
			release = b.shard.Stall()
			begun := time.Now()
			o.register("z", 1)
			held := time.Since(begun)
			o.register("z", 3)
			release()
			if all := time.Since(begun); held > 4*time.Second || all > held+2*time.Second {
				t.Errorf("a standby with a slow disk held one up for %s, and four for %s", held, all)
			}
		})
	}
}
