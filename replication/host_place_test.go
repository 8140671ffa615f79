package replication

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestCopyGoesWhenOthersHaveAllThatItHad: a copy that is one too many goes when as many others as wanted are heard to have all that
// its log had when that was found, and not when they are only near. Its log grows meanwhile; that does not keep it.
func TestCopyGoesWhenOthersHaveAllThatItHad(t *testing.T) {
	now := time.Minute
	log := &memLog{base: job.Position{Epoch: 3, LSN: 200}}
	h := NewHost(nil)
	h.opts = Options{Node: "c", Shards: 2, Copies: 2, Boot: func() time.Duration { return now }, Logger: quiet}.withDefaults()
	h.places = newPlaces("cluster", 2)
	node := &Node{opts: Options{Node: "c", Shard: 1}, local: onlyLog{log: log}, role: RoleStandby}
	h.members[1] = &hosted{Node: node}
	place := func(change uint64, copies ...string) {
		v := placeValue{Cluster: "cluster", Shard: 1, Copies: copies, Change: change}
		if err := h.places.see(keyState{keyOfPlace(1), v.encode(), change}); err != nil {
			t.Fatal(err)
		}
	}
	says := func(name, role string, epoch, lsn uint64) {
		h.note(hostBeat{Node: name, Process: name, Copies: 2, Shards: []shardBeat{{Shard: 1, Role: role, Epoch: epoch, LSN: lsn}}})
	}
	place(1, "a", "b")
	says("b", RoleLeader, 3, 203)
	says("a", RoleStandby, 1, 123) // all that NATS has kept; within the commits that a node may lack and take over
	if h.MayDrop(1) {
		t.Error("it goes, and one of two has what NATS has kept")
	}
	log.base.LSN = 210
	says("a", RoleJoining, 3, 205)
	if h.MayDrop(1) {
		t.Error("it goes, and one of two still receives its copy")
	}
	if says("a", RoleStandby, 3, 199); h.MayDrop(1) {
		t.Error("it goes, and one of two lacks a commit")
	}
	if says("a", RoleStandby, 3, 200); !h.MayDrop(1) {
		t.Error("it stays, though two others have all that it had")
	}
	place(2, "b", "c")
	if h.MayDrop(1) {
		t.Error("it goes, though it is wanted")
	}
	if place(3, "a", "b"); h.MayDrop(1) {
		t.Error("what it has now does not count")
	}
}

// TestPlaceThatWentBack: the bucket has gone back to an earlier place of a shard, and a process finds that when it is to write the
// next one. It does not take its own knowledge for what the bucket has: the comparison takes over what all others see.
func TestPlaceThatWentBack(t *testing.T) {
	p := newPlaces("cluster", 2)
	state := func(change, revision uint64, copies ...string) keyState {
		v := placeValue{Cluster: "cluster", Shard: 1, Copies: copies, Change: change}
		return keyState{keyOfPlace(1), v.encode(), revision}
	}
	if err := p.see(state(5, 125, "a", "b")); err != nil {
		t.Fatal(err)
	}
	before := state(3, 5, "a", "c")
	keys := &mapKeys{states: map[string]keyState{keyOfPlace(1): before}}
	if err := p.put(t.Context(), keys, p.of(1), placeValue{Shard: 1, Copies: []string{"b"}}); !errors.Is(err, errLost) {
		t.Fatalf("it is written over another one: %v", err)
	}
	p.review([]keyState{before}, p.revisions())
	if at := p.of(1); at.revision != 5 || at.value.Change != 3 || !at.value.has("c") {
		t.Errorf("it goes on with %+v", at)
	}
}

// TestReceives: a node receives a copy from the beginning of its move until the copy is one of those of the shard. The first shard is on
// every node.
func TestReceives(t *testing.T) {
	h := NewHost(nil)
	h.opts, h.places = Options{Node: "c", Shards: 4}, newPlaces("cluster", 4)
	for i, v := range []placeValue{
		{Shard: 1, Copies: []string{"a", "b"}, Joins: "c", Leaves: "a"},
		{Shard: 2, Copies: []string{"a", "b"}, Joins: "d"},
		{Shard: 3, Copies: []string{"b", "c"}},
	} {
		v.Cluster, v.Change = "cluster", 1
		if err := h.places.see(keyState{keyOfPlace(v.Shard), v.encode(), uint64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for shard, want := range []bool{false, true, false, false} {
		if got := h.Receives(uint32(shard)); got != want {
			t.Errorf("shard %d: %t", shard, got)
		}
	}
}
