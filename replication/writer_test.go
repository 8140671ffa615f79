package replication

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-io/carillon/job"
)

var errTimeout = errors.New("no answer")

// leads returns a writer whose log and stream have the same commits of epoch 1, and the frame that it writes
// next.
func leads(t *testing.T, n int) (*writer, *memStream, *memLog, Frame) {
	t.Helper()
	frames := chain(job.Position{}, 1, n)
	s, l := streamOf(frames...), logOf(frames...)
	return located(t, s, l), s, l, frameAfter(l.Last(), 1, "next")
}

// accepts reads a stream from its beginning by the rule, as a node with an empty log does.
func accepts(s *memStream) (places []job.Position) {
	reader := tail{cluster: testCluster, next: testNext}
	for _, m := range s.messages {
		if f, v, _ := reader.judge(m); v == accepted {
			places = append(places, f.At)
		}
	}
	return places
}

func timesAccepted(s *memStream, at job.Position) (times int) {
	for _, p := range accepts(s) {
		if p == at {
			times++
		}
	}
	return times
}

// The fate of one frame under each kind of failure. In each case it ends as a part of the log, exactly once.
func TestPlaceSucceeds(t *testing.T) {
	for name, spoil := range map[string]func(s *memStream, f *Frame){
		"nothing goes wrong": func(*memStream, *Frame) {},
		"the answer is lost": func(s *memStream, _ *Frame) {
			s.publish = func(m []byte, _ uint64) (uint64, error) { s.add(m); return 0, errTimeout }
		},
		"the request is lost": func(s *memStream, _ *Frame) {
			s.publish = func([]byte, uint64) (uint64, error) { return 0, errTimeout }
		},
		"the request comes later than the next try": func(s *memStream, _ *Frame) {
			s.publish = func(m []byte, expect uint64) (uint64, error) {
				s.publish = func(again []byte, expect uint64) (uint64, error) {
					s.add(m)
					return 0, errWrongSequence
				}
				return 0, errTimeout
			}
		},
		"it is stored twice, the second with a sequence of its own": func(s *memStream, _ *Frame) {
			s.publish = func(m []byte, _ uint64) (uint64, error) { s.add(m); return s.add(m), nil }
		},
		"a deposed leader's frame stands before it, and the check was open": func(s *memStream, f *Frame) {
			s.publish = func(m []byte, _ uint64) (uint64, error) {
				s.addFrame(frameAfter(job.Position{}, 0, "old"))
				return s.add(m), nil
			}
		},
		"junk came first": func(s *memStream, _ *Frame) {
			s.publish = func([]byte, uint64) (uint64, error) { s.add([]byte("junk")); return 0, errWrongSequence }
		},
		"the stream has lost three acknowledged messages": func(s *memStream, _ *Frame) { s.lose(3) },
		"the stream has lost everything":                  func(s *memStream, _ *Frame) { s.lose(8) },
		"the stream was emptied":                          func(s *memStream, _ *Frame) { s.trim(8) },
		"the stream has lost them, and has its length again": func(s *memStream, _ *Frame) {
			s.lose(2)
			withJunk(s, 2)
			s.publish = func([]byte, uint64) (uint64, error) { return 0, errWrongSequence }
		},
	} {
		w, s, l, f := leads(t, 8)
		spoil(s, &f)
		err := w.place(t.Context(), &f)
		l.add(f)
		if err != nil || w.at != f.At {
			t.Errorf("%s: placed at %v, %v", name, w.at, err)
		}
		reader := located(t, s, logOf(l.frames[:8:8]...))
		if reader.at != f.At {
			t.Errorf("%s: a reader is at %v, want %v", name, reader.at, f.At)
		}
	}
}

