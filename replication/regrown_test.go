package replication

import "testing"

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
