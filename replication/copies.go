package replication

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// durableNote is the message in which a standby publishes how far its log is durable. It is sent after each
// accepted frame, if the leader asks for that, and again with each beat, because it may be lost.
type durableNote struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster_id"`
	Node    string `json:"node"`
	Process string `json:"process,omitempty"`
	place
	Gone bool `json:"gone,omitempty"` // the standby stops
	// Time is when the standby stopped, by its clock, with gone: a beat of its process that is not later comes from before.
	Time instant.Millis `json:"time,omitempty"`
}

const durableVersion = 1

// copies records how far the logs of the standbys are durable, according to their notes. A commit waits for one
// such copy where NATS is not known to sync what it acknowledges. Safe for concurrent use.
type copies struct {
	mu      sync.Mutex
	byHeir  map[string]*copied // at most peersMost, by the name that the lease has for the process
	changed chan struct{}      // closed when the next note arrives; nil: no commit waits
	expired int                // waits that ended without a note
}

// copied is the log of one standby.
type copied struct {
	at     job.Position
	inStep bool // it has all, or nearly all, commits of the leader
	// missed is the newest commit that a wait for this standby ended without. Until the standby has that commit it
	// does not come into step again, however often it repeats its note.
	missed uint64
}

const (
	// inStepLSN is the number of commits that a standby may lack to count as in step. A standby that lacks more
	// would make a commit wait until it has read all of them.
	inStepLSN = 16
	// copyTime is how long a commit waits for the disk of a standby in step; after that the standby no longer counts
	// as in step until its disk has what was waited for. So a disk that hangs delays commits once.
	copyTime = 2 * time.Second
	// copyPoll is the time between two checks of the promises during that wait: a promise ends without a note.
	copyPoll = 25 * time.Millisecond
)

