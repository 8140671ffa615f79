package replication

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func TestBetterSeat(t *testing.T) {
	peers := func(names ...string) (all []*jetstream.PeerInfo) {
		for _, name := range names {
			p := &jetstream.PeerInfo{Name: name, Current: true}
			switch name[len(name)-1] {
			case '-':
				p.Name, p.Offline = name[:len(name)-1], true
			case '~':
				p.Name, p.Current = name[:len(name)-1], false
			}
			all = append(all, p)
		}
		return all
	}
	nodes := map[string]bool{"a": true, "b": true}
	for _, c := range []struct {
		what, leader string
		replicas     []*jetstream.PeerInfo
		want         string
	}{
		{"from the own server to the witness", "a", peers("b", "w"), "w"},
		{"from another node to the witness", "b", peers("a", "w"), "w"},
		{"it is at the witness", "w", peers("a", "b"), ""},
		{"the witness is away, and a move gains nothing", "a", peers("w-", "b"), ""},
		{"the witness is behind", "a", peers("w~", "b"), ""},
		{"one of five is away", "a", peers("w-", "b", "v", "u"), "v"},
		{"two of five are away", "a", peers("w-", "b-", "v", "u"), ""},
		{"another node is as good as the next", "b", peers("a", "w-"), ""},
		{"there is no other", "a", peers("w-", "b-"), ""},
		{"one server", "a", nil, ""},
		{"an election", "", peers("b", "w"), ""},
	} {
		if got := betterServer(&jetstream.ClusterInfo{Leader: c.leader, Replicas: c.replicas}, "a", nodes); got != c.want {
			t.Errorf("%s: to %q, want %q", c.what, got, c.want)
		}
	}
}
