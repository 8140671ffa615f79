package replication

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/instant"
)

// hostBeat is the beat of a node in a cluster with several shards: what a beat says, for all of them. With one shard the
// beat of the member is published as it is.
type hostBeat struct {
	Version int            `json:"version"`
	Node    string         `json:"node"`
	Process string         `json:"process"`
	Cluster string         `json:"cluster_id"`
	Time    instant.Millis `json:"time"`
	Release string         `json:"release"`
	Rows    byte           `json:"rows"`
	Weight  uint32         `json:"weight"` // capacity, relative to that of the others
	Zone    string         `json:"zone,omitempty"`
	Copies  int            `json:"copies"` // that each shard is to have, by this node's options
	Heads   bool           `json:"heads,omitempty"`
	Shards  []shardBeat    `json:"shards"`
}

// shardBeat is the part of a beat about one shard.
type shardBeat struct {
	Shard     uint32 `json:"shard"`
	Role      string `json:"role"`
	Epoch     uint64 `json:"epoch"`
	LSN       uint64 `json:"lsn"`
	Confirmed uint64 `json:"confirmed,omitempty"`
	Applied   uint64 `json:"applied"`
	Notes     bool   `json:"notes,omitempty"`
	Unsure    bool   `json:"unsure,omitempty"`
	Jobs      int    `json:"jobs,omitempty"`  // of a leader
	Usual     uint64 `json:"usual,omitempty"` // its runs on time a second, smoothed over about a minute
}

const hostBeatVersion = 2

// beatAll publishes this node's beat regularly, until ctx ends.
func (h *Host) beatAll(ctx context.Context) {
	h.beatOnce()
	for range ticks(ctx, beatEvery) {
		h.beatOnce()
	}
}

// beatOnce publishes one beat, and with it the newest note of each standby, because a note may be lost like a beat.
func (h *Host) beatOnce() {
	h.beating.Lock()
	defer h.beating.Unlock()
	members := h.all()
	if len(members) == 0 {
		return
	}
	_ = h.ties.publish(subjectsOf(h.opts).beat(), h.beatOf(members)) // a lost beat does no harm: the next one follows
	for _, m := range members {
		m.repeatDurable()
	}
}

// beatOf returns the beat for the present state of the members.
func (h *Host) beatOf(members []*hosted) []byte {
	if h.opts.Shards == 1 {
		b, _ := json.Marshal(members[0].newBeat()) // strings and numbers: it cannot fail
		return b
	}
	one := members[0].newBeat()
	all := hostBeat{Version: hostBeatVersion, Node: one.Node, Process: one.Process, Cluster: one.Cluster, Time: one.Time, Release: one.Release, Rows: one.Rows, Weight: h.opts.Weight, Zone: h.opts.Zone, Copies: h.opts.Copies, Heads: one.Heads}
	for _, m := range members {
		b := m.newBeat()
		jobs, usual := m.load(b.Role)
		all.Shards = append(all.Shards, shardBeat{m.opts.Shard, b.Role, b.Epoch, b.LSN, b.Confirmed, b.Applied, b.Notes, b.Unsure, jobs, usual})
	}
	b, _ := json.Marshal(all)
	h.sent.Store(&sentBeat{b, all})
	return b
}

// sentBeat is this process's newest beat about several shards. It hears that, too, and need not decode it.
type sentBeat struct {
	data []byte
	beat hostBeat
}

// load returns how many jobs the shard of a leader has, and its usual rate.
func (n *Node) load(role string) (jobs int, usual uint64) {
	if role != RoleLeader || n.opts.Load == nil {
		return 0, 0
	}
	jobs, rate := n.opts.Load()
	return jobs, uint64(math.Round(rate))
}

// readBeat returns what a beat says about each shard, by the number of the shard, and what it says of the node; ok is
// false if it is no beat of a node of the cluster.
func (h *Host) readBeat(data []byte) (of map[uint32]beat, node beat, ok bool) {
	if h.opts.Shards == 1 {
		ok = json.Unmarshal(data, &node) == nil && node.Version == beatVersion && node.Cluster == h.id.String() && isNode(node.Node)
		return map[uint32]beat{h.opts.Shard: node}, node, ok
	}
	all, ok := h.readHostBeat(data)
	if !ok {
		return nil, node, false
	}
	node = beat{Version: beatVersion, Node: all.Node, Process: all.Process, Cluster: all.Cluster, Time: all.Time, Release: all.Release, Rows: all.Rows, Heads: all.Heads}
	if node.Node != h.opts.Node || node.Process == h.opts.Process {
		h.note(all)
	}
	of = make(map[uint32]beat)
	for _, s := range all.Shards {
		b := node
		b.Role, b.Epoch, b.LSN, b.Confirmed, b.Applied, b.Notes, b.Unsure = s.Role, s.Epoch, s.LSN, s.Confirmed, s.Applied, s.Notes, s.Unsure
		of[s.Shard] = b
	}
	return of, node, true
}

// readHostBeat reads the beat of a node about all of its shards; ok is false if it is none of the cluster.
func (h *Host) readHostBeat(data []byte) (all hostBeat, ok bool) {
	if own := h.sent.Load(); own != nil && bytes.Equal(data, own.data) {
		return own.beat, true
	}
	ok = json.Unmarshal(data, &all) == nil && all.Version == hostBeatVersion && all.Cluster == h.id.String() && isNode(all.Node) && len(all.Shards) <= h.opts.Shards
	return all, ok
}

// hearBeat passes the beat of a node, this one's included, on to the members.
func (h *Host) hearBeat(m *inbox.Request) {
	of, node, ok := h.readBeat(m.Data)
	if !ok {
		return
	}
	if node.Node == h.opts.Node && node.Process != h.opts.Process {
		h.twin.meet(node) // it is not recorded: this node's own entry must describe this process
		return
	}
	for _, member := range h.all() {
		if b, has := of[member.opts.Shard]; has {
			member.hears(b)
		} else {
			member.hearsReader(node)
		}
	}
	if offset := time.Until(node.Time.Time()); h.skews.differs(node.Node, offset, h.opts.Boot()) {
		h.warn(fmt.Sprintf("the clock of node %s differs from this one's; jobs are due by the leader's, so run a time daemon", node.Node),
			fmt.Errorf("by %s", offset.Round(time.Millisecond)))
	}
}
