package replication

import (
	"fmt"
	"testing"
	"time"
)

// TestDistances: the wait for an answer follows the time that answers take, within its bounds, also after one that came too late for
// the wait, and when the link is quick again.
func TestDistances(t *testing.T) {
	const ms = time.Millisecond
	var d distances
	for i, c := range []struct {
		takes    time.Duration
		answers  int
		to, wait time.Duration
	}{
		{0, 0, 0, askTimeout},
		{ms, 1, ms, askTimeout},
		{200 * ms, 1, 200 * ms, 400 * ms}, // none at first: it was longer under way than the wait
		{160 * ms, 1, 190 * ms, 380 * ms},
		{150 * ms, 60, 150 * ms, 300 * ms},
		{900 * ms, 1, 900 * ms, askMost},
		{ms, 30, 1 * ms, askTimeout},
	} {
		for range c.answers {
			d.took("b", c.takes)
		}
		if to, wait := d.to("b").Truncate(ms), d.wait("b").Truncate(ms); to != c.to || wait != c.wait || d.wait("c") != askTimeout {
			t.Errorf("step %d: it takes %s, and is waited for %s; want %s and %s", i, to, wait, c.to, c.wait)
		}
	}
	for i := range 2 * peersMost {
		d.took(fmt.Sprint(i), ms)
	}
	if len(d.of) != peersMost {
		t.Errorf("%d nodes are remembered", len(d.of))
	}
	if !d.begins("b") || d.begins("b") || !d.begins("c") {
		t.Error("a node is measured twice at a time, or not at all")
	}
	if d.ends("b"); !d.begins("b") {
		t.Error("a node is measured once only")
	}
}
