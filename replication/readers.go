package replication

import (
	"sort"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// A Reader is a node that was heard in the last ten minutes, and the newest version of rows that it can read.
type Reader struct {
	Node    string
	Release string // release of its program; "" if this process has not heard it, or its beat names none
	Rows    byte
}

// readers are the other nodes that may still meet rows that are written now. They outlive what peers says of the
// present: a node that has ended, that an earlier process of this node heard, or of which another node tells, counts
// like one that is there, until its newest beat is older than beatKept. Not safe for concurrent use.
type readers struct {
	own    string // name of this node, which is no entry
	byName map[string]reader
}

type reader struct {
	job.Reading
	release string
	seen    time.Duration // arrival of its newest beat, on the boot clock
}

func newReaders(own string) readers { return readers{own: own, byName: make(map[string]reader)} }

// heard records the sender of a beat, and what the sender knows of others. The beat itself counts whatever its time
// says, because the clock of its node may have been put back.
func (r *readers) heard(b beat, now time.Duration) {
	r.record(b.Node, reader{job.Reading{Rows: b.reads(), Time: b.Time}, b.Release, now})
	r.told(b.Reads, b.Time, now)
}

// told records what another node, or an earlier process of this one, knows, at a time by the wall clock. The newest
// beat of a node counts. Its age is taken from the time in it, so that nodes that tell each other of one that is gone do
// not keep it.
func (r *readers) told(reads map[string]job.Reading, at instant.Millis, now time.Duration) {
	for name, told := range reads {
		seen := now - max(0, at.Time().Sub(told.Time.Time()))
		if old, known := r.byName[name]; (!known || told.Time > old.Time) && now-seen <= beatKept && job.ValidateTenant(name) == nil {
			r.record(name, reader{told, old.release, seen})
		}
	}
}

// record sets what is known about a node. New names beyond peersMost are ignored.
func (r *readers) record(name string, one reader) {
	if _, known := r.byName[name]; name != r.own && (known || len(r.byName) < peersMost) {
		r.byName[name] = one
	}
}

// forget removes the nodes that were silent for beatKept.
func (r *readers) forget(now time.Duration) {
	for name, one := range r.byName {
		if now-one.seen > beatKept {
			delete(r.byName, name)
		}
	}
}

// remember records what an earlier process of this node has kept; at is the time by the wall clock.
func (p *peers) remember(reads map[string]job.Reading, at instant.Millis, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers.told(reads, at, now)
}

// reads returns what the other nodes read, by name.
func (p *peers) reads(now time.Duration) map[string]job.Reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers.forget(now)
	reads := make(map[string]job.Reading, len(p.readers.byName))
	for name, one := range p.readers.byName {
		reads[name] = one.Reading
	}
	return reads
}

// older returns the nodes that cannot read rows of a version, sorted by name.
func (p *peers) older(version byte, now time.Duration) (list []Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers.forget(now)
	for name, one := range p.readers.byName {
		if one.Rows < version {
			list = append(list, Reader{name, one.release, one.Rows})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Node < list[j].Node })
	return list
}

// RowsMax returns the newest version of rows that this node can read and every other that was heard in the last ten
// minutes, by this process, an earlier one of this node, or another node; and the name of a node that can read no newer
// one. It is safe for concurrent use. A node that was away for longer may be unable to read what is written meanwhile;
// it then ends before it applies that.
func (n *Node) RowsMax() (version byte, node string) {
	version, node = n.opts.rows, n.opts.Node
	for _, r := range n.peers.older(version, n.opts.Boot()) {
		if r.Rows < version {
			version, node = r.Rows, r.Node
		}
	}
	return version, node
}
