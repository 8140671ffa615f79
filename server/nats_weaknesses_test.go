package server

import (
	"context"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestWarningsFollowNATS: what a node says of NATS is what NATS is now, not what it was at the start. A server that
// keeps the log goes and comes back.
func TestWarningsFollowNATS(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	nodes[2].Witness = true
	servers := startAll(t.Context(), t, nodes...)
	p := &troupe{t: t}
	warns := func() bool {
		servers[0].around.CheckNATS(t.Context())
		return strings.Contains(strings.Join(p.info(servers[0]).Cluster.Warnings, " "), "NATS servers that keep the log of the cluster are not there (c)")
	}
	if warns() {
		t.Error("it warns of a server that is there")
	}
	if err := servers[2].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "it warns of the server that is gone", warns)
	back, err := Start(t.Context(), nodes[2])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Close(context.Background()) })
	testkit.Until(p.t, "it no longer warns", func() bool { return !warns() })
}
