package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// startDoors starts a server on an outside NATS server with JetStream.
func startDoors(t *testing.T, p *troupe, change func(*Options)) *Server {
	t.Helper()
	o := p.options("", t.TempDir())
	o.ClusterName, o.Logger = "", testLog()
	if change != nil {
		change(&o)
	}
	return p.startWith(o)
}

func of(t *testing.T, nc *nats.Conn, tenant string) *client.Client {
	t.Helper()
	return clienttest.New(t, nc, client.Options{Tenant: tenant})
}

// TestReplyIsNoRequest sends requests whose reply would be a request, to every subject that answers. None is carried
// out, each is counted, and nothing changes.
func TestReplyIsNoRequest(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	s := startDoors(t, p, nil)
	ctx, a, b := t.Context(), of(t, p.nc, "a"), of(t, p.nc, "b")
	j := client.Job{Name: "same", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}
	for _, c := range []*client.Client{a, b} {
		if _, _, err := c.Put(ctx, j); err != nil {
			t.Fatal(err)
		}
	}
	// The list of one tenant's jobs is a bulk registration of another's, if it is taken for one.
	heard := make(chan *nats.Msg, 64)
	if _, err := p.nc.ChanSubscribe("elsewhere", heard); err != nil {
		t.Fatal(err)
	}
	subjects := []string{
		"carillon.v1.a.jobs.list", "carillon.v1.a.jobs.get", "carillon.v1.a.status", "carillon.backup.0.open",
		"$SRV.PING", "$SRV.PING.carillon", "$SRV.INFO.carillon", "$SRV.STATS.carillon",
	}
	replies := []string{"carillon.v1.b.jobs.put_many", "elsewhere", "carillon.v1.b.calendars.delete", "carillon.v1.b.jobs.put"}
	for _, subject := range subjects {
		for _, reply := range replies {
			if err := p.nc.PublishRequest(subject, reply, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// One that would change something is not carried out either.
	body := []byte(`{"name":"other","schedule":"@yearly","target":{"kind":"nats","subject":"out"}}`)
	if err := p.nc.PublishRequest("carillon.v1.a.jobs.put", "elsewhere", body); err != nil {
		t.Fatal(err)
	}
	want := uint64(len(subjects)*len(replies) + 1)
	testkit.Until(p.t, "all are counted", func() bool { return p.info(s).DroppedRequests == want })
	if st, err := a.Status(ctx); err != nil || st.DroppedRequests != want {
		t.Errorf("status over NATS: %d dropped, %v", st.DroppedRequests, err)
	}
	for _, c := range []*client.Client{a, b} {
		page, err := c.List(ctx, client.ListRequest{})
		if err != nil || len(page.Jobs) != 1 || page.Jobs[0].Version != 1 {
			t.Errorf("afterwards: %+v, %v", page.Jobs, err)
		}
	}
	if len(heard) > 0 {
		t.Errorf("%d replies went elsewhere", len(heard))
	}
	if text := scrape(t, s); !strings.Contains(text, "carillon_requests_dropped_total 33\n") {
		t.Errorf("the metrics do not have %d dropped requests", want)
	}
	// Without a reply subject a request is carried out and not answered.
	if err := p.nc.Publish("carillon.v1.a.jobs.put", body); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the job is there", func() bool { _, err := a.Get(ctx, "other"); return err == nil })
}

func scrape(t *testing.T, s *Server) string {
	t.Helper()
	return testkit.Get(t, s.Ready().HTTP+"/metrics").Body
}

// TestClusterRepliesToInboxes: the nodes of a cluster reply to inboxes only.
func TestClusterRepliesToInboxes(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.level(a, b)
	heard := make(chan *nats.Msg, 64)
	if _, err := p.nc.ChanSubscribe("elsewhere", heard); err != nil {
		t.Fatal(err)
	}
	subjects := []string{
		"carillon.cluster.0.node.a.holder", "carillon.cluster.0.node.a.open", "carillon.cluster.0.node.a.piece",
		"carillon.cluster.0.handover", "carillon.backup.0.open", "carillon.standby.v1.default.jobs.list",
	}
	for _, subject := range subjects {
		if err := p.nc.PublishRequest(subject, "elsewhere", []byte(`{"version":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	// A handover is asked of both nodes; the standby would not answer it.
	testkit.Until(p.t, "all are counted", func() bool {
		return p.info(a).DroppedRequests+p.info(b).DroppedRequests == uint64(len(subjects)+1)
	})
	if len(heard) > 0 || p.info(a).Role != "leader" {
		t.Errorf("%d replies went elsewhere; a is the %s", len(heard), p.info(a).Role)
	}
}

// TestInboxPrefix: a client with inboxes of its own is answered by a server that knows their prefix, and by no other.
func TestInboxPrefix(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		prefixes []string
		answered bool
	}{{nil, false}, {[]string{"_OTHER", "_CINBOX"}, true}} {
		p := newTroupe(t)
		startDoors(t, p, func(o *Options) { o.InboxPrefixes = tc.prefixes })
		nc, err := nats.Connect(p.url, nats.CustomInboxPrefix("_CINBOX.alice"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if !tc.answered {
			ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
		}
		_, err = of(t, nc, "default").List(ctx, client.ListRequest{})
		cancel()
		if (err == nil) != tc.answered || err != nil && !strings.Contains(err.Error(), "--inbox-prefix") {
			t.Errorf("with %q: %v", tc.prefixes, err)
		}
	}
	p := newTroupe(t)
	for _, prefix := range []string{"carillon", "$JS", "", "a b", "c"} {
		o := p.options("", t.TempDir())
		o.ClusterName, o.InboxPrefixes = "", []string{prefix}
		if s, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "prefix of inboxes") {
			t.Errorf("%q: %v", prefix, err)
			if err == nil {
				_ = s.Close(context.Background())
			}
		}
	}
}

// TestDeliveriesMayNotAsk: API and pages refuse a request with the headers of a delivery, over HTTP and NATS,
// and a job whose webhook is the server.
func TestDeliveriesMayNotAsk(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	s := startDoors(t, p, nil)
	victim := of(t, p.nc, "victim")
	j := client.Job{Name: "precious", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}
	if _, _, err := victim.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"Carillon-Run-Id", "carillon-run-id", "Carillon-Job", "Carillon-Fence", "Carillon-Attempt", "Carillon-Scheduled-At"} {
		for path, want := range map[string]int{
			"/api/v1/jobs/precious?tenant=victim": 403, "/api/v1/status": 403, "/": 403, "/jobs": 403, "/metrics": 403, "/healthz": 200, "/readyz": 200,
		} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.Ready().HTTP+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(header, "1")
			got := testkit.Do(t, http.DefaultClient, req)
			if got.Status != want || want == 403 && !strings.Contains(got.Body, `"code":"forbidden"`) {
				t.Errorf("%s with %s: %d %s", path, header, got.Status, got.Body)
			}
		}
		m := &nats.Msg{Subject: "carillon.v1.victim.jobs.delete", Data: []byte(`{"name":"precious"}`), Header: nats.Header{header: {"1"}}}
		reply, err := p.nc.RequestMsg(m, 5*time.Second)
		var refusal client.ErrorReply
		if err != nil || json.Unmarshal(reply.Data, &refusal) != nil || refusal.Error == nil || refusal.Error.Code != client.CodeForbidden || reply.Header.Get("Nats-Service-Error-Code") != "403" {
			t.Errorf("over NATS with %s: %s, %v", header, reply.Data, err)
		}
	}
	if _, err := victim.Get(t.Context(), "precious"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestTwoAskers: a request that names its caller twice is refused, over NATS as over HTTP.
func TestTwoAskers(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	startDoors(t, p, nil)
	for _, header := range []nats.Header{
		{"Carillon-By": {"alice", "bob"}},
		{"Carillon-By": {"alice"}, "carillon-by": {"bob"}},
	} {
		reply, err := p.nc.RequestMsg(&nats.Msg{Subject: "carillon.v1.default.jobs.list", Header: header}, 5*time.Second)
		var refusal client.ErrorReply
		if err != nil || json.Unmarshal(reply.Data, &refusal) != nil || refusal.Error == nil || refusal.Error.Code != client.CodeInvalidField || refusal.Error.Field != "Carillon-By" {
			t.Errorf("%v: %s, %v", header, reply.Data, err)
		}
	}
}
