package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// troupe is a cluster on one outside NATS server: what its nodes do to each other does not depend on how many
// servers carry their messages.
type troupe struct {
	t     *testing.T
	url   string
	nc    *nats.Conn
	js    jetstream.JetStream
	lease time.Duration // 0: the default
}

// shortLease is for tests that wait until a lease has ended.
const shortLease = 4 * time.Second

func newTroupe(t *testing.T) *troupe {
	t.Helper()
	return newTroupeOn(t, "")
}

// newTroupeOn is newTroupe on a server that is configured further.
func newTroupeOn(t *testing.T, config string) *troupe {
	t.Helper()
	s := bustest.Run(t, "port: -1\njetstream { store_dir: \"%s\" }\nmax_payload: 4194304\n"+config)
	p := &troupe{t: t, url: s.ClientURL()}
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
		Lead: time.Second, Logger: testLog(), lease: p.lease, SpreadEvery: -1,
	}
}

// start starts a node and returns it when it is ready.
func (p *troupe) start(name, dir string) *Server {
	p.t.Helper()
	return p.startWith(p.options(name, dir))
}

// startWith is start with options of the test's own.
func (p *troupe) startWith(o Options) *Server {
	p.t.Helper()
	s, err := Start(p.t.Context(), o)
	if err != nil {
		p.t.Fatalf("start %s: %v", o.Node, err)
	}
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// kill ends a node as a signal does that cannot be caught: the node releases nothing and reports nothing.
func (p *troupe) kill(s *Server) {
	_ = s.each(func(m *member) error { m.shard.Kill(); return nil })
}

func (p *troupe) client(standby bool) *client.Client {
	p.t.Helper()
	return clienttest.New(p.t, p.nc, client.Options{Standby: standby})
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

// info returns the state of the cluster as a node reports it over HTTP.
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
	testkit.Until(p.t, "the standby is level", func() bool {
		return p.info(standby).Role == "standby" && applied(standby) == applied(leader)
	})
}

// applied returns the position of the store of a node's first shard.
func applied(s *Server) job.Position { return appliedIn(s.first()) }

// appliedIn returns the position of the store of one of a node's shards.
func appliedIn(m *member) (at job.Position) {
	m.shard.WithData(func(d *datadir.Shard) { at = d.Applied() })
	return at
}

// eachTickOnce checks that every tick between two of a job's runs was decided, and once.
func (p *troupe) eachTickOnce(name string, atLeast int) {
	p.t.Helper()
	fault := "it was not read"
	defer func() {
		if fault != "" {
			p.t.Log(fault)
		}
	}()
	testkit.Until(p.t, name+" has each tick once", func() bool {
		runs, err := p.client(false).ListRuns(p.t.Context(), client.RunListRequest{Job: name, Limit: 1000})
		if err != nil {
			p.t.Fatal(err)
		}
		if len(runs.Runs) < atLeast {
			p.t.Fatalf("%s has %d runs, want at least %d", name, len(runs.Runs), atLeast)
		}
		fault = stepFault(runs.Runs)
		return fault == ""
	})
}

// stepFault says which tick of a job that ticks ten times a second is missing or doubled in a list of its runs; "" if none is.
func stepFault(runs []client.Run) string {
	for i := 1; i < len(runs); i++ {
		later, earlier := runs[i-1], runs[i]
		if later.ScheduledAt.Sub(earlier.ScheduledAt.Time) != 100*time.Millisecond {
			return fmt.Sprintf("the tick at %v (%s) is followed by that at %v (%s)", earlier.ScheduledAt, earlier.Status, later.ScheduledAt, later.Status)
		}
	}
	return ""
}

func fenceOf(t *testing.T, m *nats.Msg) uint64 {
	t.Helper()
	fence, err := strconv.ParseUint(m.Header.Get("Carillon-Fence"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fence
}

func testLog() *slog.Logger {
	if os.Getenv("CARILLON_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}
