package replication

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
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
	o := h.plan(h.heard(), h.opts.Boot())
	if err := placement.CanRemove(o.nodes, o.placed(), "gone"); err != nil {
		t.Error(err)
	}
	if placement.CanRemove(o.nodes, o.placed(), "kept") == nil {
		t.Error("a node that no key names any more is removed")
	}
}

// TestFirstShardDoesNotMove: a node whose beat lacks the first shard for a moment, as while its member is opened anew, receives no copy
// of it; and a place of it in the bucket, which such a move once left behind, is in the way of no other move.
func TestFirstShardDoesNotMove(t *testing.T) {
	h := NewHost(nil)
	now := time.Minute
	h.opts = Options{Node: "a", Shards: 2, Copies: 2, Boot: func() time.Duration { return now }}.withDefaults()
	h.places = newPlaces("cluster", 2)
	beat := func() {
		for node, shards := range map[string][]shardBeat{"a": {{Shard: 0, Role: RoleLeader}, {Shard: 1, Role: RoleLeader}}, "b": {}} {
			h.note(hostBeat{Node: node, Process: node, Shards: shards})
		}
	}
	beat()
	for range 4 {
		now += steadyAfter / 4
		beat()
	}
	_, _, err := h.placing(&PlaceRequest{Verb: PlaceMove, Shard: everywhere, To: "b"}, false)
	if refusal := apierr.From(err); err == nil || refusal.Code != apierr.InvalidField || refusal.Field != "shard" {
		t.Errorf("the first shard moves: %v", err)
	}
	for _, v := range []placeValue{{Cluster: "cluster", Shard: 0, Joins: "b", Change: 1}, {Cluster: "cluster", Shard: 1, Copies: []string{"a"}, Change: 1}} {
		if err := h.places.see(keyState{keyOfPlace(v.Shard), v.encode(), 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := h.placing(&PlaceRequest{Verb: PlaceMove, Shard: 1, To: "b"}, false); err != nil {
		t.Error(err)
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

// TestRemovedNodeIsNotShown: a node that is silent is shown as long as a key names it, and one that was taken out is not, though its
// beats were heard a moment ago.
func TestRemovedNodeIsNotShown(t *testing.T) {
	h := NewHost(nil)
	now := time.Minute
	h.opts = Options{Node: "a", Shards: 2, Boot: func() time.Duration { return now }}.withDefaults()
	h.places = newPlaces("cluster", 2)
	if err := h.places.see(keyState{keyOfPlace(1), placeValue{Cluster: "cluster", Shard: 1, Copies: []string{"a", "placed"}, Change: 1}.encode(), 1}); err != nil {
		t.Fatal(err)
	}
	shards := []shardBeat{{Shard: 0, Role: RoleStandby}, {Shard: 1, Role: RoleStandby}}
	for _, node := range []string{"placed", "removed"} {
		h.note(hostBeat{Node: node, Process: node, Shards: shards})
	}
	now += beatFresh
	h.note(hostBeat{Node: "a", Process: "a", Shards: shards})
	views, nodes := h.View()
	if len(nodes) != 2 || nodes[0].Node != "a" || nodes[1].Node != "placed" || len(views[0].Replicas) != 2 || len(views[1].Replicas) != 2 {
		t.Errorf("%+v, %+v", nodes, views)
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
	keys := &mapKeys{states: map[string]keyState{keyOfPlace(1): {keyOfPlace(1), []byte(`{"version":9,"cluster":"cluster"}`), 4}}}
	for range 2 { // the second one would know the key by the first
		if err := p.put(t.Context(), keys, p.of(1), placeValue{Shard: 1, Copies: []string{"a"}}); !errors.Is(err, errLost) {
			t.Errorf("it is written over: %v", err)
		}
	}
}
