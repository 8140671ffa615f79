package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// writeRights writes a file of rights with the tenants billing and stock, of which billing has streams. The token of a
// principal is its name.
func writeRights(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := "tenants: {billing: {nats: {storage: 32MiB}}, stock: }\nprincipals:\n"
	for name, grant := range map[string]string{
		"all": `tenant: "*", role: admin`, "billing": "tenant: billing, role: admin", "see": "tenant: billing, role: viewer", "stock": "tenant: stock, role: operator",
	} {
		text += fmt.Sprintf("  - {name: %s, token_sha256: %s, grants: [{%s}]}\n", name, access.HashToken(name), grant)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clientOf connects to a node with a token; the client is of the tenant.
func clientOf(t *testing.T, s *Server, token, tenant string) (*nats.Conn, *client.Client) {
	t.Helper()
	nc, err := nats.Connect(s.Ready().NATS, nats.Token(token))
	if err != nil {
		t.Fatalf("%s connects to %s: %v", token, s.opts.Node, err)
	}
	t.Cleanup(nc.Close)
	return nc, clienttest.New(t, nc, client.Options{Tenant: tenant})
}

// TestAccountsOfCluster: a client of a tenant reaches the leader through each node, and gets the tenant's runs and dead
// letters there; nobody else does.
func TestAccountsOfCluster(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	path := writeRights(t)
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	accountsWork(t, servers)
	streamsAreGuarded(t, servers)
}

// streamsAreGuarded checks that a tenant makes streams through each node, and none over requests.
func streamsAreGuarded(t *testing.T, servers []*Server) {
	t.Helper()
	for i, s := range servers {
		nc, _ := clientOf(t, s, "billing", "billing")
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		var refusal *jetstream.APIError
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "REQUESTS", Subjects: []string{"carillon.v1.billing.>"}, MaxBytes: 1 << 10})
		if !errors.As(err, &refusal) || refusal.Code != 403 {
			t.Errorf("a stream over requests through node %d: %v", i, err)
		}
		for subject, body := range map[string]string{
			"$JS.API.STREAM.CREATE.B":     `{"name":"B","subjects":["b.*"],"max_bytes":1024,"allow_atomic":true}`,
			"$JS.API.STREAM.RESTORE.R":    `{"config":{"name":"R","subjects":["r.*"],"max_bytes":1024}}`,
			"$SYS.REQ.ACCOUNT.PING.CONNZ": "", "$SYS.REQ.ACCOUNT.PING.STATZ": "",
		} {
			m, err := nc.Request(subject, []byte(body), 10*time.Second)
			if err != nil {
				t.Fatalf("%s through node %d: %v", subject, i, err)
			}
			if !bytes.Contains(m.Data, []byte(`"code":403`)) {
				t.Errorf("%s through node %d: %s; want 403", subject, i, m.Data)
			}
		}
		m, err := nc.Request("$SYS.REQ.USER.INFO", nil, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(m.Data, []byte(`"user":"token:billing","account":"billing"`)) {
			t.Errorf("who asks at node %d: %s", i, m.Data)
		}
		name := fmt.Sprintf("OWN%d", i)
		testkit.Retry(t, "make a stream through a node", func(ctx context.Context) error {
			_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, MaxBytes: 1 << 10, Replicas: 3})
			return err
		})
	}
}

