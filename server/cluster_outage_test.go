package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
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
		troupe: &troupe{t: t}, store: filepath.Join(t.TempDir(), "nats"),
		dirs: map[string]string{"a": t.TempDir(), "b": t.TempDir()},
	}
	_, port, err := net.SplitHostPort(bustest.FreeAddrs(t, 1)[0]) // which is still free after an outage
	if err == nil {
		o.port, err = strconv.Atoi(port)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.powerOn()
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

// startWaiting starts a node that cannot lead before another one is there, and returns when it says so, with the address of
// its HTTP gateway. The channel gets the node when it is ready; it ends with the test.
func (o *outage) startWaiting(name, other string) (addr string, started <-chan *Server) {
	o.t.Helper()
	options := o.options(name, o.dirs[name])
	options.HTTPListen = bustest.FreeAddrs(o.t, 1)[0]
	ready := make(chan *Server, 1)
	go func() {
		s, err := Start(o.t.Context(), options)
		if err != nil {
			o.t.Errorf("start %s: %v", name, err)
			return
		}
		o.t.Cleanup(func() { _ = s.Close(context.Background()) })
		ready <- s
	}()
	testkit.Until(o.t, name+" waits for "+other+", and says so", func() bool {
		return strings.Contains(unready(options.HTTPListen), "waits for "+other+",")
	})
	return options.HTTPListen, ready
}

// TestOutageOfAll: power fails everywhere while the standby is down for maintenance; NATS loses the end of what it has
// acknowledged. The standby is started first, and waits for the former leader, which has it all.
func TestOutageOfAll(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	o.lease = shortLease
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

	addr, started := o.startWaiting("b", "a")
	lease, end := context.WithTimeout(t.Context(), shortLease+2*time.Second)
	defer end()
	if testkit.Poll(lease, func() bool { return unready(addr) == "" }) {
		t.Fatal("b does not wait any more")
	}
	a = o.start("a")
	b = testkit.Receive(t, started)
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
	t.Parallel()
	o := newOutage(t)
	o.lease = shortLease
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

	_, started := o.startWaiting("a", "b")
	b = o.start("b")
	a = testkit.Receive(t, started)
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
	t.Parallel()
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
