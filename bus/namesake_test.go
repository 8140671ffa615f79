package bus

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestNamesakeIsRefused: a node whose name another node's server has does not start, before it has said a word to JetStream;
// also if it knows of that server only through a third one. When that server has gone, it starts.
func TestNamesakeIsRefused(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 2)
	buses := embedPeers(t, nodes...)
	testkit.Until(t, "a and b are peers", func() bool { return routes(buses[0]) > 0 && routes(buses[1]) > 0 })
	second := nodeOptions(t, 1)[0]
	second.Node, second.ClusterListen = "b", bustest.FreeAddrs(t, 1)[0]
	for name, peers := range map[string][]string{"at the namesake": {nodes[1].ClusterListen}, "at a third node": {nodes[0].ClusterListen}, "at all": {nodes[0].ClusterListen, nodes[1].ClusterListen, second.ClusterListen}} {
		second.Routes = peers
		_, err := Embed(second)
		if !errors.Is(err, errNamesake) || !strings.Contains(err.Error(), `a NATS server of cluster "prod" has the name "b"; give each node a name of its own (--node)`) {
			t.Errorf("with a route that ends %s: %v", name, err)
		}
	}
	if before := routes(buses[0]); before == 0 {
		t.Error("the peers have lost each other")
	}
	buses[1].Close()
	testkit.Until(t, "a node of the free name starts", func() bool {
		b, err := Embed(second)
		if err == nil {
			b.Close()
		}
		return err == nil
	})
}
