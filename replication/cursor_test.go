package replication

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// stretch returns the first n commits of epoch 1, and the next m of epoch 2.
func stretch(n, m int) []Frame {
	frames := chain(job.Position{}, 1, n)
	return append(frames, chain(ends(frames), 2, m)...)
}

// The place from which a node reads on, for various streams and logs.
func TestLocate(t *testing.T) {
	all := stretch(6, 6)
	at := func(lsn int) job.Position { return all[lsn-1].At }
	late := frameAfter(at(6), 1, "of the leader that was deposed")
	long := chain(job.Position{}, 1, 2*reviewMessages)

	for _, c := range []struct {
		name   string
		log    *memLog
		stream *memStream
		seq    uint64
		at     job.Position
		err    error
	}{
		{name: "nothing anywhere", log: logOf(), stream: streamOf()},
		{name: "a new node begins at the beginning", log: logOf(), stream: streamOf(all...)},
		{name: "all is judged again if it is little", log: logOf(all[:8]...), stream: streamOf(all...)},
		{
			name: "of a long stream only the end", log: logOf(long...), stream: streamOf(long...),
			seq: reviewMessages, at: long[reviewMessages-1].At,
		}, {
			name: "a stream made anew begins with the newest", log: logOf(all...), stream: streamOf(all[11]),
			at: at(11),
		}, {
			name: "the log begins with a checkpoint", log: logOf(all...).beginsAfter(8), stream: trimmed(7, all...),
			seq: 8, at: at(8),
		}, {
			name: "the log begins where the stream does", log: logOf(all...).beginsAfter(8), stream: trimmed(8, all...),
			seq: 8, at: at(8),
		}, {
			name: "the log has more than the stream", log: logOf(all...), stream: streamOf(all[:3]...),
		}, {
			name: "the stream is empty but was not", log: logOf(all...), stream: trimmed(12, all...),
			seq: 12, at: at(11), // the last one may not be in the stream
		}, {
			name: "its front is gone, and it still joins", log: logOf(all[:5]...), stream: trimmed(5, all...),
			seq: 5, at: at(5),
		}, {
			name: "its front is gone too far", log: logOf(all[:5]...), stream: trimmed(6, all...), err: errBehind,
		}, {
			name: "the log went another way from the beginning", log: logOf(chain(job.Position{}, 1, 9)[0], late), stream: trimmed(2, all...),
			err: errBehind,
		}, {
			// The node's log ends with the late frame. It is void, which only reading in order shows.
			name: "its own last was published too late", log: logOf(append(all[:6:6], late)...),
			stream: streamOf(append(all[5:9:9], late)...), at: at(5),
		}, {
			name: "only what made it void is left before it", log: logOf(append(all[:6:6], late)...),
			stream: streamOf(all[6], late), at: at(6),
		}, {
			name: "junk at the end", log: logOf(all[:8]...), stream: withJunk(streamOf(all[:8]...), 20),
		}, {
			name: "junk alone", log: logOf(all[:8]...), stream: withJunk(streamOf(), 20), seq: 20, at: at(7),
		},
	} {
		w := newTestWriter(c.stream, c.log)
		err := w.locate(t.Context())
		if !errors.Is(err, c.err) || err == nil && (w.seq != c.seq || w.at != c.at) {
			t.Errorf("%s: after message %d at %v, %v; want %d, %v, %v", c.name, w.seq, w.at, err, c.seq, c.at, c.err)
		}
	}
}

// trimmed returns a stream that has lost its first messages.
func trimmed(n int, frames ...Frame) *memStream {
	s := streamOf(frames...)
	s.trim(n)
	return s
}

func withJunk(s *memStream, n int) *memStream {
	for range n {
		s.add([]byte("junk"))
	}
	return s
}

// A reader reaches the end of the log from every place to which it is set back.
func TestLocateThenCatchUp(t *testing.T) {
	all := stretch(200, 200)
	late := frameAfter(all[199].At, 1, "late")
	s := streamOf(append(all, late)...)
	for known := 0; known <= 400; known += 7 {
		l := logOf(all[:known:known]...)
		if known == 203 {
			l = logOf(append(all[:200:200], late)...)
		}
		if w := located(t, s, l); w.at != ends(all) || w.seq != s.last() || l.Last() != w.at {
			t.Errorf("a log with %d commits came to %v at message %d, its log to %v", known, w.at, w.seq, l.Last())
		}
	}
}

