package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// freeAddrs returns addresses on which no program listened a moment ago.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

// nodeOptions are those of n nodes whose embedded servers are one another's peers.
func nodeOptions(t *testing.T, n int) []Options {
	t.Helper()
	routes := freeAddrs(t, n)
	var nodes []Options
	for i, addr := range routes {
		o := Options{
			Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0",
			ClusterName: "prod", Node: string(rune('a' + i)), ClusterListen: addr, Routes: routes, ClusterPassword: "tower",
			Logger: slog.New(slog.DiscardHandler),
		}.withDefaults()
		if err := o.validate(); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, o)
	}
	return nodes
}

// openBuses opens the buses of nodes side by side, as none comes up without others.
func openBuses(t *testing.T, nodes ...Options) []*bus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	buses, errs := make([]*bus, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, o := range nodes {
		all.Go(func() { buses[i], errs[i] = openBus(ctx, o) })
	}
	all.Wait()
	for _, b := range buses {
		if b != nil {
			t.Cleanup(b.close)
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return buses
}

// eventually repeats a call until it succeeds, as clients do while a cluster elects.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := try(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond) // between two tries, not in place of one
	}
}

// TestEmbeddedServersFormACluster starts three nodes, keeps a log on all three of them, takes away the
// one that leads it, and goes on with the other two.
func TestEmbeddedServersFormACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	buses := openBuses(t, nodes...)
	js, err := jetstream.New(buses[0].api)
	if err != nil {
		t.Fatal(err)
	}
	var stream jetstream.Stream
	eventually(t, "create a stream on three servers", func(ctx context.Context) (err error) {
		stream, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log"}, Replicas: 3})
		return err
	})
	eventually(t, "publish", func(ctx context.Context) error {
		_, err := js.Publish(ctx, "log", []byte("before"))
		return err
	})
	if here, size := buses[0].members(); here != 3 || size != 3 {
		t.Errorf("%d of %d members are here; want 3 of 3", here, size)
	}
	for i, b := range buses {
		if !b.embedded.JetStreamConfig().SyncAlways {
			t.Errorf("node %d acknowledges before it syncs", i)
		}
		warnings, err := b.check(t.Context(), b.api, 3)
		if err != nil || len(warnings) > 0 {
			t.Errorf("node %d: %q, %v; want no warnings", i, warnings, err)
		}
	}

	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var left []*bus
	for _, b := range buses {
		if b.opts.Node == info.Cluster.Leader {
			b.close()
		} else {
			left = append(left, b)
		}
	}
	if len(left) != 2 {
		t.Fatalf("the stream is led by %q, which is no name of a node", info.Cluster.Leader)
	}
	if js, err = jetstream.New(left[0].api); err != nil {
		t.Fatal(err)
	}
	eventually(t, "publish without the leader", func(ctx context.Context) error {
		_, err := js.Publish(ctx, "log", []byte("after"))
		return err
	})

	// All are down, and two come back, the one before the other: that is enough, and nothing is lost.
	left[0].close()
	left[1].close()
	waitsForPeers(t, left[0].opts)
	again := openBuses(t, left[0].opts, left[1].opts)
	if js, err = jetstream.New(again[0].api); err != nil {
		t.Fatal(err)
	}
	eventually(t, "read what was written", func(ctx context.Context) error {
		stream, err := js.Stream(ctx, "LOG")
		if err != nil {
			return err
		}
		m, err := stream.GetLastMsgForSubject(ctx, "log")
		if err == nil && string(m.Data) != "after" {
			t.Errorf("the last message is %q", m.Data)
		}
		return err
	})
}

// waitsForPeers starts one node of three alone: it logs what it waits for, and gives up only when its context
// ends.
func waitsForPeers(t *testing.T, o Options) {
	t.Helper()
	said := &lockedBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(said, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gaveUp := make(chan error, 1)
	go func() {
		_, err := openBus(ctx, o)
		gaveUp <- err
	}()
	eventually(t, "say what is missing", func(context.Context) error {
		if !strings.Contains(said.String(), "waiting for peers: 1 of 3 are here; the first start of a cluster needs all, a later one 2") {
			return errors.New(said.String())
		}
		return nil
	})
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 of 3") {
		t.Errorf("it gave up with %v", err)
	}
	if strings.Contains(said.String(), "level=ERROR") {
		t.Errorf("a peer that is not up yet is no error: %s", said)
	}
}

// TestWitness starts a witness and two nodes: the witness is a member as they are, reports itself as a witness,
// and has neither a log nor a store.
func TestWitness(t *testing.T) {
	nodes := nodeOptions(t, 3)
	waitsForPeers(t, nodes[0])
	nodes[1].Witness, nodes[1].Node = true, ""
	witnesses := make(chan *Server, 1)
	go func() {
		w, err := Start(t.Context(), nodes[1])
		if err != nil {
			t.Error(err)
		}
		witnesses <- w
	}()
	openBuses(t, nodes[0], nodes[2])
	w := <-witnesses
	if w == nil {
		return
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	if r := w.Ready(); r.Role != "witness" || r.Jobs != 0 || !strings.HasPrefix(r.NATS, "nats://127.0.0.1:") {
		t.Errorf("the witness is ready as %+v", r)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		eventually(t, path, func(ctx context.Context) error { return get(ctx, w.Ready().HTTP+path) })
	}
	for _, name := range []string{"wal", "store"} {
		if _, err := os.Stat(filepath.Join(nodes[1].Dir, name)); err == nil {
			t.Errorf("a witness has made %s", name)
		}
	}
	if id := mustOpenIdentity(t, nodes[1].Dir, Options{ClusterName: "prod", Witness: true}); !strings.Contains(id.Node, "-") {
		t.Errorf("the witness has no name of its own: %+v", id)
	}
	closing, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := w.Close(closing); err != nil {
		t.Error(err)
	}
}

// get fetches a URL, which must answer 200.
func get(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// lockedBuffer keeps what a logger writes while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
