package replication

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// leaving is the end of a node's member of a shard, as the member has announced it. Beats and notes come by subscriptions of
// their own, so a beat from before the end may be handled after it. Such a beat must not bring the node back: nothing
// would follow it, and the node would count as silent for beatKept. Then the stream is kept for it, and no leadership is spread.
type leaving struct {
	process string         // of the node
	at      instant.Millis // by the node's clock; 0: an earlier release does not say
	heard   time.Duration  // on the boot clock of this process
}

// lateMost is how long after the end a beat from before it may be handled. It bounds how long a node whose clock was set back
// meanwhile, and which has the shard again, is not heard.
const lateMost = time.Minute

// covers reports whether a process of the node has sent a beat before the end.
func (l leaving) covers(process string, sent instant.Millis, now time.Duration) bool {
	return l.process == process && sent <= l.at && now-l.heard < lateMost
}

// endedMember names the member of a node.
type endedMember struct {
	node  string
	shard uint32
}

// endedMost bounds the ends that a host remembers.
const endedMost = 4096

// left notes that a node has ended its member of a shard. With the last one the node is gone.
func (h *Host) left(node string, shard uint32, l leaving) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rememberEnd(endedMember{node, shard}, l)
	n, known := h.nodes[node]
	if !known {
		return
	}
	n.beat.Shards = slices.DeleteFunc(slices.Clone(n.beat.Shards), func(s shardBeat) bool { return s.Shard == shard })
	if h.nodes[node] = n; len(n.beat.Shards) == 0 {
		delete(h.nodes, node)
	}
}

// rememberEnd keeps an end, if there is room for it. The caller holds the mutex.
func (h *Host) rememberEnd(m endedMember, l leaving) {
	if len(h.ended) >= endedMost {
		for other, end := range h.ended {
			if l.heard-end.heard >= lateMost {
				delete(h.ended, other)
			}
		}
	}
	if len(h.ended) < endedMost {
		h.ended[m] = l
	}
}

// stillThere returns the shards of a beat without those of which the node has ended its member since. The caller holds the mutex.
func (h *Host) stillThere(b hostBeat, now time.Duration) []shardBeat {
	return slices.DeleteFunc(slices.Clone(b.Shards), func(s shardBeat) bool {
		m := endedMember{b.Node, s.Shard}
		end, has := h.ended[m]
		if has && end.covers(b.Process, b.Time, now) {
			return true
		}
		delete(h.ended, m)
		return false
	})
}
