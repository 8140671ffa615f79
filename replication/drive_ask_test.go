package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// TestPlacesThatAreNotWritten: an operator learns of a bucket that does not answer, and of places that changed meanwhile, that
// the request may be sent again; a refusal stays what it is.
func TestPlacesThatAreNotWritten(t *testing.T) {
	for _, c := range []struct {
		err  error
		code apierr.Code
		says string
	}{
		{fmt.Errorf("replication: write whether node b drains: %w", context.DeadlineExceeded), apierr.Unavailable, "whether the request took effect is unknown; ask again"},
		{fmt.Errorf("write: %w", errLost), apierr.Unavailable, "the places have changed meanwhile; ask again"},
		{refused("node", fmt.Errorf("there is no node %q", "x")), apierr.InvalidField, `there is no node "x"`},
	} {
		got := apierr.From(notWritten(c.err))
		if got.Code != c.code || !strings.Contains(got.Message, c.says) {
			t.Errorf("%v: %s, %s; want %s, and %q", c.err, got.Code, got.Message, c.code, c.says)
		}
	}
	if err := notWritten(nil); err != nil {
		t.Error(err)
	}
}

// TestDriverWithoutALease: a leader of shard 0 whose lease is not confirmed at the moment waits for that before it carries out what
// an operator asks, and refuses it when it has waited in vain.
func TestDriverWithoutALease(t *testing.T) {
	for name, c := range map[string]struct {
		confirmed, want time.Duration // after which the lease is confirmed; after which the answer comes
		drives          bool
	}{
		"confirmed already":  {0, 0, true},
		"confirmed in time":  {callTimeout / 2, callTimeout / 2, true},
		"confirmed too late": {callTimeout + time.Second, callTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				boot := func() time.Duration { return time.Since(begun) + 1 }
				n := &Node{opts: Options{Boot: boot}, role: RoleLeader, stop: make(chan struct{})}
				h := NewHost(nil)
				h.opts.Boot = boot
				h.members[everywhere] = &hosted{Node: n}
				time.AfterFunc(c.confirmed, func() { n.trusted.Store(int64(time.Hour)) })
				if c.confirmed == 0 {
					synctest.Wait()
				}
				if drives := h.awaitDrive(t.Context()); drives != c.drives || time.Since(begun) < c.want || time.Since(begun) > c.want+drivePoll {
					t.Errorf("drives %t after %s; want %t after %s", drives, time.Since(begun), c.drives, c.want)
				}
				if !h.member(everywhere).leads() || h.member(everywhere+1).leads() {
					t.Error("who leads shard 0 does not know it, or leads a shard that it has not")
				}
			})
		})
	}
}

// TestNodesThatJustCame: what is refused only because a node, or the process that is asked, has been there for a moment only, may
// be taken later, and is.
func TestNodesThatJustCame(t *testing.T) {
	h := NewHost(nil)
	now := time.Minute
	h.opts = Options{Node: "a", Shards: 2, Copies: 2, Boot: func() time.Duration { return now }}.withDefaults()
	h.places, h.began = newPlaces("cluster", 2), now
	if err := h.places.see(keyState{keyOfPlace(1), placeValue{Cluster: "cluster", Shard: 1, Copies: []string{"a", "b"}, Change: 1}.encode(), 1}); err != nil {
		t.Fatal(err)
	}
	passes := func(d time.Duration) {
		for end := now + d; now < end; now += beatEvery {
			for _, node := range []string{"a", "b", "c"} {
				h.note(hostBeat{Node: node, Process: node, Shards: []shardBeat{{Shard: 0, Role: RoleStandby}}})
			}
		}
	}
	drain := func(want apierr.Code, says string) {
		t.Helper()
		_, _, err := h.placing(&PlaceRequest{Verb: PlaceDrain, Node: "b"}, false)
		if want == "" && err != nil || want != "" && (err == nil || apierr.From(err).Code != want || !strings.Contains(err.Error(), says)) {
			t.Errorf("%v; want %q, %q", err, want, says)
		}
	}
	drain(apierr.Unavailable, "has just begun to listen")
	passes(driveAfter)
	drain("", "")
	h.note(hostBeat{Node: "b", Process: "another b", Shards: []shardBeat{{Shard: 0, Role: RoleStandby}}})
	drain(apierr.Unavailable, "node b has been there for a moment only")
	now += beatFresh
	drain(apierr.InvalidField, "node b is not there")
	passes(beatEvery)
	drain(apierr.Unavailable, "node b has been there for a moment only")
	passes(steadyAfter)
	drain("", "")
}

// TestRemoveFromOneShard: in a cluster of one shard a node is taken out that is silent, or that NATS alone knows, and nothing drains
// or moves.
func TestRemoveFromOneShard(t *testing.T) {
	now := time.Minute
	n := &Node{opts: Options{Node: "a", Shards: 1, Boot: func() time.Duration { return now }}, role: RoleLeader, peers: newPeers("a")}
	h := NewHost(nil)
	h.opts, h.places, h.members[everywhere] = n.opts, newPlaces("cluster", 1), &hosted{Node: n}
	hear := func(nodes ...string) {
		for _, name := range nodes {
			n.peers.heard(beat{Node: name, Process: name, Role: RoleStandby}, now)
		}
	}
	asked := func(verb, node string, isLeft bool, want apierr.Code, says string) {
		t.Helper()
		_, act, err := h.placing(&PlaceRequest{Verb: verb, Node: node}, isLeft)
		if want == "" && (err != nil || act == nil) || want != "" && (err == nil || apierr.From(err).Code != want || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s %s: %v; want %q, %q", verb, node, err, want, says)
		}
		if err == nil && act(t.Context()) != nil {
			t.Errorf("%s %s was not carried out", verb, node)
		}
	}
	hear("a", "b", "c")
	for _, verb := range []string{PlaceDrain, PlaceKeep, PlaceMove, "x"} {
		asked(verb, "b", false, apierr.InvalidField, "the cluster has one shard, of which each node has a copy")
	}
	asked(PlaceRemove, "d", false, apierr.InvalidField, `there is no node "d"; want one of a, b, c`)
	told := make(map[string]durableNote)
	n.tells = func(b []byte) {
		var note durableNote
		if json.Unmarshal(b, &note) == nil {
			told[note.Node] = note
		}
	}
	asked(PlaceRemove, "b", false, apierr.Unavailable, "node b is there, or was a moment ago")
	now += beatFresh
	hear("a", "c")
	asked(PlaceRemove, "b", false, "", "")
	asked(PlaceRemove, "b", false, apierr.InvalidField, "there is no node")
	asked(PlaceRemove, "d", true, "", "")
	if note := told["b"]; len(told) != 1 || !note.Gone || note.Process != "b" {
		t.Errorf("the others are told %+v; want the end of b", told)
	}
}

// TestRemovalThatNATSLacks: a removal succeeds when NATS has forgotten the node, and is asked for again until then.
func TestRemovalThatNATSLacks(t *testing.T) {
	h := NewHost(nil)
	if _, err := h.forgetInNATS(t.Context(), "b"); err != nil {
		t.Errorf("with servers of your own: %v", err)
	}
	for _, refusal := range []error{errors.New("JetStream has no leader"), nil} {
		h.opts.Forget = func(context.Context, string) (string, error) { return "", refusal }
		_, err := h.forgetInNATS(t.Context(), "b")
		if refusal == nil && err != nil || refusal != nil && (apierr.From(err).Code != apierr.Unavailable || !strings.Contains(err.Error(), "JetStream has no leader); ask again")) {
			t.Errorf("%v: %v", refusal, err)
		}
	}
}
