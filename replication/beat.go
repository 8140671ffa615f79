package replication

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// beat is what each node tells the others of itself, a few times a second. Nothing is decided by it but
// who is worth handing over to, what the stream is kept for, and when to ask for a checkpoint.
type beat struct {
	Version int        `json:"version"`
	Node    string     `json:"node"`
	Cluster string     `json:"cluster_id"`
	Role    string     `json:"role"`
	Epoch   uint64     `json:"epoch"`
	LSN     uint64     `json:"lsn"`     // of its log
	Applied uint64     `json:"applied"` // of its store
	Time    job.Millis `json:"time"`    // of its wall clock
}

const (
	beatVersion = 1
	beatEvery   = 250 * time.Millisecond
	beatFresh   = 5 * beatEvery    // a beat older than this says nothing about now
	beatKept    = 10 * time.Minute // how long the stream is kept for a node that is gone
	peersMost   = 64
)

// peer is a node as its newest beat tells.
type peer struct {
	beat
	seen   time.Duration // when it came, on the boot clock
	offset time.Duration // its wall clock before ours, and the way of the beat
}

// peers are the nodes of the cluster, this one included.
type peers struct {
	mu     sync.Mutex
	byName map[string]peer
	behind job.Millis // the author's time of the frame taken last
}

func newPeers() peers { return peers{byName: make(map[string]peer)} }

// heard takes a beat in.
func (p *peers) heard(b beat, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.byName[b.Node]; !known && len(p.byName) >= peersMost {
		return
	}
	p.byName[b.Node] = peer{b, now, time.Until(b.Time.Time())}
}

// tookFrom notes the time of the frame that was taken last.
func (p *peers) tookFrom(at job.Millis) {
	p.mu.Lock()
	p.behind = at
	p.mu.Unlock()
}

// leader returns the node that says that it leads, if one has said so just now.
func (p *peers) leader(now time.Duration) (peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, found := peer{}, false
	for _, b := range p.byName {
		if b.Role == RoleLeader && now-b.seen < beatFresh && b.Epoch >= best.Epoch {
			best, found = b, true
		}
	}
	return best, found
}

// all returns the nodes by name, and forgets those that were silent for long.
func (p *peers) all(now time.Duration) []peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []peer
	for name, b := range p.byName {
		if now-b.seen > beatKept {
			delete(p.byName, name)
			continue
		}
		list = append(list, b)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Node < list[j].Node })
	return list
}

// beatAll tells the others of this node until ctx ends.
func (n *Node) beatAll(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		n.beatOnce()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *Node) beatOnce() {
	n.mu.Lock()
	role := n.role
	n.mu.Unlock()
	last := n.local.Last()
	b, _ := json.Marshal(beat{
		Version: beatVersion, Node: n.opts.Node, Cluster: n.id.String(), Role: role, Epoch: last.Epoch, LSN: last.LSN,
		Applied: n.local.Applied().LSN, Time: job.MillisOf(time.Now()),
	})
	_ = n.opts.Conn.Publish(n.subjects().beat(), b) // the next one follows
}

// hearBeat takes in what another node tells, or this one.
func (n *Node) hearBeat(m *inbox.Request) {
	var b beat
	if json.Unmarshal(m.Data, &b) != nil || b.Version != beatVersion || b.Cluster != n.id.String() {
		return
	}
	n.peers.heard(b, n.opts.Boot())
	if offset := time.Until(b.Time.Time()); offset.Abs() > offsetMost {
		n.warn(fmt.Sprintf("the clock of node %s differs from this one's; jobs are due by the leader's, so run a time daemon", b.Node),
			fmt.Errorf("by %s", offset.Round(time.Millisecond)))
	}
}

// offsetMost is how far the wall clocks of two nodes may differ before somebody is told.
const offsetMost = time.Second

// successor returns the standby to hand over to: the one that was named, or the one that is furthest.
func (n *Node) successor(name string) (string, error) {
	list := n.successors(name)
	switch {
	case len(list) > 0:
		return list[0].Node, nil
	case name != "":
		return "", fmt.Errorf("replication: %s is no standby of this cluster that is level with the leader", name)
	default:
		return "", errors.New("replication: there is no standby that is level with the leader")
	}
}

// successors returns the standbys that are level with this node as far as it heard, the furthest first.
func (n *Node) successors(name string) (list []peer) {
	own, now := n.local.Last().LSN, n.opts.Boot()
	for _, p := range n.peers.all(now) {
		fits := p.Node != n.opts.Node && p.Role == RoleStandby && now-p.seen < beatFresh && p.LSN+inSyncLSN >= own
		if fits && (name == "" || name == p.Node) {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b peer) int { return cmp.Compare(b.LSN, a.LSN) })
	return list
}

// liveSuccessor returns a standby to hand over to that answers just now.
func (n *Node) liveSuccessor(ctx context.Context, name string) (string, error) {
	for _, p := range n.successors(name) {
		if n.isThere(ctx, p.Node) {
			return p.Node, nil
		}
		n.peers.forget(p.Node)
	}
	return n.successor(name)
}

// forget drops what is known of a node that is not there.
func (p *peers) forget(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byName, node)
}
