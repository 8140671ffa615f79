package replication

import (
	"testing"
	"time"

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
	n := nodeWithSeats("a", "b")
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
		if got := betterServer(&jetstream.ClusterInfo{Leader: c.leader, Replicas: c.replicas}, n.rank); got != c.want {
			t.Errorf("%s: to %q, want %q", c.what, got, c.want)
		}
	}
}

// nodeWithSeats returns a node whose server has its name, and which has heard itself and others.
func nodeWithSeats(name string, others ...string) *Node {
	n := &Node{opts: Options{Node: name, Server: name}, peers: newPeers(name)}
	for _, node := range append(others, name) {
		n.peers.heard(beat{Node: node}, time.Second)
	}
	return n
}

func TestWhenALeaderIsToMoveIsAsked(t *testing.T) {
	n := nodeWithSeats("a", "b")
	at := func(leader string, seconds int) seatAsked {
		return seatAsked{leader, time.Duration(seconds) * time.Second}
	}
	for _, c := range []struct {
		what, leader string
		last         seatAsked
		want         bool
	}{
		{"the own server leads", "a", seatAsked{}, true},
		{"the own server still leads", "a", at("a", 99), true},
		{"a move has failed just now", "a", at("a", 101), false},
		{"the witness leads", "w", seatAsked{}, false},
		{"the witness leads since just now", "w", at("b", 99), false},
		{"another node's server leads", "b", seatAsked{}, true},
		{"another node's server leads since just now", "b", at("a", 99), true},
		{"another node's server still leads", "b", at("b", 91), false},
		{"another node's server leads for long", "b", at("b", 90), true},
		{"the leader is unknown", "", seatAsked{}, true},
		{"the leader is still unknown", "", at("", 99), false},
		{"the leader is unknown for two seconds", "", at("", 98), true},
	} {
		if got := n.mayMove(c.leader, c.last, 100*time.Second); got != c.want {
			t.Errorf("%s: asked %v, want %v", c.what, got, c.want)
		}
	}
}

// TestOneShardKeepsTheBucket: of all shards, whichever nodes lead them, the first alone moves the leadership of the bucket.
// With three nodes and no witness they would otherwise move it away from each other once a second.
func TestOneShardKeepsTheBucket(t *testing.T) {
	for shard, want := range []int{2, 1, 1, 1} {
		n := &Node{opts: Options{Shard: uint32(shard), Shards: 4}, stream: &jetStream{}, bucket: &bucket{}}
		if got := n.seats(); len(got) != want || got[0] != &n.stream.seat {
			t.Errorf("shard %d keeps %d streams, want %d, its log first", shard, len(got), want)
		}
	}
}
