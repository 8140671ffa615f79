package replication

import (
	"context"
	"errors"
	"sync"
	"time"
)

// trimmer knows how much of the stream may go. It keeps a mark for every so many commits: where in the
// stream they are, and how many bytes came before.
type trimmer struct {
	mu    sync.Mutex
	keep  int64 // bytes that stay in any case
	bytes int64 // noted so far
	marks []mark
	count int
}

type mark struct {
	lsn, seq uint64
	bytes    int64
}

const (
	markEvery = 64
	marksMost = 1 << 16
	trimEvery = 10 * time.Second
)

func newTrimmer(keep int64) *trimmer { return &trimmer{keep: keep} }

// reset forgets what the stream was.
func (t *trimmer) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks, t.bytes, t.count = t.marks[:0], 0, 0
}

// note tells where in the stream a commit is.
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

// cut returns the sequence before which the stream may go when nobody needs commits up to lsn; 0 is
// nothing.
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

// trimAll gives up what nobody needs of the stream, until ctx ends.
func (n *Node) trimAll(ctx context.Context) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if seq := n.trimmer.cut(n.needed()); seq > 0 {
			if err := n.stream.trim(ctx, seq); err != nil && ctx.Err() == nil {
				n.warn("the stream was not trimmed; trying again", err)
			}
		}
	}
}

// needed returns the LSN up to which nobody needs the stream: neither the leader, whose checkpoint has
// it, nor any node that was heard of lately, nor one that receives a checkpoint.
func (n *Node) needed() uint64 {
	floor := n.local.Durable().LSN
	for _, p := range n.peers.all(n.opts.Boot()) {
		if p.Role != RoleJoining {
			floor = min(floor, p.LSN)
		}
	}
	return n.offers.floor(floor)
}

// pump publishes the commits of a leader whose commits count without the stream, until ctx ends.
func (n *Node) pump(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.pumped:
		}
		for !n.reign.opening.Load() && n.writer.at.LSN < n.local.Last().LSN && ctx.Err() == nil {
			if err := n.pumpOne(ctx); err != nil {
				if ctx.Err() == nil {
					n.warn("this node leads no more", err)
					n.reign.end()
				}
				return
			}
		}
	}
}

// pumpOne publishes the commit that the stream lacks next. If the log does not keep it any more, because the
// stream was away for long, the log goes on with the newest: who lacks what is between is sent a checkpoint.
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
	if err := n.writer.place(ctx, &f); err != nil {
		return err
	}
	n.trimmer.note(f.At.LSN, n.writer.seq, len(f.Payload))
	return nil
}