// The server that answers a read is behind the stream's leader. A message that it does not have yet must not be
// skipped: a node that takes over before the end of the log writes frames that are void for all others.
func TestLaggingServer(t *testing.T) {
	all := stretch(3, 3)
	s := streamOf(all...)
	s.lags = 2
	l := logOf(all[:3]...)
	w := newTestWriter(s, l)
	s.paused = func() {
		if s.pauses == 20 {
			s.lags = 0
		}
	}
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), l.accept); err != nil || l.Last() != ends(all) {
		t.Errorf("it came to %v, %v; want the end of the log", l.Last(), err)
	}

	s.lags, s.paused = 2, nil
	w = newTestWriter(s, logOf())
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), logOf().accept); !errors.Is(err, errLagging) || w.at != all[3].At {
		t.Errorf("a server that never catches up let the reader come to %v, %v", w.at, err)
	}

	s = streamOf(all[0])
	s.lags = 1
	if err := newTestWriter(s, logOf()).locate(t.Context()); !errors.Is(err, errLagging) {
		t.Errorf("a new node found a place in a stream that it has not seen: %v", err)
	}
}

// A message that the stream itself lacks, as after damage, is skipped. The frame after it continues nothing
// that the reader knows, so the reader stays where it is.
func TestHoleInStream(t *testing.T) {
	all := stretch(3, 3)
	s := streamOf(all...)
	s.messages[2] = nil
	s.messages[5] = nil
	l := logOf(all[:2]...)
	w := newTestWriter(s, l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), l.accept); err != nil || w.seq != 6 || w.at != all[1].At {
		t.Errorf("it came to message %d at %v, %v", w.seq, w.at, err)
	}
}

// The stream has lost commits that a reader had accepted, and has continued in another way. However long that
// continuation is, and whatever its epoch, the reader notices.
func TestStreamWentAnotherWay(t *testing.T) {
	ours := stretch(4, 4)
	for name, other := range map[string][]Frame{
		"the old leader went on":             chain(ours[3].At, 1, 7)[:7],
		"the same epoch by another, as long": append([]Frame{frameAfter(ours[3].At, 2, "x")}, chain(testNext(ours[3].At, 2, []byte("x")), 2, 3)...),
		"the same epoch, and longer":         append([]Frame{frameAfter(ours[3].At, 2, "x")}, chain(testNext(ours[3].At, 2, []byte("x")), 2, 9)...),
		"a newer epoch, shorter":             chain(ours[3].At, 3, 2),
		"a newer epoch, longer":              chain(ours[3].At, 3, 9),
	} {
		s := streamOf(ours...)
		l := logOf(ours[:8:8]...)
		w := located(t, s, l)
		s.lose(4)
		for _, f := range other {
			s.addFrame(f)
		}
		next := frameAfter(ends(other), 3, "next")
		s.addFrame(next)
		if err := w.catchUp(t.Context(), l.accept); err != nil || l.Last() != next.At {
			t.Errorf("%s: the reader is at %v, %v; want %v", name, l.Last(), err, next.At)
		}
	}
}

// A frame is examined only once.
func TestSuspectIsLookedIntoOnce(t *testing.T) {
	all := stretch(3, 3)
	w := located(t, streamOf(all...), logOf(all...))
	strange := appendFrame(nil, &[]Frame{frameAfter(all[1].At, 9, "strange")}[0])
	w.stream.(*memStream).add(strange)
	if _, v, err := w.step(t.Context(), 7, strange); v != suspect || err != nil || w.seq >= 6 {
		t.Fatalf("a strange frame: verdict %d, %v, and the place is after %d", v, err, w.seq)
	}
	if err := w.catchUp(t.Context(), logOf(all...).accept); err != nil || w.seq != 7 || w.at != ends(all) {
		t.Errorf("after the second look it is at %v after %d, %v", w.at, w.seq, err)
	}
	if _, v, err := w.step(t.Context(), 5, strange); v != void || err != nil {
		t.Errorf("a message that was judged: verdict %d, %v", v, err)
	}
}

// The front of the stream is gone, and the stream begins with a frame that was published a second time. A
// reader whose log that frame continues accepts it, and nothing after it fits: the reader must not conclude
// that it is at the end.
func TestStreamBeginsWithRepeated(t *testing.T) {
	all := chain(job.Position{}, 1, 12)
	s := streamOf(append([]Frame{all[3]}, all[7:]...)...)
	l := logOf(all[:3:3]...)
	w := located(t, s, l)
	if w.at != all[3].At || !errors.Is(w.lacks(), errBehind) {
		t.Errorf("it is at %v and lacks %v", w.at, w.lacks())
	}
	full := logOf(all...)
	if w := located(t, s, full); w.at != ends(all) || w.lacks() != nil {
		t.Errorf("who has all is at %v and lacks %v", w.at, w.lacks())
	}
	// The record of a challenger that came too late does not show that: it is not ahead of the log.
	s = streamOf(all...)
	s.addFrame(frameAfter(all[9].At, 2, "too late"))
	if w := located(t, s, logOf(all...)); w.lacks() != nil {
		t.Errorf("behind a record that came too late it lacks %v", w.lacks())
	}
}

// readsOf counts the reads of a stream.
type readsOf struct {
	*memStream
	reads int
}

