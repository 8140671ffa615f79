// Package bustest has NATS servers for the tests of those who connect to one.
package bustest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bench/ports"
)

// Run starts a NATS server on a free port of this machine with a configuration file; %s in it is a directory of its
// own. It ends with the test.
func Run(t *testing.T, config string) *server.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(config, "%s", t.TempDir())), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return RunWith(t, o)
}

// RunWith starts a NATS server with options on a free port of this machine. It ends with the test.
func RunWith(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not get ready")
	}
	return s
}

// OpenAll opens n buses side by side, as none comes up without others, for half a minute at most. Open opens the one with an
// index. They are closed when the test ends.
func OpenAll[B interface {
	comparable
	Close()
}](t *testing.T, n int, open func(ctx context.Context, i int) (B, error)) []B {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var none B
	buses, errs := make([]B, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { buses[i], errs[i] = open(ctx, i) })
	}
	all.Wait()
	for _, b := range buses {
		if b != none {
			t.Cleanup(b.Close)
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return buses
}

// FreeAddrs returns n addresses of this machine on which no program listened a moment ago. No address is returned twice. It is safe
// for concurrent use.
func FreeAddrs(t *testing.T, n int) []string {
	t.Helper()
	addrs, err := ports.Free(n)
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}
