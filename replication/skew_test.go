package replication

import (
	"fmt"
	"testing"
	"time"
)

// TestSkewOfWaitingBeats: beats that waited while this node stood still do not make another node's clock look wrong, and a
// clock that is wrong is told after a moment.
func TestSkewOfWaitingBeats(t *testing.T) {
	var s skews
	now := time.Duration(0)
	for i := range 80 { // those of 20 s, which are read within one second or so
		now += 15 * time.Millisecond
		if offset := time.Duration(i)*beatEvery - 20*time.Second; s.differs("n2", offset, now) {
			t.Fatalf("beat %d, which waited for %s, counts as a clock that differs", i, -offset)
		}
	}
	for i := range 80 {
		now += beatEvery
		if s.differs("n2", -time.Millisecond, now) {
			t.Error("a clock that is right counts as one that differs")
		}
		want := time.Duration(i)*beatEvery >= skewFor
		if got := s.differs("n3", -3*time.Second+time.Duration(i)*time.Millisecond, now); got != want {
			t.Errorf("beat %d of a clock that is 3 s behind: %v", i, got)
		}
	}
	for i := range 10 * peersMost {
		s.differs(fmt.Sprint("n", i), 0, now)
	}
	if len(s.seen) > peersMost {
		t.Errorf("%d nodes are remembered", len(s.seen))
	}
}
