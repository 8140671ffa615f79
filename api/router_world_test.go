package api

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// mixed is a sender whose targets take everything at once, except those of subjects that begin with "fail".
type mixed struct{ scheduler.Boundless }

func (mixed) Cancel(job.RunID) {}

func (mixed) Launch(d *job.Delivery, done func(job.Outcome)) {
	o := job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: time.Now(), Duration: time.Millisecond}
	if strings.HasPrefix(d.Target.Subject, "fail") {
		o.Error = "no"
	}
	go done(o)
}

// startMixed runs an engine in memory for the length of a test.
func startMixed(t testing.TB) *scheduler.Engine { return startMixedOn(t, new(memory.Log)) }

// startMixedOn runs an engine with a log.
func startMixedOn(t testing.TB, log scheduler.Log) *scheduler.Engine {
	t.Helper()
	settings := scheduler.Settings{HistoryDays: 4 * 366}
	return startEngine(t, scheduler.Options{Log: log, Store: new(memory.Store), Sender: mixed{}, Logger: apitest.Quiet, Settings: settings})
}

// startEngine runs an engine for the length of a test.
func startEngine(t testing.TB, opts scheduler.Options) *scheduler.Engine {
	t.Helper()
	e, err := scheduler.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}

// process is what one process of a cluster leads.
type process struct {
	count   int
	leaders []atomic.Pointer[Service]
	copies  []atomic.Pointer[Service] // of shards that others lead
	led     []atomic.Pointer[ledBy]   // what is heard of leaders in other processes

	waits    atomic.Int64  // how long it waits for another process in any case; 0: it does not say
	silent   sync.Map      // by process: those that are not heard
	mayHang  []atomic.Bool // by shard: a process that has led it is not heard
	followed []atomic.Pointer[[]string]
}

func (p *process) Count() int { return p.count }

func (p *process) Leader(shard uint32) *Executor { return p.leaders[shard].Load().Executor() }

// ledBy is what a process has heard of the leader of a shard.
type ledBy struct {
	process  string
	isSilent bool
}

func (p *process) LedBy(shard uint32) (string, bool) {
	if l := p.led[shard].Load(); l != nil {
		return l.process, l.isSilent
	}
	return "", false
}

// Hears reports whether a process was not made silent. Those of the cluster are heard otherwise.
func (p *process) Hears(_ uint32, process string) bool {
	_, isSilent := p.silent.Load(process)
	return !isSilent
}

// ClockOf returns the clock of this machine, and what a test has set.
func (p *process) ClockOf(uint32, string) (now, until time.Time) {
	if wait := p.waits.Load(); wait != 0 {
		return time.Now(), time.Now().Add(time.Duration(wait))
	}
	return now, until
}

func (p *process) MayHang(shard uint32) bool { return p.mayHang[shard].Load() }

// FollowedBy returns a process of a release that is not asked by its process, unless it was set.
func (p *process) FollowedBy(shard uint32) []string {
	if list := p.followed[shard].Load(); list != nil {
		return slices.Clone(*list)
	}
	return []string{"old"}
}

func (p *process) Copy(shard uint32) *Executor {
	if leader := p.Leader(shard); leader != nil {
		return leader
	}
	return p.copies[shard].Load().Executor()
}

// clusterOfShards is a cluster of two processes: one leads the even shards, the other one the odd ones.
type clusterOfShards struct {
	t         testing.TB
	url       string
	nc        *nats.Conn // of a caller
	processes [2]*process
	routers   [2]*Service
	services  []*Service // of the shards
	engines   []*scheduler.Engine
}

// startShards starts a cluster of shards and the routers of its processes, all with the same options.
func startShards(t testing.TB, shards int, opts Options, maxPayload int32) *clusterOfShards {
	t.Helper()
	return startShardsOn(t, shards, opts, maxPayload, startMixed)
}

