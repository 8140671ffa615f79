package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
)

// paths are what is asked of a server while it starts: probes, figures, pages, and the API.
var paths = []string{"/healthz", "/readyz", "/metrics", "/", "/jobs", "/cluster", "/api/v1/status", "/api/v1/jobs", "/api/v1/openapi.json", "/nothing"}

// TestHTTPWhileStarting requests every path after each step of a start, and in between. Each request has a
// reply: its result, or that the server is starting.
func TestHTTPWhileStarting(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	alone := p.options("", t.TempDir())
	alone.ClusterName, alone.Prefix = "", "alone"
	witness := Options{
		Witness: true, ClusterName: "prod", Node: "w", Dir: t.TempDir(), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: testLog(),
	}
	addrs := bustest.FreeAddrs(t, 2)
	witness.ClusterListen, witness.Routes = addrs[0], addrs[1:]
	for name, opts := range map[string]Options{"alone": alone, "node": p.options("a", t.TempDir()), "witness": witness} {
		t.Run(name, func(t *testing.T) { askWhileStarting(t, opts) })
	}
}

func askWhileStarting(t *testing.T, opts Options) {
	s, err := newServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var askers sync.WaitGroup
	defer askers.Wait()
	steps, begun := s.steps(), false
	if opts.Witness {
		steps = steps[:len(steps)-5] // without openBus and what follows it: it would wait for its peers, and has nothing to answer from before
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			t.Fatal(err)
		}
		if s.listener == nil {
			continue // the rights are read first
		}
		base := "http://" + s.listener.Addr().String()
		for _, path := range paths {
			askEarly(t, base, path)
		}
		if !begun {
			begun = true
			for _, path := range paths {
				askers.Go(func() {
					for ctx.Err() == nil {
						askEarly(t, base, path)
					}
				})
			}
		}
	}
	cancel()
}

// early asks with patience for no more than a slow machine.
var early = &http.Client{Timeout: 10 * time.Second}

// askEarly checks the answer to one request.
func askEarly(t *testing.T, base, path string) {
	t.Helper()
	res, err := early.Get(base + path)
	if err != nil {
		t.Errorf("GET %s: %v", path, err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	var refusal client.ErrorReply
	switch {
	case err != nil || res.StatusCode == http.StatusInternalServerError:
		t.Errorf("GET %s: %d %s, %v", path, res.StatusCode, body, err)
	case path == "/healthz" && res.StatusCode != http.StatusOK:
		t.Errorf("GET %s: %d %s", path, res.StatusCode, body)
	case path == "/readyz":
		if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("GET %s: %d %s", path, res.StatusCode, body)
		}
	case res.StatusCode == http.StatusServiceUnavailable && strings.HasPrefix(path, "/api/"):
		isMeanwhile := json.Unmarshal(body, &refusal) == nil && refusal.Error != nil && // a node stands by before the first one leads
			(refusal.Error.Code == client.CodeUnavailable || refusal.Error.Code == client.CodeNotLeader)
		if !isMeanwhile || res.Header.Get("Retry-After") == "" {
			t.Errorf("GET %s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
	}
}
