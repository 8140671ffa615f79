package replication

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// withLog connects a writer to the applied commits of its node, as a node does.
func withLog(w *writer, l *memLog) *writer {
	w.applied = l.Last
	return w
}

// The stream loses its newest message, and a late one of an earlier leader takes the place: the acknowledgement
// for the next sequence proves nothing. The leader publishes the lost frame again, and a reader that has it
// finds the next commit.
func TestRegrownStreamIsSeen(t *testing.T) {
	all := stretch(3, 2)
	late := frameAfter(all[2].At, 1, "late")
	l, s := logOf(all...), streamOf(all...)
	w := withLog(located(t, s, l), l)
	s.lose(2)
	s.addFrame(late)
	s.addFrame(late)
	next := frameAfter(l.Last(), 2, "next")
	if err := w.place(t.Context(), &next); err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, m := range s.messages {
		if f, err := decodeFrame(m); err == nil && f.At == all[4].At {
			again++
		}
	}
	if again != 1 {
		t.Errorf("what was lost stands in the stream %d times", again)
	}
	reader := withLog(newTestWriter(s, l), l)
	if err := reader.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := reader.catchUp(t.Context(), func(*Frame) error { return nil }); err != nil || reader.at != next.At {
		t.Errorf("a node that has all before it reads the stream up to %v, want %v: %v", reader.at, next.At, err)
	}
}

// A leader skips a late frame in the place of one that the stream has lost, and publishes the lost one again.
func TestLateFrameIsPassedOver(t *testing.T) {
	all := stretch(3, 2)
	l, s := logOf(all...), streamOf(all...)
	w := withLog(located(t, s, l), l)
	s.lose(2)
	s.addFrame(frameAfter(all[2].At, 1, "late"))
	next := frameAfter(l.Last(), 2, "next")
	if err := w.place(t.Context(), &next); err != nil || w.at != next.At {
		t.Fatalf("at %v, want %v: %v", w.at, next.At, err)
	}
}

// A frame that continues what the node has applied is the next commit although the stream has lost the one
// before it.
func TestNextAfterAGap(t *testing.T) {
	all := stretch(3, 2)
	s := streamOf(all[:3]...)
	s.addFrame(all[4])
	l := logOf(all[:4]...)
	w := withLog(newTestWriter(s, l), l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), func(*Frame) error { return nil }); err != nil || w.at != all[4].At {
		t.Errorf("at %v, want %v: %v", w.at, all[4].At, err)
	}
}

// unseen is a stream that loses all that it has while a follower is at its end, and grows to the same length again before the
// follower reads on.
type unseen struct {
	t *testing.T
	stream
	stamp instant.Millis
}

// put publishes frames, for the first of which the stream is to have a length. No two publications are the same message.
func (s *unseen) put(length uint64, frames ...Frame) {
	s.t.Helper()
	for _, f := range frames {
		s.stamp++
		f.Time = s.stamp
		if seq, err := s.Publish(s.t.Context(), appendFrame(nil, &f), length); err != nil || seq != length+1 {
			s.t.Fatalf("%v has the sequence %d after %d, %v", f.At, seq, length, err)
		}
		length++
	}
}

