package replication

import (
	"sort"
	"time"

	"github.com/carillon-io/carillon/job"
)

// A Reader is a node of the cluster, and the newest version of rows that it can read.
type Reader struct {
	Node    string
	Release string // release of its program; "" if this process has not heard it, or its beat names none
	Rows    byte   // in a change of what is noted, 0 removes the node
}

// readers are the other nodes that this process heard in the last ten minutes, those that have ended included: any of
// them may come back. Not safe for concurrent use.
//
// What this process alone has heard is not enough, because a leader may be new: so each leader notes in the log what
// the nodes read, and corrects there only what it hears itself while it leads. A node that leads after it was away has
// thus read what its predecessor heard.
type readers struct {
	own    string // name of this node, which is no entry
	byName map[string]reader
	since  time.Duration // since when this node leads, on the boot clock; 0: it never led
}

type reader struct {
	rows    byte
	release string
	seen    time.Duration // arrival of its newest beat, on the boot clock
}

func newReaders(own string) readers { return readers{own: own, byName: make(map[string]reader)} }

// heard records the sender of a beat, and reports whether a leader may have to note it. If the table is full, those stay
// that read the oldest rows, because they decide.
func (r *readers) heard(b beat, now time.Duration) (isNews bool) {
	if b.Node == r.own {
		return false
	}
	old, known := r.byName[b.Node]
	if !known && len(r.byName) >= peersMost && !r.makeRoom(b.reads(), now) {
		return false
	}
	r.byName[b.Node] = reader{b.reads(), b.Release, now}
	return !known || old.rows != b.reads() || old.seen < r.since
}

// makeRoom removes a node that was silent for beatKept, else one that reads newer rows than rows. It reports whether
// there was one.
func (r *readers) makeRoom(rows byte, now time.Duration) bool {
	newest := ""
	for name, one := range r.byName {
		switch {
		case now-one.seen > beatKept:
			delete(r.byName, name)
			return true
		case one.rows > rows && (newest == "" || one.rows > r.byName[newest].rows):
			newest = name
		}
	}
	delete(r.byName, newest)
	return newest != ""
}

// reads returns what a node reads, or read when it was there last, given what the log has noted; 0 if it does not count
// any more. A beat corrects what is noted only if this node leads since before it: an earlier one may be older than the
// note, which another leader has made.
func (r *readers) reads(name string, noted byte, now time.Duration) byte {
	one, known := r.byName[name]
	known = known && now-one.seen <= beatKept
	switch {
	case known && (one.seen >= r.since || noted == 0):
		return one.rows
	case known:
		return min(one.rows, noted)
	case now-r.since > beatKept:
		return 0
	}
	return noted
}

// all returns what each of the other nodes reads that still counts, sorted by name.
func (r *readers) all(noted map[string]byte, now time.Duration) (list []Reader) {
	add := func(name string) {
		rows := r.reads(name, noted[name], now)
		if rows == 0 || name == r.own {
			return
		}
		one := Reader{Node: name, Rows: rows}
		if heard := r.byName[name]; heard.rows == rows {
			one.Release = heard.release
		}
		list = append(list, one)
	}
	for name := range r.byName {
		add(name)
	}
	for name := range noted {
		if _, heard := r.byName[name]; !heard {
			add(name)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Node < list[j].Node })
	return list
}

// leads records that this node begins to lead.
func (p *peers) leads(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers.since = now
}

// readersOf returns what each of the other nodes reads, given what the log has noted.
func (p *peers) readersOf(noted map[string]byte, now time.Duration) []Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readers.all(noted, now)
}

// RowsMax returns the newest version of rows that this node can read and every other that was heard in the last ten
// minutes, and the name of a node that can read no newer one. noted is what the log says of the nodes: see
// [Node.Unnoted]. It is safe for concurrent use. A node that was away for longer may be unable to read what is written
// meanwhile; it then ends before it applies that.
func (n *Node) RowsMax(noted map[string]byte) (version byte, node string) {
	version, node = n.opts.rows, n.opts.Node
	for _, r := range n.peers.readersOf(noted, n.opts.Boot()) {
		if r.Rows < version {
			version, node = r.Rows, r.Node
		}
	}
	return version, node
}

// Older returns the other nodes that cannot read the newest rows of this release; see [Node.RowsMax].
func (n *Node) Older(noted map[string]byte) (older []Reader) {
	for _, r := range n.peers.readersOf(noted, n.opts.Boot()) {
		if r.Rows < n.opts.rows {
			older = append(older, r)
		}
	}
	return older
}

// NewReaders returns a channel that has an entry when a beat may have changed what [Node.Unnoted] returns.
func (n *Node) NewReaders() <-chan struct{} { return n.newReaders }

// unnotedMost bounds the changes that one call of Unnoted returns, so that beats with forged names cause few commits.
const unnotedMost = 8

// Unnoted returns what a leader has to note in its log of what the nodes read, itself included, so that the next leader
// knows it. It is empty most of the time. It is safe for concurrent use.
func (n *Node) Unnoted(noted map[string]byte) (changes []Reader) {
	counts := map[string]bool{n.opts.Node: true}
	for _, r := range append(n.peers.readersOf(noted, n.opts.Boot()), Reader{Node: n.opts.Node, Rows: n.opts.rows}) {
		counts[r.Node] = true
		if noted[r.Node] != r.Rows {
			changes = append(changes, r)
		}
	}
	for name := range noted {
		if !counts[name] {
			changes = append(changes, Reader{Node: name})
		}
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].Node < changes[j].Node })
	return changes[:min(len(changes), unnotedMost)]
}

// isNode reports whether a text can be the name of a node. Any program that may publish on the subjects can send beats.
func isNode(name string) bool { return job.ValidateTenant(name) == nil }
