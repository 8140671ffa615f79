package replication

import (
	"testing"

	"github.com/carillon-io/carillon/placement"
)

// TestDrainedNodeIsKnownUntilItIsRemoved: a node that has drained and has ended is in no place and no beat, and an operator can still
// take it out.
func TestDrainedNodeIsKnownUntilItIsRemoved(t *testing.T) {
	h := NewHost(nil)
	h.opts = Options{Node: "a", Shards: 2}.withDefaults()
	h.places = newPlaces("cluster", 2)
	for _, s := range []keyState{
		{keyOfPlace(1), placeValue{Cluster: "cluster", Shard: 1, Copies: []string{"a"}, Change: 1}.encode(), 1},
		{drainKeys + "gone", drainValue{Cluster: "cluster", Node: "gone", Drains: true}.encode(), 2},
		{drainKeys + "kept", drainValue{Cluster: "cluster", Node: "kept"}.encode(), 3},
	} {
		if err := h.places.see(s); err != nil {
			t.Fatal(err)
		}
	}
	nodes, shards := h.plan(h.heard(), h.opts.Boot())
	if err := placement.CanRemove(nodes, shards[1:], "gone"); err != nil {
		t.Error(err)
	}
	if placement.CanRemove(nodes, shards[1:], "kept") == nil {
		t.Error("a node that no key names any more is removed")
	}
}

// TestCopiesAreTheMostThatANodeSays: a node that is started with a smaller number than the others takes no copies away.
func TestCopiesAreTheMostThatANodeSays(t *testing.T) {
	h := NewHost(nil)
	h.opts = Options{Node: "a", Shards: 2, Copies: 1}.withDefaults()
	if n := h.copies(); n != 1 {
		t.Errorf("alone it is %d", n)
	}
	for node, copies := range map[string]int{"a": 1, "b": 3, "c": 2} {
		h.note(hostBeat{Node: node, Process: node, Copies: copies})
	}
	if n := h.copies(); n != 3 {
		t.Errorf("beside nodes with 3 and 2 it is %d", n)
	}
}

// TestLaterPlacesStay: a place that a later release has written is reported, and not replaced.
func TestLaterPlacesStay(t *testing.T) {
	p := newPlaces("cluster", 2)
	if err := p.see(keyState{keyOfPlace(1), []byte(`{"version":9,"cluster":"cluster"}`), 4}); err == nil {
		t.Error("a place of version 9 was taken")
	}
	if at := p.of(1); at.revision != 0 || at.isKnown() {
		t.Errorf("%+v", at)
	}
}