func (s *readsOf) Get(ctx context.Context, seq uint64) ([]byte, error) {
	s.reads++
	return s.memStream.Get(ctx, seq)
}

func (s *readsOf) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return getEach(ctx, s, first, last)
}

func (s *readsOf) Stored(ctx context.Context, seq uint64) ([]byte, error) { return s.Get(ctx, seq) }

// roundsOf counts the requests to a stream that follow one another.
type roundsOf struct {
	*memStream
	rounds int
}

func (s *roundsOf) Bounds(ctx context.Context) (first, last uint64, err error) {
	s.rounds++
	return s.memStream.Bounds(ctx)
}

func (s *roundsOf) Get(ctx context.Context, seq uint64) ([]byte, error) {
	s.rounds++
	return s.memStream.Get(ctx, seq)
}

func (s *roundsOf) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	s.rounds++
	if last-first >= rangeMost {
		return nil, fmt.Errorf("%d to %d are more than %d messages", first, last, rangeMost)
	}
	return s.memStream.GetRange(ctx, first, last)
}

func (s *roundsOf) StoredRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	s.rounds++
	if last-first >= rangeMost {
		return nil, fmt.Errorf("%d to %d are more than %d messages", first, last, rangeMost)
	}
	return s.memStream.StoredRange(ctx, first, last)
}

func (s *roundsOf) Stored(ctx context.Context, seq uint64) ([]byte, error) {
	s.rounds++
	return s.memStream.Stored(ctx, seq)
}

// A node that is level makes sure of the end of the log before it leads. Nothing is launched meanwhile, so it asks the stream
// a few times only, however long that is. If the stream has lost its end, or the node has not read it, the node locates its
// place, and reads several messages at a time.
func TestLevelNodeLeadsAfterFewReads(t *testing.T) {
	all := stretch(500, 500)
	l := logOf(all...)
	s := &roundsOf{memStream: streamOf(all...)}
	w := withLog(newTestWriter(s, l), l)
	level := func(what string, most int) {
		t.Helper()
		s.rounds = 0
		err := w.resume(t.Context())
		if err == nil {
			err = w.catchUp(t.Context(), func(*Frame) error { return nil })
		}
		if err != nil || w.seq != s.last() {
			t.Fatalf("%s: it is at message %d of %d, %v", what, w.seq, s.last(), err)
		}
		if s.rounds > most {
			t.Errorf("%s: it asked %d times, want at most %d", what, s.rounds, most)
		}
	}
	const located = 3 + 11 + 2*reviewMessages/rangeMost // the bounds, the search among 1,000 messages, and the review there and back
	level("at the start", located)
	level("as a follower that has read all", 1+reviewMessages/rangeMost)
	level("once more", 2)
	w.kept = func() bool { return true }
	level("where NATS keeps what it has acknowledged", 2)
	w.kept = nil
	s.messages = s.messages[:len(s.messages)-3]
	level("after the stream has lost its end", 1+located)
	if w.at != all[len(all)-4].At {
		t.Errorf("then it is at %v", w.at)
	}
}

// A node has applied a commit that the cluster does not have, so each further frame is a suspect. It reads each of them
// a bounded number of times, however many there are: otherwise it would never reach the end of a stream that grows.
func TestOtherWayIsReadOnce(t *testing.T) {
	const common, others = 50, 500
	all := stretch(common, others)
	l := logOf(append(all[:common:common], frameAfter(all[common-1].At, 1, "applied, and in no other log"))...)
	s := &readsOf{memStream: streamOf(all...)}
	w := withLog(newTestWriter(s, l), l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := w.catchUp(t.Context(), func(f *Frame) error {
		if f.At.LSN > common {
			return fmt.Errorf("%v was accepted", f.At)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := 2*others + 10*reviewMessages; s.reads > most || w.seq != s.last() {
		t.Errorf("%d reads, at most %d are needed; it is after message %d, want %d", s.reads, most, w.seq, s.last())
	}
}

// A suspect is examined again when the stream has lost what was judged before it.
func TestSettledSuspectIsExaminedAfterALoss(t *testing.T) {
	all := stretch(6, 6)
	strange := chain(all[1].At, 9, 3)
	l := logOf(all[:6:6]...)
	s := streamOf(all[:6]...)
	w := located(t, s, l)
	s.addFrame(strange[1])
	s.addFrame(strange[2])
	if err := w.catchUp(t.Context(), l.accept); err != nil || w.seq != 8 || w.settled.at != w.at {
		t.Fatalf("after message %d, settled at %v, %v", w.seq, w.settled.at, err)
	}
	s.lose(3)
	for _, f := range all[5:] {
		s.addFrame(f)
	}
	if err := w.catchUp(t.Context(), l.accept); err != nil || l.Last() != ends(all) {
		t.Errorf("it is at %v, %v; want %v", l.Last(), err, ends(all))
	}
}
