package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// troupeShards is the number of shards of the cluster in these tests.
const troupeShards = 4

// startShards starts a node of a cluster with several shards, which it founds if there is none.
func (p *troupe) startShards(name, dir string) *Server {
	p.t.Helper()
	o := p.options(name, dir)
	o.Shards, o.SpreadEvery, o.Copies = troupeShards, -1, 3
	return p.startWith(o)
}

// nameIn returns a name of a job in a shard.
func nameIn(shard uint32) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("job-%d", i); jobShard(name) == shard {
			return name
		}
	}
}

// jobShard returns the shard of a job.
func jobShard(name string) uint32 { return job.ShardOf(job.SlotOf("default", name), troupeShards) }

// askShard sends a request to the leader of a shard, on the subjects of that shard, and decodes the reply.
func (p *troupe) askShard(shard uint32, verb, body string, reply any) {
	p.t.Helper()
	subject := fmt.Sprintf("carillon.shard.%d.v1.default.%s", shard, verb)
	var m *nats.Msg
	testkit.Retry(p.t, "an answer on "+subject, func(ctx context.Context) (err error) { // a node that has just begun to lead may not listen yet
		if m, err = p.nc.RequestWithContext(ctx, subject, []byte(body)); err == nil && m.Header.Get("Nats-Service-Error-Code") == "503" {
			err = errors.New(string(m.Data))
		}
		return err
	})
	if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
		p.t.Fatalf("%s: %s %s", subject, code, m.Data)
	}
	if err := json.Unmarshal(m.Data, reply); err != nil {
		p.t.Fatalf("%s: %s: %v", subject, m.Data, err)
	}
}

// putInEach registers a job in each shard that ticks ten times a second.
func (p *troupe) putInEach() {
	p.t.Helper()
	for shard := range uint32(troupeShards) {
		name := nameIn(shard)
		var reply struct{ Job client.JobInfo }
		p.askShard(shard, "jobs.put", `{"name":"`+name+`","schedule":"@every 100ms","missed_run_policy":"backfill","max_catchup_runs":1000,"target":{"kind":"nats","subject":"out.`+name+`"}}`, &reply)
		if id, err := job.ParseID(reply.Job.ID); err != nil || job.ShardOf(id.Slot(), troupeShards) != shard {
			p.t.Errorf("the job of shard %d has the id %s", shard, reply.Job.ID)
		}
	}
}

// eachShardFires waits until a run of each shard comes.
func (p *troupe) eachShardFires(received <-chan *nats.Msg) {
	p.t.Helper()
	fired := make(map[string]bool)
	testkit.Until(p.t, "a job of each shard fires", func() bool {
		fired[testkit.Receive(p.t, received).Header.Get("Carillon-Job")] = true
		return len(fired) == troupeShards
	})
}

// eachShardTicksOnce checks of each shard that every tick between two of its job's runs was decided, and once.
func (p *troupe) eachShardTicksOnce() {
	p.t.Helper()
	for shard := range uint32(troupeShards) {
		var page struct{ Runs []client.Run }
		p.askShard(shard, "runs.list", `{"job":"`+nameIn(shard)+`","limit":1000}`, &page)
		if len(page.Runs) < 10 {
			p.t.Errorf("the job of shard %d has %d runs", shard, len(page.Runs))
		}
		for i := 1; i < len(page.Runs); i++ {
			if step := page.Runs[i-1].ScheduledAt.Sub(page.Runs[i].ScheduledAt.Time); step != 100*time.Millisecond {
				p.t.Errorf("shard %d: %s between two ticks", shard, step)
			}
		}
	}
}

// levelInEach waits until a standby has in each shard what the leader has.
func (p *troupe) levelInEach(leader, standby *Server) {
	p.t.Helper()
	testkit.Until(p.t, "the standby is level in each shard", func() bool {
		return len(standby.leads()) == 0 && !slices.ContainsFunc(standby.members(), func(m *member) bool {
			return appliedIn(m).LSN < appliedIn(leader.memberOf(m.number)).LSN
		})
	})
}

