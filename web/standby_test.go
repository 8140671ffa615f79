package web

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestStandbyReads asks a standby for its own data: it answers, and says by how much that lags.
func TestStandbyReads(t *testing.T) {
	about := api.Node{Cluster: func() *client.Cluster {
		return &client.Cluster{Node: "b", Holder: "a", Role: "standby", Lag: 7, LagMS: 12.4}
	}}
	w, _ := startWebOf(t, apitest.NewDesk(t), api.Options{Standby: true, Node: about})
	for _, path := range []string{"jobs", "runs?status=dead", "calendars", "audit", "schedules/next?schedule=@daily", "jobs/unknown"} {
		got := w.ask("GET", apiRoot+path, "", "Carillon-Standby: true")
		h := got.header
		if got.status != 200 && got.status != 404 || h.Get("Carillon-Node") != "b" || h.Get("Carillon-Lag") != "7" || h.Get("Carillon-Lag-Ms") != "12" {
			t.Errorf("%s: %d %s %v", path, got.status, got.body, h)
		}
	}
	w.ask("GET", "/api/v1/jobs", "", "Carillon-Standby: yes").refused(t, "a word that is none", 422, client.CodeInvalidField, "Carillon-Standby")
}

// TestStandbyWithoutLeader asks a standby while no node leads: nothing is carried out, and the reply names the last
// leader, if there is one.
func TestStandbyWithoutLeader(t *testing.T) {
	var cluster atomic.Pointer[client.Cluster]
	cluster.Store(&client.Cluster{Node: "b", Holder: "a", Role: "standby"})
	w, _ := startWebOf(t, apitest.NewDesk(t), api.Options{Standby: true, Node: api.Node{Cluster: cluster.Load}})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "jobs", ""}, {"GET", "jobs/a", ""}, {"PUT", "jobs/a", apitest.JobWith("name", "-")}, {"POST", "jobs/bulk", `{"jobs":[]}`},
		{"DELETE", "jobs/a", ""}, {"POST", "jobs/a/pause", ""}, {"POST", "runs/1/cancel", ""}, {"PUT", "calendars/a", `{"exclude":[]}`},
	} {
		got := w.ask(c.method, apiRoot+c.path, c.body, "Carillon-Standby: ")
		got.refused(t, c.method+" "+c.path, 503, client.CodeNotLeader, "")
		if !strings.Contains(got.body, "the leader is the node a") || got.header.Get("Carillon-Lag") != "" {
			t.Errorf("%s %s does not tell who leads: %s", c.method, c.path, got.body)
		}
	}
	w.ask("DELETE", "/api/v1/jobs/a", "", "Carillon-Standby: true").refused(t, "a change that may lag", 503, client.CodeNotLeader, "")
	cluster.Store(&client.Cluster{Node: "b"})
	if got := w.ask("DELETE", "/api/v1/jobs/a", ""); !strings.Contains(got.body, "no leader is known") {
		t.Error(got.body)
	}
}

// TestServiceChanges follows a node whose service is replaced, as that of a node in a cluster is.
func TestServiceChanges(t *testing.T) {
	first, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	second, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	var present atomic.Pointer[api.Service]
	present.Store(first)
	w := startWeb(t, Options{Executor: func() *api.Executor { return present.Load().Executor() }}, nil)
	put := func() webReply { return w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-")) }
	if got := put(); got.status != 201 {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
	present.Store(nil)
	put().refused(t, "no service", 503, client.CodeUnavailable, "")
	for _, path := range []string{"status", "openapi.json"} {
		if got := w.ask("GET", apiRoot+path, ""); got.status != 200 {
			t.Errorf("%s without a service: %d %s", path, got.status, got.body)
		}
	}
	present.Store(second)
	if got := put(); got.status != 201 {
		t.Errorf("the second: %d %s", got.status, got.body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := second.Close(ctx); err != nil {
		t.Fatal(err)
	}
	put().refused(t, "a closed service", 503, client.CodeUnavailable, "")
	bare := startWeb(t, Options{}, nil)
	bare.ask("GET", "/api/v1/jobs", "").refused(t, "a server without services", 503, client.CodeUnavailable, "")
}

// TestMemberWithoutService: a node of a cluster that carries nothing out refuses a change as one of which nothing has happened, so
// that a client repeats it, whatever it is. A read that may lag is not refused as one that only a leader answers.
func TestMemberWithoutService(t *testing.T) {
	w := startWeb(t, Options{Node: api.Node{Cluster: func() *client.Cluster { return &client.Cluster{Node: "b"} }}}, nil)
	w.ask("POST", "/api/v1/jobs/a/trigger", "").refused(t, "a trigger", 503, client.CodeNotLeader, "")
	w.ask("GET", "/api/v1/jobs", "", "Carillon-Standby: true").refused(t, "a read that may lag", 503, client.CodeUnavailable, "")
}

// TestCloseWaitsForHTTP closes a service with an HTTP request under way: that gets its answer.
func TestCloseWaitsForHTTP(t *testing.T) {
	engine := &stuck{apitest.StartEngine(t), make(chan struct{}), make(chan struct{})}
	s, _ := serve(t, engine, api.Options{}, 0)
	w := startWeb(t, Options{Executor: s.Executor}, nil)
	answered := make(chan webReply, 1)
	go func() { answered <- w.ask("GET", "/api/v1/jobs/a", "") }()
	<-engine.began
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ended); err == nil || !strings.Contains(err.Error(), "with 1 requests under way") {
		t.Errorf("the service closed with a request under way: %v", err)
	}
	engine.end <- struct{}{}
	if got := <-answered; got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