// grows puts frames into a stream, of which a follower reads the first four; then the stream loses them, and has the others
// before a late one comes, which continues what the follower has read. It returns the follower when that has read the late one.
func (s *unseen) grows(lose func(), read, instead []Frame, late Frame) (*writer, *memLog) {
	s.t.Helper()
	s.put(0, read...)
	l := logOf()
	w := withLog(newTestWriter(s, l), l)
	if err := w.locate(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := w.catchUp(s.t.Context(), l.accept); err != nil || w.at != ends(read) {
		s.t.Fatalf("it has read up to %v: %v", w.at, err)
	}
	lose()
	s.put(0, instead...)
	s.put(uint64(len(instead)), late)
	if err := w.catchUp(s.t.Context(), l.accept); err != nil || w.at != late.At {
		s.t.Fatalf("it has read up to %v, want the late one: %v", w.at, err)
	}
	return w, l
}

// leads does what a node does before it begins its epoch.
func (s *unseen) leads(w *writer, l *memLog) {
	s.t.Helper()
	if err := w.resume(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := w.catchUp(s.t.Context(), l.accept); err != nil {
		s.t.Fatal(err)
	}
	if err := w.proveRead(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// A publication that was under way for long arrives when the stream has lost its end and grown to the same length: a follower
// that has not seen the loss takes it for the next commit, as it is. Before it leads it finds the commits that stand before it.
func TestLateFrameBehindAFalsePlace(t *testing.T) {
	forEachStream(t, func(s *unseen, lose func()) {
		all := stretch(3, 4)
		w, l := s.grows(lose, all[:4], all[3:], all[4])
		if s.leads(w, l); w.at != ends(all) || l.Last() != ends(all) {
			s.t.Errorf("it leads at %v with the log up to %v, want %v", w.at, l.Last(), ends(all))
		}
	})
}

// The late one is of a leader that was deposed, and never was a part of the log. The follower has applied it, and does not take
// it for a part of the log when it has found out that its place was false.
func TestFalsePlaceIsDoubted(t *testing.T) {
	forEachStream(t, func(s *unseen, lose func()) {
		all := stretch(4, 3)
		w, l := s.grows(lose, all[:4], all[3:], frameAfter(all[3].At, 1, "late"))
		if s.leads(w, l); w.at != ends(all) || l.Last() != ends(all) {
			s.t.Errorf("it leads at %v with the log up to %v, want %v", w.at, l.Last(), ends(all))
		}
	})
}

// The stream loses all that it has while a follower locates its place in it, and grows to the same length with what the follower
// has not read. The late one that it reads next does not hide that.
func TestAllIsLostWhileThePlaceIsLocated(t *testing.T) {
	all := stretch(3, 4)
	m := streamOf()
	s := &unseen{t: t, stream: m}
	s.put(0, all[:4]...)
	l := logOf(all[:4]...)
	w := withLog(newTestWriter(&lostByRead{memStream: m}, l), l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.put(0, all[3:]...)
	s.put(4, all[4])
	if err := w.catchUp(t.Context(), l.accept); err != nil {
		t.Fatal(err)
	}
	if s.leads(w, l); w.at != ends(all) || l.Last() != ends(all) {
		t.Errorf("it leads at %v with the log up to %v, want %v", w.at, l.Last(), ends(all))
	}
}

// lostByRead is a stream that loses all when several of its messages are read for the first time.
type lostByRead struct {
	*memStream
	isLost bool
}

func (s *lostByRead) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	messages, err := s.memStream.GetRange(ctx, first, last)
	if !s.isLost {
		s.isLost = true
		s.lose(len(s.messages))
	}
	return messages, err
}

// A node that is to lead publishes again what the stream has lost. Meanwhile the stream loses all, and the last leader goes on in
// it: the node does not pass over what that has written.
func TestLastLeaderGoesOnInAnEmptiedStream(t *testing.T) {
	all := chain(job.Position{}, 1, 8)
	l, s := logOf(all[:6]...), trimmed(5, all...)
	w := withLog(newTestWriter(s, l), l)
	w.at = all[1].At
	if err := w.place(t.Context(), &all[2]); !errors.Is(err, ErrDeposed) || s.last() != 8 {
		t.Errorf("commit 3 was published behind those of the last leader, as message %d: %v", s.last(), err)
	}
}

// What a node has judged is compared when it has read on, too, and only once.
func TestWhatWasJudgedIsProvenOnce(t *testing.T) {
	all := stretch(10, 30)
	l := logOf(all...)
	s := &roundsOf{memStream: streamOf(all...)}
	w := withLog(newTestWriter(s, l), l)
	if err := w.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.catchUp(t.Context(), l.accept); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{reviewMessages / rangeMost, 0} {
		s.rounds = 0
		if err := w.proveRead(t.Context()); err != nil || s.rounds != want {
			t.Errorf("it was proven by %d requests, want %d: %v", s.rounds, want, err)
		}
	}
}

// forEachStream runs a test with a stream in memory, and with one of a NATS server.
func forEachStream(t *testing.T, test func(s *unseen, lose func())) {
	t.Run("memory", func(t *testing.T) {
		m := streamOf()
		test(&unseen{t: t, stream: m}, func() { m.lose(len(m.messages)) })
	})
	t.Run("server", func(t *testing.T) {
		js, s := newStreamOfServer(t)
		test(&unseen{t: t, stream: s}, func() {
			if err := js.DeleteStream(t.Context(), s.name); err != nil {
				t.Fatal(err)
			}
			makeStream(t, s)
		})
	})
}

// newStreamOfServer returns an empty stream of a NATS server.
func newStreamOfServer(t *testing.T) (jetstream.JetStream, *jetStream) {
	nc, err := nats.Connect(bustest.RunWith(t, &server.Options{JetStream: true, StoreDir: t.TempDir()}).ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s := newJetStream(js, Options{Conn: nc, Replicas: 1}.withDefaults(), 0, 1)
	makeStream(t, s)
	return js, s
}

func makeStream(t *testing.T, s *jetStream) {
	t.Helper()
	if err := s.make(t.Context(), "prod", testCluster, 0); err != nil {
		t.Fatal(err)
	}
}
