package server

import (
	"net/http"
	"os"
	"path/filepath"
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
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := "principals: [{name: all, token_sha256: " + access.HashToken("all") + `, grants: [{tenant: "*", role: admin}]}]`
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
}
