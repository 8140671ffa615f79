package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/seal"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/usage"
)

// limitedTroupe is a cluster with several shards whose tenant default has a quota.
type limitedTroupe struct {
	*troupe
	auth string
}

func newLimitedTroupe(t *testing.T, quota string) *limitedTroupe {
	t.Helper()
	return &limitedTroupe{newTroupe(t), writeLimited(t, quota)}
}

// writeLimited writes a file of rights in which the tenant default has a quota, and returns its path.
func writeLimited(t *testing.T, quota string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "auth.yaml")
	text := "tenants:\n  default: {quota: {" + quota + "}}\nprincipals:\n" +
		"  - {name: all, token_sha256: " + access.HashToken("all") + `, grants: [{tenant: "*", role: admin}]}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a node, which founds the cluster if there is none.
func (p *limitedTroupe) start(name string) *Server {
	p.t.Helper()
	o := p.options(name, p.t.TempDir())
	o.Shards, o.Auth = troupeShards, p.auth
	return p.startWith(o)
}

// ask sends a request to a node over HTTP.
func (p *limitedTroupe) ask(s *Server, method, path, body string) testkit.Reply {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, s.Ready().HTTP+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer all")
	return testkit.Do(p.t, http.DefaultClient, r)
}

// namesIn returns some names of jobs in a shard.
func namesIn(shard uint32, n int) (names []string) {
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("job-%d", i); jobShard(name) == shard {
			names = append(names, name)
		}
	}
	return names
}

// tryJob registers a job over a node.
func (p *limitedTroupe) tryJob(s *Server, name string) testkit.Reply {
	p.t.Helper()
	return p.ask(s, http.MethodPut, "/api/v1/jobs/"+name, `{"schedule":"@yearly","target":{"kind":"nats","subject":"out"}}`)
}

// putJob registers a job over a node, and asks again while the shard of the job has no leader.
func (p *limitedTroupe) putJob(s *Server, name string) testkit.Reply {
	p.t.Helper()
	return p.answer(func() testkit.Reply { return p.tryJob(s, name) })
}

// answer asks until the reply is another one than that no node answers for a shard just now, which a busy machine brings about.
func (p *troupe) answer(ask func() testkit.Reply) (r testkit.Reply) {
	p.t.Helper()
	testkit.Until(p.t, "a leader answers", func() bool {
		r = ask()
		return r.Status != http.StatusServiceUnavailable
	})
	return r
}

// split lets a hand two of the shards that it leads over to b.
func (p *troupe) split(a, b *Server) {
	p.t.Helper()
	p.levelInEach(a, b)
	for _, shard := range []uint32{1, 3} {
		p.handOver(shard, "b")
	}
	testkit.Until(p.t, "each node leads two shards", func() bool {
		return slices.Equal(a.leads(), []uint32{0, 2}) && slices.Equal(b.leads(), []uint32{1, 3})
	})
}

// handOver asks until the leader of a shard hands it over to a node: it refuses while the log is slow.
func (p *troupe) handOver(shard uint32, to string) {
	p.t.Helper()
	testkit.Until(p.t, fmt.Sprintf("shard %d is handed over", shard), func() bool {
		_, err := p.client(false).Handover(p.t.Context(), shard, to)
		return err == nil
	})
}

// counts waits until a shard of a node counts so many jobs of the tenant in all shards.
func (p *limitedTroupe) counts(s *Server, shard uint32, jobs int64) {
	p.t.Helper()
	testkit.Until(p.t, fmt.Sprintf("shard %d counts %d jobs", shard, jobs), func() bool {
		return s.memberOf(shard).shard.TenantQuotas()[0].Whole().Jobs == jobs
	})
}

// TestQuotaOfAllShards: two nodes lead two of four shards each. A tenant has its quota once, and not once in each shard; a
// refusal and the metrics have the whole use. Jobs of shards that have lost their leader go on counting.
func TestQuotaOfAllShards(t *testing.T) {
	t.Parallel()
	p := newLimitedTroupe(t, "jobs: 12")
	p.lease = shortLease
	a := p.start("a")
	b := p.start("b")
	p.split(a, b)
	for shard := range uint32(troupeShards) {
		for _, name := range namesIn(shard, 3) {
			if r := p.putJob(a, name); r.Status != http.StatusCreated {
				t.Fatalf("%s in shard %d: %d %s", name, shard, r.Status, r.Body)
			}
		}
	}
	for shard, s := range []*Server{a, b, a, b} {
		p.counts(s, uint32(shard), 12)
		r := p.putJob(b, namesIn(uint32(shard), 4)[3])
		if r.Status != http.StatusTooManyRequests || !strings.Contains(r.Body, "the tenant default has 12 of 12 jobs") {
			t.Errorf("the thirteenth job, in shard %d: %d %s", shard, r.Status, r.Body)
		}
		line := fmt.Sprintf(`{quota="jobs",shard="%d",tenant="default"} 12`, shard)
		for _, metric := range []string{"carillon_tenant_quota_use", "carillon_tenant_quota_limit"} {
			if text := p.ask(s, http.MethodGet, "/metrics", "").Body; !strings.Contains(text, metric+line+"\n") {
				t.Errorf("there is no line %s%s", metric, line)
			}
		}
	}
	r := p.answer(func() testkit.Reply { return p.ask(a, http.MethodDelete, "/api/v1/jobs/"+namesIn(1, 1)[0], "") })
	if r.Status != http.StatusOK {
		t.Fatalf("a deletion in shard 1: %d %s", r.Status, r.Body)
	}
	p.counts(a, 0, 11)
	if r := p.putJob(a, namesIn(0, 4)[3]); r.Status != http.StatusCreated {
		t.Errorf("a job in shard 0 in its place: %d %s", r.Status, r.Body)
	}
	p.counts(a, 2, 12)
	p.kill(b)
	if r := p.putJob(a, namesIn(2, 4)[3]); r.Status != http.StatusTooManyRequests || !strings.Contains(r.Body, "12 of 12") {
		t.Errorf("a job more without the other node: %d %s", r.Status, r.Body)
	}
}

// TestForgedUsageStarvesNobody: in a cluster with a password a program that is no node cannot say what tenants use.
func TestForgedUsageStarvesNobody(t *testing.T) {
	t.Parallel()
	p := &limitedTroupe{&troupe{t: t}, writeLimited(t, "jobs: 2")}
	nodes := nodeOptions(t, 2)
	for i := range nodes {
		nodes[i].Shards, nodes[i].Auth, nodes[i].AllowPrivateTargets = troupeShards, p.auth, true
	}
	servers := startAll(t.Context(), t, nodes...)
	a, nc, subject := servers[0], servers[0].bus.API(), "carillon.cluster.usage"
	heard := make(chan *nats.Msg, 100)
	if _, err := nc.ChanSubscribe(subject, heard); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "each shard has a leader", func() bool { return len(servers[0].leads())+len(servers[1].leads()) == troupeShards })
	if m := testkit.Receive(t, heard); !seal.Is(m.Header.Get(seal.Header), a.nodeKey(), seal.Usage, subject, nil, m.Data) {
		t.Errorf("a node says %s %s", m.Header, m.Data)
	}
	messages, _ := usage.Encode(a.usage.cluster, "z", []usage.Report{{Shard: 3, Epoch: 99, Uses: []usage.Use{{Tenant: "default", Quota: scheduler.Quota{Jobs: 50}}}}}, 1)
	send := func(given string) {
		m := nats.NewMsg(subject)
		m.Data = messages[0]
		m.Header[seal.Header] = []string{given}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	send("")
	send(seal.Of([]byte("guessed"), seal.Usage, subject, nil, messages[0]))
	for range 6 { // by then each node has taken what was sent before, and sent something else
		testkit.Receive(t, heard)
	}
	if r := p.putJob(a, namesIn(0, 1)[0]); r.Status != http.StatusCreated {
		t.Errorf("after forged messages: %d %s", r.Status, r.Body)
	}
	send(seal.Of(a.nodeKey(), seal.Usage, subject, nil, messages[0]))
	for _, s := range servers {
		p.counts(s, 0, 51)
	}
	if r := p.putJob(a, namesIn(0, 2)[1]); r.Status != http.StatusTooManyRequests {
		t.Errorf("after a message of a node: %d %s", r.Status, r.Body)
	}
}

// TestOneShardSaysNothing: a cluster with one shard has nothing to add up.
func TestOneShardSaysNothing(t *testing.T) {
	t.Parallel()
	p := newLimitedTroupe(t, "jobs: 2")
	o := p.options("a", t.TempDir())
	o.Auth = p.auth
	if a := p.startWith(o); a.usage != nil || a.Ready().Role != replication.RoleLeader {
		t.Errorf("a node with one shard is a %s, and has a table of uses: %t", a.Ready().Role, a.usage != nil)
	}
}
