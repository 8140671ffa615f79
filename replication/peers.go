package replication

import (
	"sort"
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// peer is a node as its newest beat describes it.
type peer struct {
	beat
	seen   time.Duration // arrival of the beat, on the boot clock
	offset time.Duration // its wall clock minus this node's, less the delay of the beat
}

// peers are the nodes of the cluster, this one included. Safe for concurrent use.
type peers struct {
	mu      sync.Mutex
	byName  map[string]peer
	left    map[string]leaving // nodes that have announced their end and have not been heard since
	readers readers
	hearing hearing
	changes uint64 // number of changes of who is there and in which role
}

func newPeers(own string) peers {
	return peers{byName: make(map[string]peer), left: make(map[string]leaving), readers: newReaders(own)}
}

// heard records a beat, and reports whether it tells something new of the rows that the node reads. A beat from before the end of
// its node changes nothing. If the table is full, the node that is silent for the longest time gives way; while none is silent, new names are ignored.
func (p *peers) heard(b beat, now time.Duration) (isNews bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end, has := p.left[b.Node]; has && end.covers(b.Process, b.Time, now) {
		return false
	}
	if b.Node == p.readers.own {
		p.hearing.heard(now)
	}
	isNews = p.readers.heard(b, now)
	old, known := p.byName[b.Node]
	if !known && len(p.byName) >= peersMost && !p.makeRoom(now) {
		return isNews
	}
	if !known || old.Role != b.Role {
		p.changes++
	}
	p.byName[b.Node] = peer{b, now, time.Until(b.Time.Time())}
	delete(p.left, b.Node)
	return isNews
}

// hears returns what this node knows of whether it hears the others.
func (p *peers) hears() hearing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hearing
}

// hearsNotAll records whether a node that was there is silent, and reports whether one is, or was until a moment ago.
func (p *peers) hearsNotAll(silent bool, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hearing.lacks(silent, now)
}

// heardReader records what a node reads that is no peer of this member, and reports whether that is new.
func (p *peers) heardReader(b beat, now time.Duration) (isNews bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readers.heard(b, now)
}

// makeRoom removes the node that is silent for the longest time, and reports whether one was silent.
func (p *peers) makeRoom(now time.Duration) bool {
	longest := ""
	for name, b := range p.byName {
		if now-b.seen >= beatFresh && (longest == "" || b.seen < p.byName[longest].seen) {
			longest = name
		}
	}
	delete(p.byName, longest)
	return longest != ""
}

// leaves records that a node has announced its end.
func (p *peers) leaves(node string, l leaving) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.byName[node]; known && len(p.left) < peersMost {
		delete(p.byName, node)
		p.left[node] = l
		p.changes++
	}
}

// version returns a number that is another one when a node has appeared, has left or is in another role.
func (p *peers) version() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

// hasLeft reports whether a node has announced its end and has not been heard since.
func (p *peers) hasLeft(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, has := p.left[node]
	return has
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

// silent returns the nodes that were heard after an instant and are silent now, and have not said that they end.
func (p *peers) silent(since, now time.Duration) (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, b := range p.byName {
		if name != p.readers.own && b.seen >= since && now-b.seen >= beatFresh {
			names = append(names, name)
		}
	}
	return names
}

// epochOf returns the latest epoch of which a node has commits, by its newest beat; 0 if it is not known.
func (p *peers) epochOf(node string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[node].Epoch
}

// newestEpoch returns the latest epoch of which a node that was heard just now has commits; 0 if none was heard.
func (p *peers) newestEpoch(now time.Duration) (epoch uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.byName {
		if now-b.seen < beatFresh {
			epoch = max(epoch, b.Epoch)
		}
	}
	return epoch
}

// longest returns the node that was heard just now with the most commits of an epoch, and reports whether it has more than end at an LSN.
// What a leader does not know to be in the stream does not count, as it may never come there.
func (p *peers) longest(own job.Position, now time.Duration) (best peer, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.byName {
		if now-b.seen < beatFresh && b.Epoch == own.Epoch && b.published() > max(own.LSN, best.published()) {
			best, more = b, true
		}
	}
	return best, more
}

// fresh returns a node if it was heard just now.
func (p *peers) fresh(node string, now time.Duration) (peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, known := p.byName[node]
	return b, known && now-b.seen < beatFresh
}

// of returns what is known of a node.
func (p *peers) of(node string) (peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, known := p.byName[node]
	return b, known
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

// forget removes a node that does not answer.
func (p *peers) forget(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byName, node)
}
