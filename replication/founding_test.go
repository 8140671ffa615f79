package replication

import (
	"context"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestFounding: a node takes a lease that is not there at once only if nobody can have led: with a stream that never had a message, and
// without data, or as the founder of a cluster that gives no other one's log up.
func TestFounding(t *testing.T) {
	some := chain(job.Position{}, 1, 3)
	for name, c := range map[string]struct {
		frames []Frame
		opts   Options
		stream *memStream
		want   bool
	}{
		"nothing anywhere":                 {nil, Options{}, streamOf(), true},
		"a stream that has something":      {nil, Options{}, streamOf(some...), false},
		"data, whose stream is empty":      {some, Options{}, streamOf(), false},
		"a founder with data":              {some, Options{Found: true}, streamOf(), true},
		"a founder that has led":           {some, Options{Found: true}, streamOf(some...), false},
		"a founder that gives up a log":    {some, Options{Found: true, GiveUp: testCluster}, streamOf(), false},
		"a founder of a given up, no data": {nil, Options{Found: true, GiveUp: testCluster}, streamOf(), true},
	} {
		n := &Node{opts: c.opts, local: &simLocal{log: logOf(c.frames...)}}
		n.writer.stream = c.stream
		if got := n.founding(context.Background()); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
