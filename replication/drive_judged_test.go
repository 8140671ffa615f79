package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/placement"
)

// mapKeys is a bucket without NATS.
type mapKeys struct {
	states   map[string]keyState
	revision uint64
	written  func(key string) // is called after each write; nil: nothing is
}

func (k *mapKeys) put(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if k.states[key].revision != revision {
		return 0, errLost
	}
	k.revision++
	k.states[key] = keyState{key, value, k.revision}
	next := k.revision
	if k.written != nil {
		k.written(key)
	}
	return next, nil
}

func (k *mapKeys) get(_ context.Context, key string) (value []byte, revision uint64, err error) {
	return k.states[key].value, k.states[key].revision, nil
}

func (k *mapKeys) list(context.Context, string) (states []keyState, err error) {
	for _, s := range k.states {
		states = append(states, s)
	}
	return states, nil
}

func (k *mapKeys) watch(context.Context, string, func(keyState)) error { return nil }

// stage is a cluster whose first node, a, leads all shards and places them. Nodes that are up are heard; gone was never.
type stage struct {
	t       *testing.T
	host    *Host
	keys    *mapKeys
	entries []Operation               // of the audit log
	during  func(ctx context.Context) // happens while the first entry is written
}

func newStage(t *testing.T, up string, places ...placeValue) *stage {
	now := time.Minute
	s := &stage{t: t, host: NewHost(nil), keys: &mapKeys{states: make(map[string]keyState)}}
	h := s.host
	h.opts = Options{Node: "a", Shards: len(places) + 1, Copies: 2, Boot: func() time.Duration { return now }, Logger: quiet}.withDefaults()
	h.places, h.keys = newPlaces("cluster", h.opts.Shards), s.keys
	h.members[everywhere] = &hosted{Node: &Node{opts: Options{Audit: s.audit}}}
	for _, v := range places {
		s.write(v)
	}
	for range steadyAfter/beatEvery + 1 {
		for _, node := range strings.Fields(up) {
			h.note(s.beat(node, places))
		}
		now += beatEvery
	}
	return s
}

// beat returns the beat of a node that has the whole copies that it is to have. The first copy of each shard leads.
func (s *stage) beat(node string, places []placeValue) hostBeat {
	b := hostBeat{Node: node, Process: node, Copies: 2, Shards: []shardBeat{{Shard: everywhere, Role: RoleStandby}}}
	for _, v := range places {
		if i := slices.Index(v.Copies, node); i == 0 {
			b.Shards = append(b.Shards, shardBeat{Shard: v.Shard, Role: RoleLeader})
		} else if i > 0 {
			b.Shards = append(b.Shards, shardBeat{Shard: v.Shard, Role: RoleStandby})
		}
	}
	return b
}

func (s *stage) audit(ctx context.Context, op Operation) error {
	if s.entries = append(s.entries, op); len(s.entries) == 1 && s.during != nil {
		s.during(ctx)
	}
	return nil
}

// write writes a place as another process does, and lets this one see it.
func (s *stage) write(v placeValue) { s.see(s.unseen(v)) }

// unseen writes a place as another process does.
func (s *stage) unseen(v placeValue) keyState {
	old := s.place(v.Shard)
	v.Cluster, v.Change = "cluster", old.Change+1
	return s.store(keyOfPlace(v.Shard), v.encode())
}

func (s *stage) store(key string, value []byte) keyState {
	s.keys.revision++
	s.keys.states[key] = keyState{key, value, s.keys.revision}
	return s.keys.states[key]
}

func (s *stage) see(k keyState) {
	if err := s.host.places.see(k); err != nil {
		s.t.Fatal(err)
	}
}

// place returns the place of a shard, as the bucket has it.
func (s *stage) place(shard uint32) (v placeValue) {
	if k := s.keys.states[keyOfPlace(shard)]; k.revision != 0 {
		var err error
		if v, err = decodePlace(k.value); err != nil {
			s.t.Fatal(err)
		}
	}
	return v
}

