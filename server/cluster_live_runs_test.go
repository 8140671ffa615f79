package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// slowTarget answers each delivery when the test lets go of its job.
type slowTarget struct {
	*httptest.Server
	mu   sync.Mutex
	held map[string]chan struct{} // by job
	came map[string]int           // deliveries, by job
}

func newSlowTarget(t *testing.T) *slowTarget {
	s := &slowTarget{held: make(map[string]chan struct{}), came: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-s.hold(r.Header.Get("Carillon-Job"), 1):
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// hold counts so many deliveries of a job, and returns what is closed when it is let go.
func (s *slowTarget) hold(name string, came int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] == nil {
		s.held[name] = make(chan struct{})
	}
	s.came[name] += came
	return s.held[name]
}

// letGo answers all deliveries of a job.
func (s *slowTarget) letGo(name string) { close(s.hold(name, 0)) }

// arrived returns how many deliveries of a job have come.
func (s *slowTarget) arrived(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came[name]
}

// put registers a job of the target.
func (s *slowTarget) put(p *limitedTroupe, at *Server, name, schedule string) {
	p.t.Helper()
	body := fmt.Sprintf(`{"schedule":%q,"attempt_timeout":"10m","missed_run_policy":"fire_once","target":{"kind":"http","url":%q}}`, schedule, s.URL)
	if r := p.answer(func() testkit.Reply { return p.ask(at, http.MethodPut, "/api/v1/jobs/"+name, body) }); r.Status != http.StatusCreated {
		p.t.Fatalf("put %s: %d %s", name, r.Status, r.Body)
	}
}

// trigger starts a run of a job over a node.
func (p *limitedTroupe) trigger(s *Server, name string) testkit.Reply {
	p.t.Helper()
	return p.answer(func() testkit.Reply { return p.ask(s, http.MethodPost, "/api/v1/jobs/"+name+"/trigger", "{}") })
}

// lives waits until each shard that a node leads counts so many live runs of the tenant in all shards.
func (p *limitedTroupe) lives(s *Server, runs int64) {
	p.t.Helper()
	testkit.Until(p.t, fmt.Sprintf("the shards %v of node %s count %d live runs", s.leads(), s.opts.Node, runs), func() bool {
		for _, n := range s.leads() {
			if s.memberOf(n).shard.TenantQuotas()[0].Whole().LiveRuns != runs {
				return false
			}
		}
		return true
	})
}

// refusesMore wants each shard to refuse a run more.
func (p *limitedTroupe) refusesMore(when string, s *Server, most int, shards ...uint32) {
	p.t.Helper()
	for _, shard := range shards {
		r := p.trigger(s, namesIn(shard, 3)[2])
		if r.Status != http.StatusTooManyRequests || !strings.Contains(r.Body, fmt.Sprintf("the tenant default has %d of %d live runs", most, most)) {
			p.t.Errorf("%s: a run more in shard %d: %d %s", when, shard, r.Status, r.Body)
		}
	}
}

// skippedFor returns how many runs of a job were skipped for a reason.
func (p *limitedTroupe) skippedFor(s *Server, name, reason string) (n int) {
	p.t.Helper()
	var page client.RunPage
	r := p.answer(func() testkit.Reply { return p.ask(s, http.MethodGet, "/api/v1/jobs/"+name+"/runs?limit=1000", "") })
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil || r.Status != http.StatusOK {
		p.t.Fatalf("runs of %s: %d %s", name, r.Status, r.Body)
	}
	for _, run := range page.Runs {
		if run.Reason == reason {
			n++
		}
	}
	return n
}

// TestLiveRunsOfAllShards: two nodes lead two of four shards each. A tenant has its live runs once, and not once in each shard or
// node: beyond them runs are refused, ticks are skipped, and of one-shots in several shards as many fire as there are places.
// The runs of shards that have lost their leader go on counting, and those that another node takes over count once.
func TestLiveRunsOfAllShards(t *testing.T) {
	t.Parallel()
	p := newLimitedTroupe(t, "live_runs: 8")
	p.lease = shortLease
	target := newSlowTarget(t)
	a := p.start("a")
	b := p.start("b")
	p.split(a, b)
	all := []uint32{0, 1, 2, 3}
	for _, shard := range all {
		for _, name := range namesIn(shard, 3) {
			target.put(p, b, name, "@yearly")
		}
		for _, name := range namesIn(shard, 2) {
			if r := p.trigger(a, name); r.Status != http.StatusOK {
				t.Fatalf("trigger %s: %d %s", name, r.Status, r.Body)
			}
		}
	}
	p.lives(a, 8)
	p.lives(b, 8)
	p.refusesMore("all places are taken", a, 8, all...)
	p.refusesMore("all places are taken", b, 8, all...)

	ticks := namesIn(3, 5)[4]
	target.put(p, a, ticks, "@every 200ms")
	var shots []string
	soon := "@at " + time.Now().Add(2*time.Second).UTC().Format(time.RFC3339)
	for _, shard := range all {
		shots = append(shots, namesIn(shard, 4)[3])
		target.put(p, b, shots[shard], soon)
	}
	testkit.Until(t, "ticks are skipped", func() bool { return p.skippedFor(a, ticks, "quota") > 10 })
	if r := p.ask(a, http.MethodDelete, "/api/v1/jobs/"+ticks, ""); r.Status != http.StatusOK || target.arrived(ticks) != 0 {
		t.Errorf("the ticks: %d %s; %d arrived", r.Status, r.Body, target.arrived(ticks))
	}
	shot := func() (n int) {
		for _, name := range shots {
			n += min(target.arrived(name), 1)
		}
		return n
	}
	if n := shot(); n != 0 {
		t.Errorf("%d one-shots have fired without a place", n)
	}
	for want := 1; want <= len(shots); want++ {
		target.letGo(namesIn(all[want-1], 1)[0])
		testkit.Until(t, fmt.Sprintf("%d one-shots have fired", want), func() bool { return shot() >= want })
		t.Logf("%d places, %d one-shots", want, shot())
	}
	p.lives(a, 8)
	p.lives(b, 8)

	p.kill(b)
	p.refusesMore("without the other node", a, 8, 0, 2)
	testkit.Until(t, "a leads all shards", func() bool { return len(a.leads()) == troupeShards })
	p.lives(a, 8)
	p.refusesMore("after the takeover", a, 8, all...)
	for _, shard := range all {
		target.letGo(namesIn(shard, 2)[1])
		target.letGo(shots[shard])
	}
	p.lives(a, 0)
	if r := p.trigger(a, namesIn(3, 3)[2]); r.Status != http.StatusOK {
		t.Errorf("a run when all have ended: %d %s", r.Status, r.Body)
	}
}
