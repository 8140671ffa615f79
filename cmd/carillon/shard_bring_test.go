package main

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestComesToLead: a hand-over that is refused because the cluster hands the shard over to that node itself has its end.
func TestComesToLead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leaders []string // by the statuses that come, one after the other; the last one stays
		want    bool
	}{
		"at once":                    {[]string{"b"}, true},
		"after a moment without one": {[]string{"a", "", "b"}, true},
		"never":                      {[]string{"a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := func(context.Context) (s client.Status, err error) {
				leader := c.leaders[0]
				if c.leaders = c.leaders[min(1, len(c.leaders)-1):]; leader == "" {
					return s, errors.New("no answer")
				}
				s.Cluster = new(client.Cluster)
				s.Shards = []client.ShardStatus{{Shard: 0, Leader: "b", HasLeader: true}, {Shard: 1, Leader: leader, HasLeader: true, Epoch: 4}}
				return s, nil
			}
			if row := comesToLead(t.Context(), status, 1, "b"); (row != nil) != c.want || c.want && row.Epoch != 4 {
				t.Errorf("%+v, want one: %t", row, c.want)
			}
		})
	}
}
