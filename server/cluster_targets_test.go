package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestTargetsInACluster: each node reads a file of its own, and that of the leader decides, at a put and at a launch.
func TestTargetsInACluster(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	start := func(name, targets string) *Server {
		t.Helper()
		dir := t.TempDir()
		o := p.options(name, filepath.Join(dir, "data"))
		o.Auth = filepath.Join(dir, "auth.yaml")
		if err := os.WriteFile(o.Auth, []byte("tenants: {default: {targets: {"+targets+"}}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return p.startWith(o)
	}
	a := start("a", `subjects: ["out.>"]`)
	start("b", `subjects: ["in.>"]`)
	c := p.client(false)
	put := func(name, subject string) error {
		_, _, err := c.Put(t.Context(), client.Job{Name: name, Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: subject}})
		return err
	}
	fire := func(name string) (run client.Run) {
		t.Helper()
		testkit.Until(t, "a run of "+name+" is fired", func() (ok bool) {
			var err error
			run, err = c.Trigger(t.Context(), client.TriggerRequest{Name: name})
			return err == nil
		})
		testkit.Until(t, "it has ended", func() bool {
			again, err := c.Run(t.Context(), run.RunID)
			run = again
			return err == nil && (run.Status == "succeeded" || run.Status == "dead")
		})
		return run
	}
	if err := put("job", "out.x"); err != nil {
		t.Fatal(err)
	}
	testkit.Refuses(t, put("no", "in.x"), "invalid_target", "allows this tenant: out.>")
	if run := fire("job"); run.Status != "succeeded" {
		t.Errorf("a run by a: %+v", run)
	}
	testkit.Until(t, "b follows", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Cluster != nil && len(st.Cluster.Nodes) == 2
	})
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if run := fire("job"); run.Status != "dead" || run.Reason != "target not allowed" {
		t.Errorf("a run by b: %+v", run)
	}
	if err := put("yes", "in.x"); err != nil {
		t.Errorf("by b: %v", err)
	}
	testkit.Refuses(t, put("job", "out.x"), "invalid_target", "allows this tenant: in.>")
}
