package metrics

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// empty is an engine without jobs.
type empty struct{ api.Engine }

func (empty) Get(context.Context, string, string) (scheduler.JobView, error) {
	return scheduler.JobView{}, apierr.Errorf(apierr.NotFound, "name", "there is none")
}

// connect runs a NATS server for the length of a test, and returns a connection to it.
func connect(t *testing.T) *nats.Conn {
	t.Helper()
	s := bustest.RunWith(t, &server.Options{})
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestRequests reads what is shown of requests and of what is around a server: of an executor, and while there is none.
func TestRequests(t *testing.T) {
	nc := connect(t)
	s, err := api.NewService(nc, empty{}, api.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if _, err := nc.Request("carillon.v1.default.jobs.get", []byte(`{"name":"unknown"}`), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	present := s
	text := func() string {
		return scrapeText(New(Options{Logger: quiet, Node: api.Node{Surroundings: bad{}}, Executor: func() *api.Executor { return present.Executor() }}))
	}
	shown := text()
	for _, line := range []string{
		`carillon_api_requests_total{code="not_found",verb="jobs.get"} 1`, `carillon_api_request_duration_seconds_count{verb="jobs.get",via="nats"} 1`,
		`carillon_requests_dropped_total 0`, `carillon_warnings 2`,
	} {
		if !strings.Contains(shown, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if !strings.Contains(shown, "carillon_api_requests_in_flight") || strings.Contains(shown, `verb="jobs.put"`) {
		t.Errorf("the requests are shown as %s", shown)
	}
	present = nil
	if shown := text(); strings.Contains(shown, "carillon_api_") || !strings.Contains(shown, "carillon_warnings 2\n") {
		t.Errorf("without an executor: %s", shown)
	}
}

// bad are surroundings with two problems.
type bad struct{}

func (bad) Look() {}

func (bad) Warnings() []string { return []string{"a", "b"} }

// TestCluster reads the state of a cluster.
func TestCluster(t *testing.T) {
	cluster := &client.Cluster{
		TrustMS: 1500, Term: 7, LagMS: 20, Void: map[string]uint64{"term": 3},
		Nodes: []client.ClusterNode{{Node: "b", Role: "standby", Lag: 4, SilentMS: 250, ClockOffsetMS: -2}},
	}
	shown := scrapeText(New(Options{Logger: quiet, Shards: just(Shard{Engine: reading{}, Cluster: func() *client.Cluster { return cluster }})}))
	for _, line := range []string{
		`carillon_lease_trust_seconds 1.5`, `carillon_lease_term 7`, `carillon_replication_lag_seconds 0.02`,
		`carillon_replication_lag_commits{node="b"} 4`, `carillon_node_silent_seconds{node="b"} 0.25`,
		`carillon_node_clock_offset_seconds{node="b"} -0.002`, `carillon_node_role{node="b",role="standby"} 1`,
		`carillon_replication_void_frames_total{reason="term"} 3`,
	} {
		if !strings.Contains(shown, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
