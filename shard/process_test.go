package shard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
	"github.com/carillon-io/carillon/web"
)

var discard = slog.New(slog.DiscardHandler)

// process is a process with two shards: two engines with their data, one bus, one dispatcher and one HTTP server.
type process struct {
	t      *testing.T
	dir    *datadir.Directory
	bus    *bus.Bus
	host   *replication.Host
	shards [2]*shard.Shard
	http   *httptest.Server
	nc     *nats.Conn
}

// openProcess starts a process whose shards are alone, or the only node of a cluster.
func openProcess(t *testing.T, inCluster bool) *process {
	t.Helper()
	inboxes, err := inbox.NewRule("carillon")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, host: replication.NewHost(nil)}
	p.bus, err = bus.Open(t.Context(), bus.Options{
		Listen: "127.0.0.1:0", StoreDir: filepath.Join(t.TempDir(), "nats"), ConnectionsMax: 100, Prefix: "carillon",
		Process: replication.NewProcess(), Inboxes: inboxes, Logger: discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.bus.Close)
	dispatcher, err := dispatch.New(dispatch.Options{NATS: p.bus.Dispatch(), Prefix: "carillon", Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dispatcher.Close(context.Background()) })
	var doors [2]http.Handler
	for n := range p.shards {
		s := p.openShard(uint32(n), dispatcher, inCluster)
		p.shards[n] = s
		doors[n] = web.New(s, web.Options{Executor: func() *api.Executor { return s.Service().Executor() }, Logger: discard}).Handler
	}
	p.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		doors[ownerOf(r.URL.Path)].ServeHTTP(w, r)
	}))
	t.Cleanup(p.http.Close)
	if p.nc, err = nats.Connect(p.bus.URL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.nc.Close)
	return p
}

func (p *process) openShard(n uint32, dispatcher *dispatch.Dispatcher, inCluster bool) *shard.Shard {
	t := p.t
	t.Helper()
	opts := shard.Options{
		Number: n, Data: p.openData(n, inCluster), CheckpointEvery: time.Second,
		Engine: scheduler.Options{Sender: dispatcher, Logger: discard, Settings: scheduler.Settings{Shards: 2}},
		Conn:   p.bus.API(), API: api.Options{Shards: 2, Logger: discard}, Logger: discard,
		OnFatal: func(err error) { t.Errorf("shard %d: %v", n, err) },
	}
	if inCluster {
		conn, err := p.bus.Connect(fmt.Sprintf("log of shard %d", n))
		if err != nil {
			t.Fatal(err)
		}
		opts.Cluster = &shard.Cluster{Replication: replication.Options{Conn: conn, Cluster: "prod", Node: "a", Replicas: 1, Shards: 2, Host: p.host, Process: "p", Logger: discard}}
		if n == 0 {
			if shards, err := shard.Divide(t.Context(), opts); shards != 2 || err != nil {
				t.Fatalf("%d shards, %v", shards, err)
			}
		}
	}
	s := shard.New(opts)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	err := s.Open(t.Context())
	if err == nil {
		_, err = s.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openData opens the data of a shard. Both are in one directory.
func (p *process) openData(n uint32, inCluster bool) *datadir.Shard {
	t := p.t
	t.Helper()
	if p.dir == nil {
		o := datadir.Options{Dir: t.TempDir(), Logger: discard}
		if inCluster {
			o.ClusterName, o.Node = "prod", "a"
		}
		dir, err := datadir.OpenDirectory(o)
		if err == nil {
			err = dir.CheckShards(0, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dir.Close() })
		p.dir = dir
	}
	data, err := p.dir.OpenShard(n, datadir.ShardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	return data
}

// shardOf returns the shard of a slot: each has half of them.
func shardOf(s job.Slot) int { return int(s) / (job.Slots / 2) }

// ownerOf returns the shard that a path is about, by the name of the job or the id of the run in it.
func ownerOf(path string) int {
	last := path[strings.LastIndex(path, "/")+1:]
	if id, err := job.ParseRunID(last); err == nil {
		return shardOf(id.Job.Slot())
	}
	return shardOf(job.SlotOf("default", last))
}

// send sends a request over HTTP, and decodes the reply.
func (p *process) send(method, path, body string, reply any) int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.http.URL+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(reply); err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode
}

type runReply struct{ Run client.Run }

// runOver asks one shard over NATS for a run.
func (p *process) runOver(shard int, id string) (run client.Run, found bool) {
	p.t.Helper()
	subject := fmt.Sprintf("carillon.shard.%d.v1.default.runs.get", shard)
	m, err := p.nc.Request(subject, []byte(`{"run_id":"`+id+`"}`), 5*time.Second)
	if err != nil {
		p.t.Fatalf("%s: %v", subject, err)
	}
	if m.Header.Get("Nats-Service-Error-Code") == "" {
		var reply runReply
		if err := json.Unmarshal(m.Data, &reply); err != nil {
			p.t.Fatal(err)
		}
		return reply.Run, true
	}
	return run, false
}

// names returns two names of jobs for each shard.
func names() (names [2][]string) {
	for i := 0; len(names[0]) < 2 || len(names[1]) < 2; i++ {
		name := fmt.Sprintf("job-%d", i)
		n := shardOf(job.SlotOf("default", name))
		if len(names[n]) < 2 {
			names[n] = append(names[n], name)
		}
	}
	return names
}
