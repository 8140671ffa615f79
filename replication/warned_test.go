package replication

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
)

// TestWarningsAreForgotten: however many texts there are, a bounded number is remembered, and old ones make room.
func TestWarningsAreForgotten(t *testing.T) {
	n := &Node{opts: Options{Logger: slog.New(slog.DiscardHandler)}}
	for i := range 10 * warnedMax {
		n.warn(fmt.Sprint("the clock of node ", i), errors.New("planted"))
	}
	if len(n.warned.last) != warnedMax {
		t.Errorf("%d texts are remembered, want %d", len(n.warned.last), warnedMax)
	}
	for text := range n.warned.last {
		n.warned.last[text] = n.warned.last[text].Add(-warnBetween)
	}
	n.warn("a new one", errors.New("planted"))
	if _, known := n.warned.last["a new one"]; !known || len(n.warned.last) != 1 {
		t.Errorf("after a while %d texts are remembered", len(n.warned.last))
	}
}
