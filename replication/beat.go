package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// beat is the state that each node publishes several times a second. It affects only the choice of a successor,
// how far the stream is kept, the wait after a start, and when a standby asks for a checkpoint. No decision
// that must be right depends on it.
type beat struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	Process string `json:"process,omitempty"` // process of the node
	Cluster string `json:"cluster_id"`
	Role    string `json:"role"`
	Epoch   uint64 `json:"epoch"`
	LSN     uint64 `json:"lsn"` // newest commit in its log
	// Confirmed is the LSN of the newest commit that this leader knows to be in the stream. The log may have
	// one more, which no other node can have yet. 0: the node does not lead, or runs an older release.
	Confirmed uint64         `json:"confirmed,omitempty"`
	Applied   uint64         `json:"applied"` // newest commit in its store
	Time      instant.Millis `json:"time"`    // reading of its wall clock
	Release   string         `json:"release"` // release of its program; "" from an older release
	Rows      byte           `json:"rows"`    // newest version of rows that it can read; 0 from an older release
	// Notes says that this leader asks its standbys to publish how far their logs are durable.
	Notes bool `json:"notes,omitempty"`
}

const (
	beatVersion = 1
	beatEvery   = 250 * time.Millisecond
	beatFresh   = 5 * beatEvery    // age from which a beat no longer describes the present
	beatKept    = 10 * time.Minute // how long the stream is kept for a silent node
	peersMost   = 64
)

// peer is a node as its newest beat describes it.
type peer struct {
	beat
	seen   time.Duration // arrival of the beat, on the boot clock
	offset time.Duration // its wall clock minus this node's, less the delay of the beat
}

// peers are the nodes of the cluster, this one included. Safe for concurrent use.
type peers struct {
	mu     sync.Mutex
	byName map[string]peer
	left   map[string]bool // nodes that have announced their end and have not been heard since
}

func newPeers() peers { return peers{byName: make(map[string]peer), left: make(map[string]bool)} }

// reads returns the newest version of rows that a node can read.
func (b *beat) reads() byte {
	if b.Rows == 0 {
		return job.RowsVersionUnmarked
	}
	return b.Rows
}

// RowsMax returns the newest version of rows that every node can read of which a beat came in the last ten
// minutes, and the name of a node that can read no newer one. It is safe for concurrent use.
func (n *Node) RowsMax() (version byte, node string) {
	version, node = job.RowsVersion, n.opts.Node
	for _, p := range n.peers.all(n.opts.Boot()) {
		if reads := p.reads(); reads < version {
			version, node = reads, p.Node
		}
	}
	return version, node
}

// heard records a beat. New names beyond peersMost are ignored.
func (p *peers) heard(b beat, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.byName[b.Node]; !known && len(p.byName) >= peersMost {
		return
	}
	p.byName[b.Node] = peer{b, now, time.Until(b.Time.Time())}
	delete(p.left, b.Node)
}

// leaves records that a node has announced its end.
func (p *peers) leaves(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.byName[node]; known && len(p.left) < peersMost {
		delete(p.byName, node)
		p.left[node] = true
	}
}

// hasLeft reports whether a node has announced its end and has not been heard since.
func (p *peers) hasLeft(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left[node]
}

// leader returns the node whose recent beat says that it leads. If several do, the one with the newest epoch
// counts.
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

// all returns the nodes, sorted by name, and removes those that were silent for beatKept.
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

// beatAll publishes this node's beat regularly, until ctx ends.
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

// newBeat returns the beat for the node's present state.
func (n *Node) newBeat() beat {
	n.mu.Lock()
	role := n.role
	n.mu.Unlock()
	last := n.local.Last()
	b := beat{
		Version: beatVersion, Node: n.opts.Node, Process: n.opts.Process, Cluster: n.id.String(), Role: role, Epoch: last.Epoch, LSN: last.LSN,
		Applied: n.local.Applied().LSN, Time: instant.Of(time.Now()), Release: n.opts.Release, Rows: job.RowsVersion,
	}
	if role == RoleLeader {
		b.Confirmed = min(last.LSN, n.writer.confirmed.Load())
		b.Notes = !n.opts.Local && !n.opts.keepsAcked()
	}
	return b
}

// published returns the LSN up to which this leader's log is, or was, in the stream.
func (b *beat) published() uint64 {
	if b.Confirmed != 0 {
		return b.Confirmed
	}
	return b.LSN
}

func (n *Node) beatOnce() {
	b, _ := json.Marshal(n.newBeat())
	_ = n.opts.Conn.Publish(n.subjects().beat(), b) // a lost beat does no harm: the next one follows
	n.repeatDurable()
}

// hearBeat records the beat of a node, this one's included.
func (n *Node) hearBeat(m *inbox.Request) {
	var b beat
	if json.Unmarshal(m.Data, &b) != nil || b.Version != beatVersion || b.Cluster != n.id.String() {
		return
	}
	if b.Node == n.opts.Node && b.Process != n.opts.Process {
		n.twin.meet(b)
		return
	}
	n.peers.heard(b, n.opts.Boot())
	if b.Role == RoleLeader {
		n.noteWanted.Store(b.Notes)
	}
	if offset := time.Until(b.Time.Time()); offset.Abs() > offsetMost {
		n.warn(fmt.Sprintf("the clock of node %s differs from this one's; jobs are due by the leader's, so run a time daemon", b.Node),
			fmt.Errorf("by %s", offset.Round(time.Millisecond)))
	}
}

// offsetMost is the difference between the wall clocks of two nodes from which a warning is logged.
const offsetMost = time.Second

// successor returns the standby to hand over to: the named one, or the one with the most commits.
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

// successors returns the standbys that are level with this node according to their beats, those with the most
// commits first.
func (n *Node) successors(name string) (list []peer) {
	own, now := n.local.Last().LSN, n.opts.Boot()
	for _, p := range n.peers.all(now) {
		fits := p.Node != n.opts.Node && p.Role == RoleStandby && now-p.seen < beatFresh && p.LSN+inSyncLSN >= own
		if fits && (name == "" || name == p.Node) {
			list = append(list, p)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].LSN > list[j].LSN })
	return list
}

// liveSuccessor returns a standby to hand over to that answers at this moment.
func (n *Node) liveSuccessor(ctx context.Context, name string) (string, error) {
	for _, p := range n.successors(name) {
		if n.isThere(ctx, p.Node) {
			return p.Node, nil
		}
		n.peers.forget(p.Node)
	}
	return n.successor(name)
}

// forget removes a node that does not answer.
func (p *peers) forget(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byName, node)
}
