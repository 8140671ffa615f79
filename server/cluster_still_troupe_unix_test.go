//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// serverEnv is the environment variable with the configuration of the NATS server that a child process runs.
const serverEnv = "CARILLON_TEST_SERVER"

// TestServerProcess is not a test: it runs a NATS server in a child process.
func TestServerProcess(t *testing.T) {
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip("it is run by other tests")
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs, o.NoLog = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not get ready")
	}
	fmt.Println("ready", s.ClientURL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test has ended
}

// stillTroupe is a cluster on three NATS servers, two of which can stand still: then no commit is acknowledged, while
// the first one, which both nodes use, carries all other messages.
type stillTroupe struct {
	*troupe
	others []*nodeProcess
	keeps  string // durability
	logger *slog.Logger
	runs   chan *nats.Msg
	seen   map[string]int
}

func newStillTroupe(t *testing.T, durability string) (p *stillTroupe, a, b *Server) {
	t.Helper()
	p = newStillServers(t, durability)
	return p, p.start("a", t.TempDir()), p.start("b", t.TempDir())
}

func newStillServers(t *testing.T, durability string) (p *stillTroupe) {
	t.Helper()
	if testing.Short() {
		t.Skip("three NATS servers take seconds to find each other")
	}
	p = &stillTroupe{troupe: &troupe{t: t}, keeps: durability, logger: testLog(), runs: make(chan *nats.Msg, 100_000), seen: make(map[string]int)}
	routes := bustest.FreeAddrs(t, 3)
	for i, addr := range routes {
		path := filepath.Join(t.TempDir(), "nats.conf")
		config := fmt.Sprintf("server_name: s%d\nlisten: \"127.0.0.1:-1\"\njetstream { store_dir: %q }\nmax_payload: 4194304\ncluster { name: c, listen: %q, routes: [nats://%s] }\n",
			i, t.TempDir(), addr, strings.Join(routes, ", nats://"))
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		s := startChild(t, "TestServerProcess", serverEnv+"="+path)
		if url := s.line("ready "); i == 0 {
			p.url = url
		} else {
			p.others = append(p.others, s)
		}
	}
	p.join()
	return p
}

// join connects the test to the first server, once JetStream is served.
func (p *stillTroupe) join() {
	p.t.Helper()
	var err error
	if p.nc, err = nats.Connect(p.url); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.nc.Close)
	if p.js, err = jetstream.New(p.nc); err != nil {
		p.t.Fatal(err)
	}
	testkit.Retry(p.t, "JetStream on three servers", func(ctx context.Context) error {
		_, err := p.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "probe", Subjects: []string{"probe"}, Replicas: 3})
		return err
	})
	if _, err := p.nc.ChanSubscribe("out.>", p.runs); err != nil {
		p.t.Fatal(err)
	}
}

func (p *stillTroupe) start(name, dir string) *Server {
	p.t.Helper()
	o := p.options(name, dir)
	o.Lead, o.Durability, o.Logger = 20*time.Second, p.keeps, p.logger
	s, err := Start(p.t.Context(), o)
	if err != nil {
		p.t.Fatalf("start %s: %v", name, err)
	}
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// decideAhead registers a job, and waits until its runs are decided for long ahead.
func (p *stillTroupe) decideAhead(leader *Server) {
	p.t.Helper()
	p.put("x")
	testkit.Until(p.t, "runs are decided ahead", func() bool { return p.info(leader).Scheduled >= 150 })
}

// standStill stops the servers that the log needs.
func (p *stillTroupe) standStill() {
	for _, s := range p.others {
		s.stop()
	}
}

func (p *stillTroupe) goOn() {
	for _, s := range p.others {
		s.start()
	}
}

// handOver asks until the leader hands over.
func (p *stillTroupe) handOver() {
	p.t.Helper()
	testkit.Until(p.t, "the leader hands over", func() bool {
		_, err := p.client(false).Handover(p.t.Context(), 0, "")
		if err != nil && !client.IsUnavailable(err) {
			p.t.Fatal(err)
		}
		return err == nil
	})
}

// refusesHandOver asks once: the leader says that the log stands still, and launches on.
func (p *stillTroupe) refusesHandOver() {
	p.t.Helper()
	_, err := p.client(false).Handover(p.t.Context(), 0, "")
	if !errors.Is(err, client.CodeUnavailable) || !strings.Contains(err.Error(), "the log has not acknowledged commits for") {
		p.t.Errorf("handed over while the log stands still: %v", err)
	}
	p.receive(len(p.runs) + 3)
}

// receive receives some runs, and returns the job of the last one.
func (p *stillTroupe) receive(n int) (name string) {
	p.t.Helper()
	for range n {
		m := testkit.Receive(p.t, p.runs)
		p.seen[m.Header.Get("Carillon-Run-Id")]++
		name = m.Header.Get("Carillon-Job")
	}
	return name
}

// handedOver checks that the other node goes on launching, and that no run came twice.
func (p *stillTroupe) handedOver(to *Server) {
	p.t.Helper()
	testkit.Until(p.t, "the other node leads", p.leads(to))
	p.put("y")
	for name := ""; name != "y"; {
		name = p.receive(1)
	}
	for id, n := range p.seen {
		if n > 1 {
			p.t.Errorf("run %s was launched %d times", id, n)
		}
	}
	p.eachTickOnce("x", 20)
}

// onDebug is a log handler that signals messages of the level Debug.
type onDebug struct {
	slog.Handler
	tell func(message string)
}

func (l onDebug) Enabled(context.Context, slog.Level) bool { return true }

func (l onDebug) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l onDebug) WithGroup(string) slog.Handler { return l }

func (l onDebug) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelDebug {
		l.tell(r.Message)
	}
	return l.Handler.Handle(ctx, r)
}
