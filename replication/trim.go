package replication

import (
	"context"
	"errors"
	"sync"
	"time"
)

// trimmer computes how much of the stream may be removed. For every markEvery commits it keeps a mark: where in
// the stream they are, and how many bytes came before. Safe for concurrent use. A standby keeps marks as well,
// so that it can trim as soon as it leads.
type trimmer struct {
	mu    sync.Mutex
	keep  int64 // bytes that always stay
	bytes int64 // noted so far
	marks []mark
	count int
}

// mark is one noted commit; bytes is the total noted before it.
type mark struct {
	lsn, seq uint64
	bytes    int64
}

const (
	markEvery = 64               // commits between two marks; what is removed ends at a mark, so this is its precision
	marksMost = 1 << 16          // marks in memory, 1.5 MiB; beyond it the older half is forgotten, and those messages stay until a later mark permits a trim
	trimEvery = 10 * time.Second // between two trims; each is a request that the stream replicates
)

func newTrimmer(keep int64) *trimmer { return &trimmer{keep: keep} }

// reset forgets all marks, because the stream was made anew or is read from another place.
func (t *trimmer) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks, t.bytes, t.count = t.marks[:0], 0, 0
}

// note records where in the stream a commit is.
func (t *trimmer) note(lsn, seq uint64, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count%markEvery == 0 {
		if len(t.marks) == marksMost {
			t.marks = append(t.marks[:0], t.marks[marksMost/2:]...)
		}
		t.marks = append(t.marks, mark{lsn, seq, t.bytes})
	}
	t.count++
	t.bytes += int64(bytes) + headerBytes
}

// cut returns the sequence before which the stream may be removed if no node needs commits up to lsn; 0:
// nothing may be.
func (t *trimmer) cut(lsn uint64) (seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for n < len(t.marks) && t.marks[n].lsn <= lsn && t.bytes-t.marks[n].bytes >= t.keep {
		seq = t.marks[n].seq
		n++
	}
	if n > 1 {
		t.marks = append(t.marks[:0], t.marks[n-1:]...)
		return seq
	}
	return 0
}

// trimAll regularly removes what no node needs of the stream, until ctx ends.
func (n *Node) trimAll(ctx context.Context) {
	for range ticks(ctx, trimEvery) {
		if seq := n.trimmer.cut(n.needed()); seq > 0 {
			if err := n.stream.trim(ctx, seq); err != nil && ctx.Err() == nil {
				n.warn("the stream was not trimmed; trying again", err)
			}
		}
	}
}

// needed returns the LSN up to which no node needs the stream: the leader's checkpoint has it, every node heard
// in the last beatKept has it, and every offered checkpoint has it. A node that joins counts by its offer,
// since its own position is about to be replaced.
func (n *Node) needed() uint64 {
	floor := n.local.Durable().LSN
	for _, p := range n.peers.all(n.opts.Boot()) {
		if p.Role != RoleJoining {
			floor = min(floor, p.LSN)
		}
	}
	return n.offers.floor(floor)
}

// pump publishes the commits of a leader with [Options.Local], until ctx ends.
//
// It begins when the epoch has begun: until then the record of the epoch uses the writer. Any failure ends the
// leadership: place repeats what can pass, so either another node leads, or the log cannot be read.
func (n *Node) pump(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.pumped:
		}
		for !n.leadership.starting.Load() && n.writer.at.LSN < n.local.Last().LSN && ctx.Err() == nil {
			if err := n.pumpOne(ctx); err != nil {
				if ctx.Err() == nil {
					n.warn("this node leads no more", err)
					n.leadership.end()
				}
				return
			}
		}
	}
}

// pumpOne publishes the next commit that the stream lacks. If the log no longer keeps it, because the stream
// was unreachable for long, the newest commit is published instead; nodes that lack the commits between receive
// a checkpoint.
func (n *Node) pumpOne(ctx context.Context) error {
	f, ok, err := n.ownFrame(n.writer.at.LSN + 1)
	if err == nil && !ok {
		f, ok, err = n.ownFrame(n.local.Last().LSN)
	}
	if err == nil && !ok {
		err = errors.New("replication: the log does not keep its newest commit")
	}
	if err != nil {
		return err
	}
	if err := n.publish(ctx, &f); err != nil {
		return err
	}
	n.trimmer.note(f.At.LSN, n.writer.seq, len(f.Payload))
	return nil
}