// startShardsOn starts a cluster whose engines start makes.
func startShardsOn(t testing.TB, shards int, opts Options, maxPayload int32, start func(testing.TB) *scheduler.Engine) *clusterOfShards {
	t.Helper()
	setDefault(&opts.Logger, apitest.Quiet)
	c := &clusterOfShards{t: t, url: apitest.StartNATS(t, maxPayload), services: make([]*Service, shards)}
	c.nc = apitest.Connect(t, c.url)
	var conns [2]*nats.Conn
	for i := range c.processes {
		c.processes[i] = &process{
			count: shards, leaders: make([]atomic.Pointer[Service], shards), copies: make([]atomic.Pointer[Service], shards), led: make([]atomic.Pointer[ledBy], shards),
			mayHang: make([]atomic.Bool, shards), followed: make([]atomic.Pointer[[]string], shards),
		}
		conns[i] = apitest.Connect(t, c.url)
	}
	for shard := range shards {
		c.engines = append(c.engines, start(t))
		o := opts
		o.Shard, o.Shards, o.Leads = uint32(shard), uint32(shards), func() bool { return true }
		s, err := NewService(conns[shard%2], c.engines[shard], o)
		if err != nil {
			t.Fatal(err)
		}
		apitest.CloseAtEnd(t, s.Close)
		c.services[shard] = s
		c.processes[shard%2].leaders[shard].Store(s)
	}
	for i := range c.routers {
		s, err := NewRouter(conns[i], c.processes[i], opts)
		if err != nil {
			t.Fatal(err)
		}
		apitest.CloseAtEnd(t, s.Close)
		c.routers[i] = s
		if err := conns[i].Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// stop lets a shard be without a leader.
func (c *clusterOfShards) stop(shard int) {
	c.t.Helper()
	c.processes[shard%2].leaders[shard].Store(nil)
	if err := c.services[shard].Close(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// askOver sends a request over HTTP to the node of a router, and returns the reply, or the refusal as text.
func (c *clusterOfShards) askOver(router int, verb, body string) string {
	c.t.Helper()
	x := c.routers[router].Executor()
	if !x.Enter() {
		c.t.Fatal("the router is closed")
	}
	defer x.Leave()
	reply, refusal := x.OverHTTP(c.t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
		return Request{Tenant: "default", Asker: job.Actor{By: "eve", From: "http"}, Body: []byte(body)}, nil
	})
	defer reply.Release()
	if refusal != nil {
		return string(ErrorBody(refusal))
	}
	return string(reply.Text)
}

// ask sends a request over NATS to whichever router gets it.
func (c *clusterOfShards) ask(verb, body string) string { return askText(c.t, c.nc, verb, body) }

// askText sends a request over NATS, and returns the reply.
func askText(t testing.TB, nc *nats.Conn, verb, body string) string {
	t.Helper()
	m, err := nc.Request("carillon.v1.default."+verb, []byte(body), 20*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return string(m.Data)
}

// nameIn returns a name of a job in a shard, the nth of them.
func nameIn(shard, shards, n int) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("job-%04d", i)
		if job.ShardOf(job.SlotOf("default", name), shards) == uint32(shard) {
			if n == 0 {
				return name
			}
			n--
		}
	}
}

// fleeting are the members that differ between two servers that were asked the same.
var fleeting = regexp.MustCompile(`"(id|run_id|job_id|fence|created_at|updated_at|scheduled_at|launched_at|finished_at|started_at|due_at|lateness_ms|duration_ms|next_run_at|next_launch_at|at|next_cursor|before|after|attempts)"`)

// plain returns a text of JSON with its fleeting members cleared.
func plain(t testing.TB, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	b, err := json.Marshal(cleared(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func cleared(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = cleared(v[i])
		}
	case map[string]any:
		for name := range v {
			switch {
			case fleeting.MatchString(`"` + name + `"`):
				v[name] = "…"
			default:
				v[name] = cleared(v[name])
			}
		}
	}
	return v
}

// lead lets a shard have a leader again.
func (c *clusterOfShards) lead(shard int) {
	c.t.Helper()
	nc := c.routers[shard%2].nc
	s, err := NewService(nc, c.engines[shard], c.services[shard].opts)
	if err != nil {
		c.t.Fatal(err)
	}
	apitest.CloseAtEnd(c.t, s.Close)
	c.services[shard] = s
	c.processes[shard%2].leaders[shard].Store(s)
	if err := nc.Flush(); err != nil {
		c.t.Fatal(err)
	}
}