// accountsWork checks what tenants can do at each node of a cluster with rights.
func accountsWork(t *testing.T, servers []*Server) {
	t.Helper()
	heard := make([]chan *nats.Msg, len(servers))
	other, _ := clientOf(t, servers[1], "stock", "stock")
	stolen := make(chan *nats.Msg, 64)
	if _, err := other.ChanSubscribe(">", stolen); err != nil {
		t.Fatal(err)
	}
	for i, s := range servers {
		nc, _ := clientOf(t, s, "billing", "billing")
		heard[i] = make(chan *nats.Msg, 64)
		for _, subject := range []string{"work.tell", "carillon.dead.billing"} {
			if _, err := nc.ChanSubscribe(subject, heard[i]); err != nil {
				t.Fatal(err)
			}
		}
		if i == len(servers)-1 { // one worker, far from wherever the leader is or not
			if _, err := nc.Subscribe("work.ask", func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := nc.RTT(); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range servers {
		_, c := clientOf(t, s, "billing", "billing")
		_, viewer := clientOf(t, s, "see", "billing")
		for _, target := range []client.Target{{Kind: "request", Subject: "work.ask"}, {Kind: "nats", Subject: "work.tell"}, {Kind: "request", Subject: "work.none"}} {
			name := fmt.Sprintf("%s-%d-%s", target.Subject, i, time.Now().Format("150405.000"))
			j := client.Job{Name: name, Schedule: "@yearly", Target: target, Retry: client.Retry{MaxAttempts: 1}}
			testkit.Retry(t, "a job is put through a node", func(ctx context.Context) error { return second(c.Put(ctx, j)) })
			if _, _, err := viewer.Put(t.Context(), j); err == nil {
				t.Error("a viewer puts a job")
			}
			run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			want := "succeeded"
			if target.Subject == "work.none" {
				want = "dead"
			}
			testkit.Until(t, "the run of "+name+" has ended as "+want, func() bool {
				r, err := viewer.Run(t.Context(), run.RunID)
				return err == nil && r.Status == want
			})
		}
	}
	for i := range servers {
		for range 2 * len(servers) { // a run and a dead letter for each node
			testkit.Receive(t, heard[i])
		}
	}
	if _, err := other.RTT(); err != nil {
		t.Fatal(err)
	}
	if len(stolen) > 0 {
		t.Errorf("stock got %s", (<-stolen).Subject)
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }

// TestClusterGainsRights: a cluster that was open gets rights node by node, and keeps its log, jobs and streams, and so
// does the stream of a tenant over restarts.
func TestClusterGainsRights(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	for i := range nodes {
		nodes[i].Events = true
	}
	servers := startAll(t.Context(), t, nodes...)
	_, open := clientOf(t, servers[0], "", "billing")
	j := client.Job{Name: "old", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "work.old"}}
	testkit.Retry(t, "a job is put", func(ctx context.Context) error { return second(open.Put(ctx, j)) })
	run, err := open.Trigger(t.Context(), client.TriggerRequest{Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	path := writeRights(t)
	for i := range servers {
		if err := servers[i].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		nodes[i].Auth = path
		s := startAgain(t, nodes[i])
		servers[i] = s
		// A cluster admin sees everything, whoever leads.
		_, admin := clientOf(t, s, "all", "billing")
		testkit.Retry(t, "the run is there", func(ctx context.Context) error { _, err := admin.Run(ctx, run.RunID); return err })
		if i == 0 { // the leader is one of the others, and has no rights yet
			_, billing := clientOf(t, s, "billing", "billing")
			testkit.Until(t, "a client of a tenant is told why nobody answers", func() bool {
				_, err := billing.List(t.Context(), client.ListRequest{})
				return client.IsForbidden(err) && strings.Contains(err.Error(), "the leader still runs without --auth")
			})
		}
	}
	nc, _ := clientOf(t, servers[0], "all", "billing")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "the events are there", func(ctx context.Context) error {
		stream, err := js.Stream(ctx, "CARILLON_EVENTS")
		if err == nil && stream.CachedInfo().State.Msgs == 0 {
			err = fmt.Errorf("the stream of events is empty")
		}
		return err
	})
	accountsWork(t, servers)
	streamsStay(t, nodes, servers)
}

// streamsStay makes a stream of a tenant, restarts a node, and reads it there.
func streamsStay(t *testing.T, nodes []Options, servers []*Server) {
	nc, c := clientOf(t, servers[0], "billing", "billing")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "a stream is made", func(ctx context.Context) error {
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "KEEP", Subjects: []string{"keep.>"}, MaxBytes: 1 << 20, Replicas: 3})
		return err
	})
	if _, _, err := c.Put(t.Context(), client.Job{Name: "keep", Schedule: "@yearly", Target: client.Target{Kind: "jetstream", Subject: "keep.a"}}); err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "keep"})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run is in the stream", func() bool {
		r, err := c.Run(t.Context(), run.RunID)
		return err == nil && r.Status == "succeeded"
	})
	if err := servers[2].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := startAgain(t, nodes[2])
	nc, _ = clientOf(t, again, "billing", "billing")
	if js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "the stream is there after a restart", func(ctx context.Context) error {
		stream, err := js.Stream(ctx, "KEEP")
		if err != nil {
			return err
		}
		info, err := stream.Info(ctx)
		if err == nil && (info.State.Msgs != 1 || info.Cluster == nil || len(info.Cluster.Replicas) != 2) {
			err = fmt.Errorf("the stream has %d messages, %+v", info.State.Msgs, info.Cluster)
		}
		if err == nil {
			for _, r := range info.Cluster.Replicas {
				if !r.Current {
					err = fmt.Errorf("%s is not current", r.Name)
				}
			}
		}
		return err
	})
}

// startAgain starts a node that was closed. On a busy machine JetStream may be too slow for the first try.
func startAgain(t *testing.T, o Options) (s *Server) {
	t.Helper()
	testkit.Until(t, "the node "+o.Node+" is there again", func() (ok bool) {
		var err error
		if s, err = Start(t.Context(), o); err != nil {
			t.Logf("start of %s: %v", o.Node, err)
		}
		return err == nil
	})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// TestClusterAddsTenant: a tenant that is added while the cluster runs works, though the nodes read the file one after the
// other, and a worker connects before the leader knows of it.
func TestClusterAddsTenant(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	path := writeRights(t)
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	leader := 0
	testkit.Until(t, "a node leads", func() bool {
		leader = slices.IndexFunc(servers, func(s *Server) bool { return s.first().shard.Node().Status().Role == replication.RoleLeader })
		return leader >= 0
	})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("stock: }"), []byte("stock: , fresh: }"), 1)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	other := servers[(leader+1)%3]
	other.Reload()
	worker, err := nats.Connect(other.Ready().NATS, nats.Token("all"), nats.UserInfo("fresh", ""), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	if _, err := worker.Subscribe("work.ask", func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.RTT(); err != nil {
		t.Fatal(err)
	}
	servers[leader].Reload()
	_, c := clientOf(t, servers[leader], "all", "fresh")
	j := client.Job{Name: "ask", Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: "work.ask"}, Retry: client.Retry{MaxAttempts: 1}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "a run reaches the worker", func() bool {
		run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "ask"})
		if err != nil {
			return false
		}
		for run.Status != "succeeded" && run.Status != "dead" && err == nil {
			run, err = c.Run(t.Context(), run.RunID)
		}
		return run.Status == "succeeded"
	})
}