// TestShardsSurviveTheirLeader: a node founds a cluster with four shards and leads them all; another joins it, told nothing of
// their number. When the first dies, the second leads each shard within seconds: no job and no tick is lost. The first comes
// back and follows.
func TestShardsSurviveTheirLeader(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dirs := [2]string{t.TempDir(), t.TempDir()}
	a := p.startShards("a", dirs[0])
	b := p.start("b", dirs[1])
	all := []uint32{0, 1, 2, 3}
	if r := a.Ready(); r.Role != "leader" || r.Shards != troupeShards || !slices.Equal(r.Leads, all) || r.Epoch != 1 {
		t.Fatalf("a is ready as %+v", r)
	}
	if r := b.Ready(); r.Role != "standby" || r.Shards != troupeShards || r.Leads != nil {
		t.Fatalf("b is ready as %+v", r)
	}
	received := make(chan *nats.Msg, 10_000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.putInEach()
	p.eachShardFires(received)
	p.kill(a)
	began := time.Now()
	testkit.Until(t, "b leads all shards", func() bool { return slices.Equal(b.leads(), all) })
	t.Logf("took over after %s", time.Since(began))
	for len(received) > 0 {
		<-received
	}
	p.eachShardFires(received)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = p.start("a", dirs[0])
	if r := a.Ready(); r.Role != "standby" || r.Jobs != troupeShards {
		t.Errorf("a came back as %+v", r)
	}
	p.levelInEach(b, a)
	p.eachShardTicksOnce()
}

// TestShardsAreHandedOverTogether: a node that ends hands over all its shards, in about the time of one.
func TestShardsAreHandedOverTogether(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	p.putInEach()
	p.levelInEach(a, b)
	began := time.Now()
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("closed after %s", time.Since(began))
	testkit.Until(t, "b leads all shards", func() bool { return len(b.leads()) == troupeShards })
	for _, m := range b.members() {
		if st := m.shard.Node().Status(); st.Holder != "b" || st.Term != 2 {
			t.Errorf("shard %d: %s holds term %d", m.number, st.Holder, st.Term)
		}
	}
	p.eachShardTicksOnce()
}

// TestShardsAreShown: readiness and metrics are of all shards, and each metric of a shard has its number.
func TestShardsAreShown(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	p.putInEach()
	p.levelInEach(a, b)
	for s, role := range map[*Server]string{a: "leader", b: "standby"} {
		testkit.Until(t, "the node is ready", func() bool {
			code, body := fetch(t, s.Ready().HTTP+"/readyz")
			return code == http.StatusOK && strings.Contains(body, `"role":"`+role+`"`)
		})
		_, text := fetch(t, s.Ready().HTTP+"/metrics")
		for shard := range troupeShards {
			for _, line := range []string{
				fmt.Sprintf(`carillon_jobs{shard="%d"} 1`, shard), fmt.Sprintf(`carillon_wal_segments{shard="%d"} 1`, shard),
				fmt.Sprintf(`carillon_shard_info{shard="%d"} 1`, shard),
				fmt.Sprintf(`carillon_node_role{node="a",role="leader",shard="%d"} 1`, shard), fmt.Sprintf(`carillon_info{role="%s",shard="%d",version="dev"} 1`, role, shard),
			} {
				if !strings.Contains(text, line+"\n") {
					t.Errorf("%s: there is no line %s", role, line)
				}
			}
		}
		if st := s.status(); st.Jobs != troupeShards || st.Role != role {
			t.Errorf("the sum is a %s with %d jobs", st.Role, st.Jobs)
		}
	}
	b.memberOf(2).shard.Kill() // one shard of four falls behind
	testkit.Until(t, "b is not ready", func() bool {
		code, body := fetch(t, b.Ready().HTTP+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, `"ready":false`)
	})
}

// fetch returns the status and the body of a page.
func fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	reply, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}
