package replication

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/inbox"
)

// readersWorld is a node "own" that reads rows up to version 6, and what the log has noted.
type readersWorld struct {
	*testing.T
	node  *Node
	now   time.Duration
	noted map[string]byte
}

func newReadersWorld(t *testing.T) *readersWorld {
	w := &readersWorld{T: t, now: time.Hour, noted: make(map[string]byte)}
	w.node = &Node{opts: Options{Node: "own", rows: 6, Boot: func() time.Duration { return w.now }}, peers: newPeers("own")}
	return w
}

func (w *readersWorld) hears(node string, rows byte) {
	w.node.peers.heard(beat{Node: node, Rows: rows, Release: "1.2"}, w.now)
}

// leads begins a leadership.
func (w *readersWorld) leads() { w.node.peers.leads(w.now) }

// notes does what a leader does from time to time.
func (w *readersWorld) notes() {
	for _, r := range w.node.Unnoted(w.noted) {
		if w.noted[r.Node] = r.Rows; r.Rows == 0 {
			delete(w.noted, r.Node)
		}
	}
}

// wants compares the nodes that cannot read version 6, and the newest rows, with those that are wanted: "a:5 b:4".
func (w *readersWorld) wants(why, want string) {
	w.Helper()
	var got []string
	least := byte(6)
	for _, r := range w.node.Older(w.noted) {
		got = append(got, fmt.Sprint(r.Node, ":", r.Rows))
		least = min(least, r.Rows)
	}
	if strings.Join(got, " ") != want {
		w.Errorf("%s: older are %q, want %q", why, got, want)
	}
	if most, _ := w.node.RowsMax(w.noted); most != least {
		w.Errorf("%s: rows of version %d may be written, want %d", why, most, least)
	}
}

// TestReadersOutliveTheirProcesses: a node that may come back within ten minutes counts, although it has ended by itself;
// and for the next leader too, which has heard nothing of it.
func TestReadersOutliveTheirProcesses(t *testing.T) {
	w := newReadersWorld(t)
	w.leads()
	w.hears("a", 5)
	w.hears("b", 6)
	w.hears("own", 3)
	w.wants("both were heard", "a:5")
	w.node.peers.leaves("a", leaving{})
	w.notes()
	w.wants("a has ended by itself", "a:5")
	if want := map[string]byte{"a": 5, "b": 6, "own": 6}; fmt.Sprint(w.noted) != fmt.Sprint(want) {
		t.Errorf("noted is %v, want %v", w.noted, want)
	}

	next := newReadersWorld(t)
	next.noted = w.noted
	next.leads()
	next.wants("the next leader", "a:5")
	next.now += 10 * time.Minute
	next.notes()
	next.wants("ten minutes later", "a:5")
	next.now += time.Second
	next.wants("a is silent for longer", "")
	if next.notes(); next.noted["a"] != 0 || next.noted["b"] != 0 || next.noted["own"] != 6 {
		t.Errorf("noted is %v, want only the leader", next.noted)
	}
}

// TestReadersOfWhomOthersKnowBetter: what a node heard before it led may be older than the note of another leader.
func TestReadersOfWhomOthersKnowBetter(t *testing.T) {
	w := newReadersWorld(t)
	w.hears("a", 6)
	w.noted = map[string]byte{"a": 4} // it went back while this node was cut off
	w.now += time.Second
	w.leads()
	w.wants("it has heard nothing since", "a:4")
	w.hears("a", 6)
	w.wants("it hears a again", "")
	w.notes()
	w.wants("it has noted that", "")

	w.hears("a", 5)
	w.wants("a goes back while it leads", "a:5")
}

// TestReadersHaveNoCopy: a node counts in each shard, also in one of which it has no copy: it may receive one. What it reads since
// it gave its copy up counts as well.
func TestReadersHaveNoCopy(t *testing.T) {
	o := Options{Node: "own", Shards: 4, Shard: 3, Boot: func() time.Duration { return time.Hour }}
	n := &Node{opts: o, id: testCluster, peers: newPeers("own"), newReaders: make(chan struct{}, 1)}
	h := NewHost(nil)
	h.opts, h.id, h.members[3] = o, testCluster, &hosted{Node: n}
	hear := func(rows byte, shards ...shardBeat) {
		t.Helper()
		text, err := json.Marshal(hostBeat{Version: hostBeatVersion, Node: "a", Cluster: testCluster.String(), Rows: rows, Shards: shards})
		if err != nil {
			t.Fatal(err)
		}
		h.hearBeat(&inbox.Request{Data: text})
		select {
		case <-n.newReaders:
		default:
			t.Error("a leader is not told")
		}
		if all := n.peers.readersOf(nil, time.Hour); len(all) != 1 || all[0].Node != "a" || all[0].Rows != rows {
			t.Errorf("the readers are %+v, want a with %d", all, rows)
		}
	}
	hear(5, shardBeat{Shard: 0, Role: RoleStandby})
	hear(6, shardBeat{Shard: 3, Role: RoleStandby})
	hear(7, shardBeat{Shard: 0, Role: RoleStandby})
	if all := n.peers.all(time.Hour); len(all) != 1 || all[0].Rows != 6 {
		t.Errorf("the peers in the shard are %+v", all)
	}
}

// TestReadersAreBounded: forged names do not hide a node that reads older rows, and cost few commits.
func TestReadersAreBounded(t *testing.T) {
	w := newReadersWorld(t)
	w.leads()
	for i := range 10 * peersMost {
		w.hears(fmt.Sprint("forged", i), 6)
	}
	w.hears("a", 5)
	w.wants("a comes last", "a:5")
	if n := len(w.node.Unnoted(w.noted)); n != unnotedMost {
		t.Errorf("%d changes are to be noted at a time, want %d", n, unnotedMost)
	}
}

// TestSilentNamesGiveWay: forged names do not keep a node from being known for longer than they seem to be there.
func TestSilentNamesGiveWay(t *testing.T) {
	p := newPeers("own")
	for i := range 2 * peersMost {
		p.heard(beat{Node: fmt.Sprint("forged", i)}, time.Hour)
	}
	p.heard(beat{Node: "leader", Role: RoleLeader}, time.Hour+beatFresh/2)
	if _, known := p.leader(time.Hour + beatFresh/2); known {
		t.Error("a name gave way although it was not silent")
	}
	p.heard(beat{Node: "leader", Role: RoleLeader}, time.Hour+beatFresh)
	if _, known := p.leader(time.Hour + beatFresh); !known {
		t.Error("the leader is not known although the forged names are silent")
	}
}

// TestBeatsWithBadNames: a beat whose node has an impossible name changes nothing, so it reaches no file either.
func TestBeatsWithBadNames(t *testing.T) {
	o := Options{Node: "own", Shards: 1, Boot: func() time.Duration { return time.Hour }}
	n := &Node{opts: o, id: testCluster, peers: newPeers("own")}
	h := NewHost(nil)
	h.opts, h.id, h.members[0] = o, testCluster, &hosted{Node: n}
	for _, name := range []string{"", "a b", "x\ny", "a.b", ">", strings.Repeat("a", 200)} {
		text, err := json.Marshal(beat{Version: beatVersion, Node: name, Cluster: testCluster.String(), Rows: 6})
		if err != nil {
			t.Fatal(err)
		}
		h.hearBeat(&inbox.Request{Data: text})
	}
	if all := n.peers.all(time.Hour); len(all) != 0 {
		t.Errorf("%d nodes are known: %+v", len(all), all)
	}
}