// on returns a place.
func on(shard uint32, copies, joins, leaves string) placeValue {
	return placeValue{Shard: shard, Copies: strings.Fields(copies), Joins: joins, Leaves: leaves}
}

func showPlace(v placeValue) string {
	return strings.TrimSpace(fmt.Sprintf("%v %s %s", v.Copies, v.Joins, v.Leaves))
}

// TestChangedAfterItWasJudged: what has changed while the audit log takes the entry of a request, or without this process having
// seen it, is not written over: the request is judged again, by what it has become.
func TestChangedAfterItWasJudged(t *testing.T) {
	move := PlaceRequest{Verb: PlaceMove, Shard: 1, To: "c"}
	driver := func(m placement.Move) func(*stage, context.Context) {
		return func(s *stage, ctx context.Context) {
			at := s.host.places.of(m.Shard)
			next := at.value
			next.Joins, next.Leaves = m.To, m.From
			if err := s.host.places.put(ctx, s.keys, at, next); err != nil {
				s.t.Error(err)
			}
		}
	}
	written := func(v placeValue) func(*stage, context.Context) {
		return func(s *stage, _ context.Context) { s.write(v) }
	}
	unseen := func(v placeValue) func(*stage, context.Context) {
		return func(s *stage, _ context.Context) { s.unseen(v) }
	}
	for name, c := range map[string]struct {
		up      string
		at      placeValue
		request PlaceRequest
		during  func(*stage, context.Context)
		code    apierr.Code // of the refusal; "": none
		want    string      // the place in the end
		entries int
	}{
		"nothing changes":                  {"a b c d", on(1, "a b", "", ""), move, nil, "", "[a b] c a", 1},
		"the driver moves the shard":       {"a b c d", on(1, "a b", "", ""), move, driver(placement.Move{Shard: 1, From: "b", To: "d"}), apierr.Unavailable, "[a b] d b", 1},
		"another process moves it, unseen": {"a b c d", on(1, "a b", "", ""), move, unseen(on(1, "a b", "d", "b")), apierr.Unavailable, "[a b] d b", 1},
		"the node has a copy by now":       {"a b c d", on(1, "a b", "", ""), move, written(on(1, "a c", "", "")), apierr.InvalidField, "[a c]", 1},
		"the copy that was to go has gone": {"a b c d", on(1, "a b", "", ""), move, written(on(1, "b d", "", "")), "", "[b d] c b", 2},
		"the same, unseen":                 {"a b c d", on(1, "a b", "", ""), move, unseen(on(1, "b d", "", "")), "", "[b d] c b", 2},
		"the other copy has gone":          {"a b", on(1, "a gone", "", ""), PlaceRequest{Verb: PlaceRemove, Node: "gone"}, written(on(1, "gone", "", "")), apierr.InvalidField, "[gone]", 1},
		"the other copy has gone, unseen":  {"a b", on(1, "a gone", "", ""), PlaceRequest{Verb: PlaceRemove, Node: "gone"}, unseen(on(1, "gone", "", "")), apierr.InvalidField, "[gone]", 1},
		"a removal beside a move, unseen":  {"a b", on(1, "a gone", "", ""), PlaceRequest{Verb: PlaceRemove, Node: "gone"}, unseen(on(1, "a gone", "b", "")), "", "[a] b", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, c.up, c.at)
			if c.during != nil {
				s.during = func(ctx context.Context) { c.during(s, ctx) }
			}
			_, err := s.host.place(t.Context(), &c.request, "")
			if got := apierr.From(err); c.code == "" && err != nil || c.code != "" && (err == nil || got.Code != c.code) {
				t.Errorf("refused as %v, want %q", err, c.code)
			}
			if at := showPlace(s.place(1)); at != c.want || len(s.entries) != c.entries {
				t.Errorf("the place is %s, with %d entries in the audit log; want %s and %d", at, len(s.entries), c.want, c.entries)
			}
		})
	}
}

