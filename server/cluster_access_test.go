package server

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// TestClusterWithRights starts two nodes and a witness with a file of rights: they reach each other, and admit over
// NATS and at the witness's metrics only who may.
func TestClusterWithRights(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := "principals: [{name: all, token_sha256: " + access.HashToken("all") + `, grants: [{tenant: "*", role: admin}]},
  {name: see, token_sha256: ` + access.HashToken("see") + `, grants: [{tenant: default, role: viewer}]}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := nodeOptions(t, 3)
	nodes[2].Witness = true
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	for _, s := range servers {
		if nc, err := nats.Connect(s.Ready().NATS); err == nil {
			nc.Close()
			t.Errorf("%s admits a client without a token", s.opts.Node)
		}
		s.Reload() // which must not disconnect the process itself
		for token, want := range map[string]int{"": http.StatusUnauthorized, "all": http.StatusOK} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Ready().HTTP+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			if r := testkit.Do(t, http.DefaultClient, req); r.Status != want {
				t.Errorf("the metrics of %s with the token %q: %d", s.opts.Node, token, r.Status)
			}
		}
	}
	nc, err := nats.Connect(servers[2].Ready().NATS, nats.Token("all"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	j := client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}
	testkit.Until(t, "a job is put by way of the witness", func() bool {
		_, _, err := clienttest.New(t, nc, client.Options{}).Put(t.Context(), j)
		return err == nil
	})
	forwardedWithRights(t, servers[:2])
}

// TestTenantsOfACluster: each node warns in its log and its status of a tenant with jobs that the file of rights does not
// list, soon after it has read the file and without a run; and a viewer of a tenant at one node is no error in the log of
// another.
func TestTenantsOfACluster(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	principals := "principals: [{name: all, token_sha256: " + access.HashToken("all") + `, grants: [{tenant: "*", role: admin}]},
  {name: see, token_sha256: ` + access.HashToken("see") + `, grants: [{tenant: alpha, role: viewer}]}]`
	write := func(tenants string) {
		if err := os.WriteFile(path, []byte(tenants+principals), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tenants: {alpha: , beta: }\n")
	nodes, logs := nodeOptions(t, 2), make([]testkit.Buffer, 2)
	for i := range nodes {
		nodes[i].Auth, nodes[i].Logger = path, slog.New(slog.NewTextHandler(&logs[i], nil))
	}
	servers := startAll(t.Context(), t, nodes...)
	for _, s := range servers {
		nc, err := nats.Connect(s.Ready().NATS, nats.Token("see"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		viewer := clienttest.New(t, nc, client.Options{Tenant: "alpha"})
		testkit.Retry(t, "a viewer reads the status", func(ctx context.Context) error {
			_, err := viewer.Status(ctx)
			return err
		})
	}
	nc, err := nats.Connect(servers[0].Ready().NATS, nats.Token("all"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	j := client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}
	testkit.Until(t, "a job is put", func() bool {
		_, _, err := clienttest.New(t, nc, client.Options{Tenant: "beta"}).Put(t.Context(), j)
		return err == nil
	})
	testkit.Until(t, "both nodes have the job", func() bool {
		return servers[0].first().shard.Status().Jobs == 1 && servers[1].first().shard.Status().Jobs == 1
	})
	write("tenants: {alpha: }\n")
	for i, s := range servers {
		s.Reload()
		if text := strings.Join(s.guardedWarnings(nil), "\n"); !strings.Contains(text, "jobs: beta;") {
			t.Errorf("the status of %s warns of %q", s.opts.Node, text)
		}
		testkit.Until(t, "the log warns too", func() bool { return strings.Contains(logs[i].String(), "jobs: beta;") })
		if text := logs[i].String(); strings.Contains(text, "Unknown account") {
			t.Errorf("the log of %s: %s", s.opts.Node, text)
		}
	}
}

// forwardedWithRights: a request over HTTP has the same rights at each node, whether it leads or passes the request on,
// and the audit log names the caller.
func forwardedWithRights(t *testing.T, nodes []*Server) {
	for _, s := range nodes {
		for token, want := range map[string]int{"": http.StatusUnauthorized, "see": http.StatusForbidden, "all": http.StatusOK} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Ready().HTTP+"/api/v1/jobs/a/pause", nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			req.Header.Set("Carillon-By", "alice")
			if r := onceLed(t, func() testkit.Reply { return testkit.Do(t, http.DefaultClient, req) }); r.Status != want {
				t.Errorf("a pause at %s with the token %q: %d, want %d", s.opts.Node, token, r.Status, want)
			}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Ready().HTTP+"/api/v1/audit?action=pause", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer all")
		if r := onceLed(t, func() testkit.Reply { return testkit.Do(t, http.DefaultClient, req) }); !strings.Contains(r.Body, `"by":"token:all","claimed_by":"alice","from":"http"`) {
			t.Errorf("the audit log by way of %s: %s", s.opts.Node, r.Body)
		}
	}
}
