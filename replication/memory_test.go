package replication

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// The parts on which the tests of the pure code rest: a log, a stream and frames, all in memory.

// testCluster is the cluster of the tests.
var testCluster = ClusterID{0xca, 0x41, 0x11, 15: 0x07}

// testNext computes positions as the log does, by a chain of hashes.
func testNext(prev job.Position, epoch uint64, payload []byte) job.Position {
	h := fnv.New128a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], prev.LSN+1)
	binary.LittleEndian.PutUint64(b[8:], epoch)
	h.Write(prev.Hash[:])
	h.Write(b[:])
	h.Write(payload)
	at := job.Position{LSN: prev.LSN + 1, Epoch: epoch}
	h.Sum(at.Hash[:0])
	return at
}

// frameAfter returns a frame that continues a place.
func frameAfter(prev job.Position, epoch uint64, payload string) Frame {
	return Frame{
		Cluster: testCluster, Author: authorOf("a"), At: testNext(prev, epoch, []byte(payload)), Prev: prev.Hash, Payload: []byte(payload),
	}
}

// chain returns n consecutive frames of an epoch.
func chain(prev job.Position, epoch uint64, n int) (frames []Frame) {
	for i := range n {
		frames = append(frames, frameAfter(prev, epoch, fmt.Sprintf("%d/%d", epoch, i)))
		prev = frames[i].At
	}
	return frames
}

func ends(frames []Frame) job.Position { return frames[len(frames)-1].At }

// memLog is a node's log in memory.
type memLog struct {
	base      job.Position   // the commit before the first one
	ancestors []job.Position // of base, in their order
	frames    []Frame
}

func logOf(frames ...Frame) *memLog { return &memLog{frames: frames} }

// beginsAfter drops the commits of the log up to an LSN.
func (l *memLog) beginsAfter(lsn uint64) *memLog {
	kept := lsn - l.base.LSN
	l.base, l.frames = l.frames[kept-1].At, l.frames[kept:]
	return l
}

func (l *memLog) Last() job.Position {
	if len(l.frames) == 0 {
		return l.base
	}
	return ends(l.frames)
}

func (l *memLog) Find(lsn uint64) (job.Position, bool) {
	if lsn == l.base.LSN {
		return l.base, true
	}
	if n := uint64(len(l.ancestors)); lsn < l.base.LSN && lsn+n >= l.base.LSN {
		return l.ancestors[lsn+n-l.base.LSN], true
	}
	f, ok, _ := l.frame(lsn)
	return f.At, ok
}

// ancestorsOf implements [Local].Ancestors.
func (l *memLog) ancestorsOf(lsn uint64, most int) (list []job.Position) {
	for lsn--; lsn > 0 && len(list) < most; lsn-- {
		at, ok := l.Find(lsn)
		if !ok {
			break
		}
		list = append(list, at)
	}
	slices.Reverse(list)
	return list
}

func (l *memLog) frame(lsn uint64) (Frame, bool, error) {
	if lsn <= l.base.LSN || lsn > l.base.LSN+uint64(len(l.frames)) {
		return Frame{}, false, nil
	}
	return l.frames[lsn-l.base.LSN-1], true, nil
}

func (l *memLog) add(f Frame) { l.frames = append(l.frames, f) }

// memStream is a stream that keeps its promises, unless a test makes it break one.
type memStream struct {
	before   uint64 // sequences that its front has lost
	messages [][]byte
	gone     bool
	lags     uint64 // number of newest messages that the answering server does not have yet
	pauses   int

	publish func(message []byte, expect uint64) (uint64, error) // replaces Publish for one call
	paused  func()                                              // called by each Pause
}

func streamOf(frames ...Frame) *memStream {
	s := &memStream{}
	for i := range frames {
		s.add(appendFrame(nil, &frames[i]))
	}
	return s
}

func (s *memStream) last() uint64 { return s.before + uint64(len(s.messages)) }

func (s *memStream) add(message []byte) uint64 {
	s.messages = append(s.messages, append([]byte(nil), message...))
	return s.last()
}

func (s *memStream) addFrame(f Frame) uint64 { return s.add(appendFrame(nil, &f)) }

// lose drops the newest messages.
func (s *memStream) lose(n int) { s.messages = s.messages[:len(s.messages)-n] }

// trim drops the oldest messages.
func (s *memStream) trim(n int) { s.before, s.messages = s.before+uint64(n), s.messages[n:] }

func (s *memStream) Publish(_ context.Context, message []byte, expect uint64) (uint64, error) {
	if hook := s.publish; hook != nil {
		s.publish = nil
		return hook(message, expect)
	}
	switch {
	case s.gone:
		return 0, errStreamGone
	case expect != s.last():
		return 0, errWrongSequence
	}
	return s.add(message), nil
}

func (s *memStream) Bounds(context.Context) (first, last uint64, err error) {
	if s.gone {
		return 0, 0, errStreamGone
	}
	return s.before + 1, s.last(), nil
}

func (s *memStream) Get(_ context.Context, seq uint64) ([]byte, error) {
	switch lacks := seq <= s.before || seq > s.last(); {
	case s.gone:
		return nil, errStreamGone
	case lacks || seq > s.last()-s.lags || s.messages[seq-s.before-1] == nil:
		return nil, errNoMessage
	}
	return s.messages[seq-s.before-1], nil
}

func (s *memStream) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return getEach(ctx, s, first, last)
}

func (s *memStream) Stored(ctx context.Context, seq uint64) ([]byte, error) { return s.Get(ctx, seq) }

func (s *memStream) Lacks(_ context.Context, seq uint64) (bool, error) {
	return seq <= s.before || seq > s.last() || s.messages[seq-s.before-1] == nil, nil
}

func (s *memStream) Pause(ctx context.Context) error {
	if s.pauses++; s.paused != nil {
		s.paused()
	}
	return ctx.Err()
}

// newTestWriter returns a writer that has not read the stream yet.
func newTestWriter(s stream, l *memLog) *writer {
	return &writer{
		cursor: cursor{tail: tail{cluster: testCluster, next: testNext}, stream: s, own: l},
		log:    l, frame: l.frame,
	}
}

// located returns a writer that has read the stream to its end and accepted its frames.
func located(t *testing.T, s *memStream, l *memLog) *writer {
	t.Helper()
	w := newTestWriter(s, l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), l.accept); err != nil {
		t.Fatal(err)
	}
	return w
}

// accept does what a standby does with an accepted frame: the frame replaces what the log has in its place.
func (l *memLog) accept(f *Frame) error {
	if at, ok := l.Find(f.At.LSN); ok && at == f.At {
		return nil
	}
	l.frames = append(l.frames[:f.At.LSN-1-l.base.LSN], *f)
	return nil
}

func (s *memStream) StoredRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return getEach(ctx, s, first, last)
}

// getEach does what [stream] promises of GetRange, one message after the other.
func getEach(ctx context.Context, s stream, first, last uint64) (messages [][]byte, err error) {
	for seq := first; seq <= last; seq++ {
		message, err := s.Get(ctx, seq)
		if err != nil && !errors.Is(err, errNoMessage) {
			return nil, err
		}
		messages = append(messages, message)
	}
	return messages, nil
}
