package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/datadir"
)

// TestMemberThatLostItsName: a node whose embedded NATS server was a member of the cluster's is started without its
// file NODE and without a cluster name. Its own NATS has the log of the cluster, so it is refused, and starts when that is
// deleted as the refusal says.
func TestMemberThatLostItsName(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	nodes := nodeOptions(t, 3)
	nodes[2].Witness = true
	servers := startAll(t.Context(), t, nodes...)
	for _, s := range servers {
		if err := s.Close(t.Context()); err != nil {
			t.Log(err) // the last ones have no majority to hand over to
		}
	}
	dir := nodes[0].Dir
	if err := os.Remove(filepath.Join(dir, datadir.NodeName)); err != nil {
		t.Fatal(err)
	}
	p := &troupe{t: t}
	o := Options{Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: testLog()}
	kept := filepath.Join(dir, "nats", "jetstream", "$G", "streams", "CARILLON_LOG_carillon_0")
	p.refusesToStart(o, "log of the cluster prod", "remove the directory "+kept)
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	p.startWith(o)
}
