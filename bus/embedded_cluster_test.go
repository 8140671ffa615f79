package bus

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// nodeOptions are those of n nodes whose embedded servers are one another's peers.
func nodeOptions(t *testing.T, n int) []Options {
	t.Helper()
	routes := bustest.FreeAddrs(t, n)
	var nodes []Options
	for i, addr := range routes {
		nodes = append(nodes, Options{
			StoreDir: filepath.Join(t.TempDir(), "nats"), Listen: "127.0.0.1:0", ClusterName: "prod", Node: string(rune('a' + i)),
			ClusterListen: addr, Routes: routes, ClusterPassword: "tower", Logger: slog.New(slog.DiscardHandler),
		})
	}
	return nodes
}

// openBuses opens the buses of nodes side by side.
func openBuses(t *testing.T, nodes ...Options) []*Bus {
	t.Helper()
	return bustest.OpenAll(t, len(nodes), func(ctx context.Context, i int) (*Bus, error) { return Open(ctx, nodes[i]) })
}

// TestEmbeddedServersFormACluster starts three nodes, keeps a log on all three of them, takes away the
// one that leads it, and goes on with the other two.
func TestEmbeddedServersFormACluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	waitsForPeers(t, nodes[0])
	buses := openBuses(t, nodes...)
	js, err := jetstream.New(buses[0].api)
	if err != nil {
		t.Fatal(err)
	}
	var stream jetstream.Stream
	testkit.Retry(t, "create a stream on three servers", func(ctx context.Context) (err error) {
		stream, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log"}, Replicas: 3})
		return err
	})
	testkit.Retry(t, "publish", func(ctx context.Context) error {
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
		warnings, err := b.Check(t.Context(), b.api)
		if err != nil || len(warnings) > 0 {
			t.Errorf("node %d: %q, %v; want no warnings", i, warnings, err)
		}
	}

	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var left []*Bus
	for _, b := range buses {
		if b.opts.Node == info.Cluster.Leader {
			b.Close()
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
	testkit.Retry(t, "publish without the leader", func(ctx context.Context) error {
		_, err := js.Publish(ctx, "log", []byte("after"))
		return err
	})

	// All are down, and two come back, the one before the other: that is enough, and nothing is lost.
	left[0].Close()
	left[1].Close()
	waitsForPeers(t, left[0].opts)
	again := openBuses(t, left[0].opts, left[1].opts)
	if js, err = jetstream.New(again[0].api); err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "read what was written", func(ctx context.Context) error {
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
	said := &testkit.Buffer{}
	o.Logger = slog.New(slog.NewTextHandler(said, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gaveUp := make(chan error, 1)
	go func() {
		_, err := Open(ctx, o)
		gaveUp <- err
	}()
	testkit.Retry(t, "say what is missing", func(context.Context) error {
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
