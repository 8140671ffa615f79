package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// nodeOptions are those of n nodes whose embedded servers are one another's peers.
func nodeOptions(t *testing.T, n int) []Options {
	t.Helper()
	routes := bustest.FreeAddrs(t, n)
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

// openBuses opens the buses of nodes side by side.
func openBuses(t *testing.T, nodes ...Options) []*bus.Bus {
	t.Helper()
	return bustest.OpenAll(t, len(nodes), func(ctx context.Context, i int) (*bus.Bus, error) { return bus.Open(ctx, busOptions(nodes[i])) })
}

// startWitness starts a witness while the buses of other nodes open, as neither comes up without the other. Both end with the
// test.
func startWitness(t *testing.T, witness Options, others ...Options) (*Server, []*bus.Bus) {
	t.Helper()
	witnesses := make(chan *Server, 1)
	go func() {
		w, err := Start(t.Context(), witness)
		if err != nil {
			t.Error(err)
		}
		witnesses <- w
	}()
	buses := openBuses(t, others...)
	w := <-witnesses
	if w == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w, buses
}

// startAll starts nodes side by side, as none comes up without others. They end with the test.
func startAll(ctx context.Context, t *testing.T, nodes ...Options) []*Server {
	t.Helper()
	servers, errs := make([]*Server, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, o := range nodes {
		all.Go(func() { servers[i], errs[i] = Start(ctx, o) })
	}
	all.Wait()
	for _, s := range servers {
		if s != nil {
			t.Cleanup(func() { _ = s.Close(context.Background()) })
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers
}

// onceLed repeats a request over HTTP until a leader answers it: on a busy machine a cluster may be without one for a moment.
func onceLed(t *testing.T, ask func() testkit.Reply) (r testkit.Reply) {
	t.Helper()
	testkit.Until(t, "a leader answers", func() bool {
		r = ask()
		return r.Status != http.StatusServiceUnavailable
	})
	return r
}

// busOptions are those of the way to NATS of a server with these options.
func busOptions(o Options) bus.Options { return (&Server{opts: o}).busOptions() }

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