// The leader publishes what the stream has lost before the next frame, for the nodes that lack it.
func TestPlaceBringsBackWhatWasLost(t *testing.T) {
	w, s, l, f := leads(t, 8)
	s.lose(3)
	s.addFrame(frameAfter(job.Position{}, 1, "strange")) // the newest of them has another successor now
	if err := w.place(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	follower := logOf(l.frames[:5:5]...)
	if reader := located(t, s, follower); reader.at != f.At || len(follower.frames) != 9 {
		t.Errorf("a reader who lacks them is at %v with %d commits; want %v and 9", reader.at, len(follower.frames), f.At)
	}
}

// Only the leader makes a stream anew that has disappeared.
func TestPlaceMakesTheStreamAnew(t *testing.T) {
	w, s, l, f := leads(t, 8)
	s.gone = true
	ctx, cancel := context.WithCancel(t.Context())
	s.paused = func() {
		if s.pauses == 10 {
			cancel()
		}
	}
	if err := w.place(ctx, &f); !errors.Is(err, context.Canceled) {
		t.Fatalf("a node that must not make it did not wait: %v", err)
	}
	w.restore = func(context.Context) error { *s = memStream{}; return nil }
	if err := w.place(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	if reader := located(t, s, logOf(l.frames...)); reader.at != f.At {
		t.Errorf("a follower is at %v, want %v", reader.at, f.At)
	}
}

// Another leader's frame stands where this leader wants to write: this one is deposed, and its frame is void.
func TestPlaceIsOvertaken(t *testing.T) {
	_, s, l, f := leads(t, 8)
	record := frameAfter(l.Last(), 2, "begin")
	record.Author = authorOf("b")
	for name, spoil := range map[string]func(){
		"it was refused": func() { s.addFrame(record) },
		"the check was open": func() {
			s.publish = func(m []byte, _ uint64) (uint64, error) { s.addFrame(record); return s.add(m), nil }
		},
		"the answer was lost, and the check was open": func() {
			s.publish = func(m []byte, _ uint64) (uint64, error) { s.addFrame(record); s.add(m); return 0, errTimeout }
		},
	} {
		var w *writer
		w, s, _, f = leads(t, 8)
		spoil()
		err := w.place(t.Context(), &f)
		o, ok := errors.AsType[*overtaken](err)
		if !ok || o.at != record.At || !errors.Is(err, ErrDeposed) {
			t.Errorf("%s: %v, want that %v came first", name, err, record.At)
		}
		if n := timesAccepted(s, f.At); n != 0 {
			t.Errorf("%s: the frame is part of the log %d times", name, n)
		}
	}
}

// Two nodes that take over at the same place write the same record. Only one of them has begun the epoch; the
// other has its own to begin.
func TestPlaceOfTheSameRecord(t *testing.T) {
	w, s, l, _ := leads(t, 8)
	mine := frameAfter(l.Last(), 2, "begin")
	theirs := mine
	theirs.Author = authorOf("b")
	s.addFrame(theirs)
	if err := w.place(t.Context(), &mine); !errors.Is(err, ErrDeposed) {
		t.Errorf("the record of another node was taken for its own: %v", err)
	}

	w, s, l, _ = leads(t, 8)
	s.addFrame(theirs)
	l.add(mine) // the commits of the log are this node's, whichever node published them
	if err := w.place(t.Context(), &mine); err != nil {
		t.Errorf("what another has published of the node's own log: %v", err)
	}
}

// The stream was emptied, and nothing that this node knows is left: it goes on, unless a later leader has
// written there.
func TestPlaceLeaps(t *testing.T) {
	w, s, _, f := leads(t, 8)
	*s = memStream{before: 20}
	s.addFrame(frameAfter(job.Position{LSN: 77}, 1, "nobody knows this"))
	if err := w.place(t.Context(), &f); err != nil || s.last() != 22 {
		t.Errorf("the stream ends at %d, %v", s.last(), err)
	}
	for name, behind := range map[string]bool{"a later leader's frame is the newest": false, "its own try hides the later leader's": true} {
		w, s, _, f := leads(t, 8)
		*s = memStream{before: 20}
		s.addFrame(frameAfter(job.Position{LSN: 77, Epoch: 2}, 2, "a later leader"))
		if behind {
			s.publish = func(m []byte, _ uint64) (uint64, error) { return s.add(m), nil }
		}
		if err := w.place(t.Context(), &f); !errors.Is(err, ErrDeposed) {
			t.Errorf("%s: it went on: %v", name, err)
		}
	}
}

// The log has been cut to a checkpoint, and the stream has lost commits that the log does not keep: the leader
// goes on, and nodes that lack those commits join anew.
func TestPlaceBeyondTheCheckpoint(t *testing.T) {
	w, s, l, _ := leads(t, 8)
	l.beginsAfter(7)
	w.frame = l.frame
	f := frameAfter(l.Last(), 1, "next")
	s.lose(4)
	if err := w.place(t.Context(), &f); err != nil || w.at != f.At {
		t.Fatalf("placed at %v, %v", w.at, err)
	}
}

// If the context ends, the fate of the frame stays unknown.
func TestPlaceEndsWithItsContext(t *testing.T) {
	w, s, _, f := leads(t, 8)
	ctx, cancel := context.WithCancel(t.Context())
	s.publish = func([]byte, uint64) (uint64, error) { cancel(); return 0, errTimeout }
	if err := w.place(ctx, &f); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDeposed) {
		t.Errorf("it ended with %v", err)
	}
}