// noted records a standby's note. confirmed is the leader's newest commit in the stream: a standby that is near
// it comes into step. gone removes the standby.
func (c *copies) noted(heir string, at job.Position, confirmed uint64, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHeir == nil {
		c.byHeir = make(map[string]*copied)
	}
	standby := c.byHeir[heir]
	switch {
	case gone:
		delete(c.byHeir, heir)
	case standby == nil && len(c.byHeir) >= peersMost:
		return
	case standby == nil:
		standby = new(copied)
		c.byHeir[heir] = standby
		fallthrough
	default:
		standby.at = at
		standby.inStep = standby.inStep || at.LSN >= standby.missed && at.LSN+inStepLSN >= confirmed
	}
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// lack reports whether some of the promising standbys are in step but none of them has a commit. The channel is
// closed when the answer may have changed. One copy is enough: it is what a loss of the leader's disk needs,
// and to wait for all would let the slowest standby set the pace.
func (c *copies) lack(at job.Position, promising []string) (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	inStep := false
	for _, heir := range promising {
		s := c.byHeir[heir]
		if s == nil || !s.inStep {
			continue
		}
		if s.at == at || s.at.Epoch == at.Epoch && s.at.LSN > at.LSN {
			return false, nil
		}
		inStep = true
	}
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return inStep, c.changed
}

// outOfStep marks the standbys that lack a commit as no longer in step, because they have not made it durable
// in time.
func (c *copies) outOfStep(at job.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expired++
	for _, s := range c.byHeir {
		if s.at.LSN < at.LSN {
			s.inStep, s.missed = false, at.LSN
		}
	}
}

// StandbysInStep returns the number of standbys for whose disks commits wait: they promise, and have all, or nearly all,
// commits on their disks. It is safe for concurrent use. Tests wait for it.
func (n *Node) StandbysInStep() (inStep int) {
	promising := n.leadership.promising()
	n.copies.mu.Lock()
	defer n.copies.mu.Unlock()
	for _, heir := range promising {
		if s := n.copies.byHeir[heir]; s != nil && s.inStep {
			inStep++
		}
	}
	return inStep
}

// StandbyWaitsExpired returns how many commits have waited in vain for the disk of a standby in step. It is safe for concurrent
// use. Tests read it.
func (n *Node) StandbyWaitsExpired() int {
	n.copies.mu.Lock()
	defer n.copies.mu.Unlock()
	return n.copies.expired
}

// promising returns the heirs that promise: those whose promises had not ended when the newest stored renewal began. While NATS is away,
// neither notes nor promises come, so the end of a promise alone says nothing about the standby.
func (r *leadership) promising() (heirs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range r.tenure.heirs {
		if r.tenure.promised[name] > r.tenure.renewed {
			heirs = append(heirs, name)
		}
	}
	return heirs
}

// awaitCopy waits until a standby in step has a commit on its disk, where NATS is not known to have it on disk.
// A standby that no longer promises, or that takes too long, is not in step: commits go on without it.
//
// It returns nothing, because the commit counts in either case: without a standby in step the leader would
// otherwise stop at the death of its standby.
func (n *Node) awaitCopy(ctx context.Context, at job.Position) {
	if n.opts.keepsAcked() {
		return
	}
	for end := n.opts.Boot() + copyTime; ctx.Err() == nil; {
		waits, changed := n.waitsForCopy(at, end)
		if !waits {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-time.After(copyPoll):
		}
	}
}

// waitsForCopy reports whether a commit is still to wait for the disk of a standby in step, until an instant at most. The channel is
// closed when the answer may have changed.
func (n *Node) waitsForCopy(at job.Position, end time.Duration) (waits bool, changed <-chan struct{}) {
	if waits, changed = n.copies.lack(at, n.leadership.promising()); !waits || n.opts.Boot() < end {
		return waits, changed
	}
	n.copies.outOfStep(at)
	n.warn("a standby answers, and does not get a commit to its disk; commits go on without it", context.DeadlineExceeded)
	return false, nil
}

// hasDurably records that an accepted frame is in this node's log, and publishes that if the leader asks for
// it.
func (n *Node) hasDurably(at job.Position) {
	n.mu.Lock()
	n.durable = at
	n.mu.Unlock()
	if n.noteWanted.Load() {
		n.publishDurable(at, false)
	}
}

// repeatDurable publishes the same note again, because the last one may have been lost.
func (n *Node) repeatDurable() {
	n.mu.Lock()
	at, leads := n.durable, n.role == RoleLeader
	n.mu.Unlock()
	if n.noteWanted.Load() && !leads && at.LSN != 0 {
		n.publishDurable(at, false)
	}
}

// publishDurable publishes how far this node's log is durable, or with gone that the node stops.
func (n *Node) publishDurable(at job.Position, gone bool) {
	note := durableNote{Version: durableVersion, Cluster: n.id.String(), Node: n.opts.Node, Process: n.opts.Process, place: *placeOf(at), Gone: gone}
	if gone {
		note.Time = instant.Of(time.Now())
	}
	b, _ := json.Marshal(note)
	n.tells(b)
}

// tellGone publishes that another node has stopped, which cannot do so itself, so that no node lists it any more. It does nothing for a
// node of which no beat is known.
func (n *Node) tellGone(node string) {
	b, known := n.peers.of(node)
	if !known {
		return
	}
	note, _ := json.Marshal(durableNote{
		Version: durableVersion, Cluster: n.id.String(), Node: node, Process: b.Process, place: *placeOf(job.Position{LSN: b.LSN, Epoch: b.Epoch}),
		Gone: true, Time: instant.Of(time.Now()),
	})
	n.tells(note)
}

// hearDurable records the note of a standby.
func (n *Node) hearDurable(m *inbox.Request) {
	var note durableNote
	if json.Unmarshal(m.Data, &note) != nil || note.Version != durableVersion || note.Cluster != n.id.String() || note.Node == n.opts.Node {
		return
	}
	n.copies.noted(heirOf(note.Node, note.Process), note.position(), n.writer.confirmed.Load(), note.Gone)
	if note.Gone {
		l := leaving{note.Process, note.Time, n.opts.Boot()}
		n.peers.leaves(note.Node, l)
		n.host.left(note.Node, n.opts.Shard, l)
	}
}