// TestDrainsAreJudgedAgain: whether a node drains is written over what was judged, and not over what another process has written
// since.
func TestDrainsAreJudgedAgain(t *testing.T) {
	ofC := func(cluster string, drains bool) []byte {
		return drainValue{Cluster: cluster, Node: "c", Drains: drains}.encode()
	}
	for name, c := range map[string]struct {
		verb   string
		before []byte // the key, as this process has seen it; nil: there is none
		during []byte // what another process writes, unseen, while the entry is written; nil: it deletes the key
		code   apierr.Code
		want   bool // whether the node drains in the end
	}{
		"drained by another process": {PlaceDrain, nil, ofC("cluster", true), apierr.InvalidField, true},
		"kept by another process":    {PlaceKeep, ofC("cluster", true), ofC("cluster", false), apierr.InvalidField, false},
		"drained again and again":    {PlaceKeep, ofC("cluster", true), ofC("cluster", true), "", false},
		"left by another cluster":    {PlaceDrain, nil, ofC("another", false), "", true},
		"lost with the bucket":       {PlaceKeep, ofC("cluster", true), nil, "", false},
		"kept before, drained anew":  {PlaceDrain, ofC("cluster", false), ofC("cluster", false), "", true},
		"written by a later release": {PlaceDrain, nil, []byte(`{"version":9,"cluster":"cluster","node":"c","drains":false}`), apierr.Unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "a b c", on(1, "a b", "", ""))
			if c.before != nil {
				s.see(s.store(drainKeys+"c", c.before))
			}
			s.during = func(context.Context) {
				if s.store(drainKeys+"c", c.during); c.during == nil {
					delete(s.keys.states, drainKeys+"c")
				}
			}
			_, err := s.host.place(t.Context(), &PlaceRequest{Verb: c.verb, Node: "c"}, "")
			if got := apierr.From(err); c.code == "" && err != nil || c.code != "" && (err == nil || got.Code != c.code) {
				t.Errorf("refused as %v, want %q", err, c.code)
			}
			if v, _ := decodeDrain(s.keys.states[drainKeys+"c"].value); v.Drains != c.want || len(s.entries) != 1 {
				t.Errorf("it drains: %t, with %d entries; want %t and 1", v.Drains, len(s.entries), c.want)
			}
		})
	}
}

// TestOperatorBetweenMoves: while the driver writes the first of several moves, an operator moves another shard and lets a node
// drain. The driver plans its next move by that.
func TestOperatorBetweenMoves(t *testing.T) {
	s := newStage(t, "a b c d", on(1, "a", "", ""), on(2, "b", "", ""), on(3, "b", "", ""))
	s.keys.written = func(key string) {
		s.keys.written = nil
		for _, q := range []PlaceRequest{{Verb: PlaceDrain, Node: "a"}, {Verb: PlaceMove, Shard: 2, To: "d"}} {
			if _, err := s.host.place(t.Context(), &q, ""); err != nil {
				t.Errorf("after %s: %v", key, err)
			}
		}
	}
	now := s.host.opts.Boot()
	if _, err := newDriver(s.host).beginAll(t.Context(), s.host.heard(), now); err != nil {
		t.Fatal(err)
	}
	for shard, want := range map[uint32]string{1: "[a] c", 2: "[b] d", 3: "[b]"} {
		if at := showPlace(s.place(shard)); at != want {
			t.Errorf("shard %d is %s, want %s", shard, at, want)
		}
	}
	if !s.place(2).Pinned {
		t.Error("the operator's move is gone")
	}
}

// TestMoveIsWrittenOverItsPlan: a move that was planned by a place which another process has changed since is not written.
func TestMoveIsWrittenOverItsPlan(t *testing.T) {
	s := newStage(t, "a b c d", on(1, "a b", "", ""))
	planned := s.host.places.of(1)
	s.write(on(1, "a b", "c", "a"))
	if err := newDriver(s.host).begin(t.Context(), placement.Move{Shard: 1, From: "b", To: "d"}, planned); !errors.Is(err, errLost) {
		t.Error(err)
	}
	if at := showPlace(s.place(1)); at != "[a b] c a" {
		t.Error(at)
	}
}
