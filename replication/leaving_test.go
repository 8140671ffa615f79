package replication

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/instant"
)

// listener is node "own" with some shards, which hears messages at an instant that the test sets.
type listener struct {
	t    *testing.T
	now  time.Duration
	host *Host
}

func newListener(t *testing.T, shards int) *listener {
	l := &listener{t: t, now: time.Hour, host: NewHost(nil)}
	o := Options{Node: "own", Shards: shards, Boot: func() time.Duration { return l.now }}
	h := l.host
	h.opts, h.id, h.places = o.withDefaults(), testCluster, newPlaces(testCluster.String(), shards)
	h.opts.Boot = o.Boot
	for n := range uint32(shards) {
		o.Shard = n
		h.members[n] = &hosted{Node: &Node{opts: o, id: testCluster, host: h, peers: newPeers("own")}}
	}
	return l
}

// beat delivers a beat of a process of node "other" that was sent at an instant by that node's clock.
func (l *listener) beat(process string, sent instant.Millis, shards ...uint32) {
	l.t.Helper()
	var b any = beat{Version: beatVersion, Node: "other", Process: process, Cluster: testCluster.String(), Role: RoleStandby, Time: sent, Rows: 6}
	if l.host.opts.Shards > 1 {
		all := hostBeat{Version: hostBeatVersion, Node: "other", Process: process, Cluster: testCluster.String(), Time: sent, Rows: 6}
		for _, n := range shards {
			all.Shards = append(all.Shards, shardBeat{Shard: n, Role: RoleStandby})
		}
		b = all
	}
	text, err := json.Marshal(b)
	if err != nil {
		l.t.Fatal(err)
	}
	l.host.hearBeat(&inbox.Request{Data: text})
}

// gone delivers the note in which a process of node "other" ends its member of a shard.
func (l *listener) gone(process string, sent instant.Millis, shard uint32) {
	l.t.Helper()
	text, err := json.Marshal(durableNote{Version: durableVersion, Cluster: testCluster.String(), Node: "other", Process: process, Gone: true, Time: sent})
	if err != nil {
		l.t.Fatal(err)
	}
	l.host.members[shard].hearDurable(&inbox.Request{Data: text})
}

// wants compares the shards of node "other" with those that are known, of the host and of its members; none means that the
// node is not known.
func (l *listener) wants(when string, want ...uint32) {
	l.t.Helper()
	var host, members []uint32
	for _, n := range l.host.heard() {
		for _, s := range n.beat.Shards {
			host = append(host, s.Shard)
		}
	}
	for n := range uint32(l.host.opts.Shards) {
		if len(l.host.members[n].peers.all(l.now)) > 0 {
			members = append(members, n)
		}
	}
	if l.host.opts.Shards > 1 && !slices.Equal(host, want) || !slices.Equal(members, want) {
		l.t.Errorf("%s: by the beats of the node it has %v, by those of the members %v; want %v", when, host, members, want)
	}
	if known := len(l.host.heard()) > 0; l.host.opts.Shards > 1 && known != (len(want) > 0) {
		l.t.Errorf("%s: the node is known: %t", when, known)
	}
}

// TestLateBeatDoesNotReviveANode: a beat from before the end of a node, which is handled after it, does not bring the node back, so
// that it never counts as silent. A later process of the node is heard at once.
func TestLateBeatDoesNotReviveANode(t *testing.T) {
	for _, all := range [][]uint32{{0}, {0, 1}} {
		l := newListener(t, len(all))
		l.beat("p1", 1000, all...)
		l.wants("heard", all...)
		for _, n := range all {
			l.gone("p1", 1500, n)
		}
		l.wants("ended")
		l.beat("p1", 1499, all...)
		l.beat("p1", 1500, all...)
		l.wants("late beats")
		l.now += 2 * beatFresh
		if misses(l.host.heard(), l.now) {
			t.Error("a node that has ended counts as silent")
		}
		l.beat("p2", 1400, all...) // on a machine whose clock is behind
		l.wants("another process", all...)
	}
}

// TestShardThatComesBackIsHeard: a node that gives one shard up and receives it again is heard about it again, and always about
// the other one; also if its clock was set back meanwhile, after a while.
func TestShardThatComesBackIsHeard(t *testing.T) {
	l := newListener(t, 2)
	l.beat("p1", 1000, 0, 1)
	l.gone("p1", 1500, 1)
	l.wants("one shard has ended", 0)
	l.beat("p1", 1400, 0, 1)
	l.wants("a late beat", 0)
	l.beat("p1", 1750, 0, 1)
	l.wants("it is back", 0, 1)
	l.gone("p1", 2000, 1)
	l.now += lateMost
	l.beat("p1", 1900, 0, 1)
	l.wants("the clock was set back", 0, 1)
}

// TestEndsAreForgotten: forged notes take a bounded place, and give it back.
func TestEndsAreForgotten(t *testing.T) {
	l := newListener(t, 2)
	for i := range 2 * endedMost {
		l.host.left("forged", uint32(i), leaving{"p", 1, l.now})
	}
	l.now += lateMost
	l.host.left("other", 1, leaving{"p1", 1500, l.now})
	if n := len(l.host.ended); n != 1 {
		t.Errorf("%d ends are kept", n)
	}
}
