package placement

import (
	"errors"
	"strings"
	"testing"
)

// TestRefusals: what an operator asks for wrongly is refused with what is wrong, by name, and is not said to pass.
func TestRefusals(t *testing.T) {
	nodes := []Node{{Name: "a", Up: true}, {Name: "b", Up: true}, {Name: "c", Up: true, Drains: true}, {Name: "d"}}
	shards := []Shard{
		{Number: 1, Copies: []string{"a", "b"}, Leader: "a"}, {Number: 2, Copies: []string{"a", "c"}, Joins: "b", Leaves: "c", Leader: "a"}, {Number: 3, Copies: []string{"d"}}, {Number: 4},
	}
	move := func(shard uint32, to string) error {
		_, err := CanMove(nodes, shards, 2, shard, to)
		return err
	}
	refusals(t, false, []refusal{
		{CanDrain(nodes, shards, 2, "x"), `there is no node "x"; want one of a, b, c, d`},
		{CanDrain(nodes, shards, 2, "c"), "node c drains already"},
		{CanDrain(nodes, shards, 2, "b"), "node b cannot drain: shard 1 would have one copy, and is to have 2; add a node before"},
		{CanDrain(nodes, shards, 2, "d"), "node d is not there"},
		{CanDrain(nodes[:1], nil, 2, "a"), "node a cannot drain: it is the only one"},
		{CanRemove(nodes, shards, "x"), `there is no node "x"`},
		{CanRemove(nodes, shards, "a"), "node a is there: drain it, and stop its process"},
		{CanRemove(nodes, shards, "d"), "node d has the only copy of shard 3"},
		{CanRemove(nodes, []Shard{{Number: 4, Copies: []string{"d", "gone"}}}, "d"), "node d may have the only whole copy of shard 4, because no other node leads it or could: start the others"},
		{move(9, "a"), "there is no shard 9"},
		{move(1, "x"), `there is no node "x"`},
		{move(1, "a"), "node a has a copy of shard 1 already"},
		{move(1, "d"), "node d is not there"},
		{move(1, "c"), "node c drains"},
		{move(3, "b"), "shard 3 has no leader from which the node could receive it, and no node that has it is there: start one of d"},
		{move(4, "b"), "no node is known to have shard 4"},
	})
}

// refusal is an error, and how it is to begin.
type refusal struct {
	err  error
	want string
}

// refusals compares errors with what they are to say: that they pass, or not.
func refusals(t *testing.T, pass bool, list []refusal) {
	t.Helper()
	for _, c := range list {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
		if _, isBusy := errors.AsType[*BusyError](c.err); isBusy != pass {
			t.Errorf("%v: a later request may succeed: %t", c.err, isBusy)
		}
	}
}

// TestRefusalsThatPass: what becomes right by itself is refused with that.
func TestRefusalsThatPass(t *testing.T) {
	nodes := []Node{{Name: "a", Up: true}, {Name: "b", Up: true}, {Name: "new", Comes: true}, {Name: "gone"}}
	shards := []Shard{
		{Number: 1, Copies: []string{"a", "b"}, Leader: "a"}, {Number: 2, Copies: []string{"a", "gone"}, Joins: "b", Leaves: "a", Leader: "a"},
		{Number: 3, Copies: []string{"gone", "new"}}, {Number: 4, Leader: "b"},
	}
	move := func(shard uint32, to string) error {
		_, err := CanMove(nodes, shards, 2, shard, to)
		return err
	}
	refusals(t, true, []refusal{
		{CanDrain(nodes, shards, 2, "new"), "node new has been there for a moment only"},
		{CanDrain(nodes, shards, 2, "b"), "node b cannot drain yet: shard 1 would have one copy, and is to have 2; other nodes have just come"},
		{CanDrain([]Node{nodes[0], nodes[2]}, nil, 2, "a"), "node a cannot drain yet: the other nodes have just come"},
		{CanRemove(nodes, shards, "gone"), "node gone may have the only whole copy of shard 3, because no other node leads it or could; ask again when one leads"},
		{CanRemove([]Node{nodes[0], {Name: "d", Up: true, Drains: true}}, shards, "d"), "node d is there, or was a moment ago: stop its process, and ask again"},
		{CanRemove(nodes, nil, "b"), "node b is there, or was a moment ago: stop its process, and ask again"},
		{move(1, "new"), "node new has been there for a moment only"},
		{move(2, "b"), "another move of shard 2 is under way: to node b"},
		{move(2, "a"), "node a gives its copy of shard 2 up"},
		{move(3, "a"), "shard 3 has no leader that answers"},
		{move(4, "a"), "the place of shard 4 is not known yet"},
	})
	refusals(t, false, []refusal{{CanRemove(nodes, shards, "new"), "node new is there"}})
}

// TestMovesBesideAnother: a node that receives a copy, or gives one up, takes part in another move later.
func TestMovesBesideAnother(t *testing.T) {
	nodes := []Node{{Name: "a", Up: true}, {Name: "b", Up: true}, {Name: "c", Up: true}, {Name: "d", Up: true}}
	shards := []Shard{{Number: 1, Copies: []string{"a", "b"}, Joins: "c", Leaves: "a", Leader: "a"}, {Number: 2, Copies: []string{"a", "b"}, Leader: "a"}}
	for to, want := range map[string]string{"c": "node c receives a copy of another shard", "d": "node a gives up a copy of another shard"} {
		_, err := CanMove(nodes, shards, 2, 2, to)
		if _, isBusy := errors.AsType[*BusyError](err); !isBusy || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q, which passes", err, want)
		}
	}
}

// TestRemoveNeedsAnotherWholeCopy: a node that is gone is taken out once another one leads its shards, or could.
func TestRemoveNeedsAnotherWholeCopy(t *testing.T) {
	nodes := []Node{{Name: "a", Up: true}, {Name: "gone"}}
	for _, s := range []Shard{{Leader: "a"}, {Leader: "x", Level: []string{"a"}}} {
		if s.Copies = []string{"a", "gone"}; CanRemove(nodes, []Shard{s}, "gone") != nil {
			t.Errorf("%+v: the node is not taken out", s)
		}
	}
}

// TestNothingToCopy: a shard that no node is known to have gets no copy.
func TestNothingToCopy(t *testing.T) {
	if moves := Next([]Node{{Name: "a", Up: true}, {Name: "b", Up: true}}, []Shard{{Number: 1}}, 2); len(moves) > 0 {
		t.Errorf("%+v", moves)
	}
}

// TestWhichCopyGoes when an operator brings a shard to a node: that of a node that drains, then one in the same zone, then the
// leader's; and none of a shard that has too few.
func TestWhichCopyGoes(t *testing.T) {
	for _, c := range []struct {
		copies []string
		want   string
	}{{[]string{"lead", "drains"}, "drains"}, {[]string{"lead", "near"}, "near"}, {[]string{"far", "lead"}, "lead"}, {[]string{"lead"}, ""}} {
		nodes := []Node{{Name: "to", Up: true, Zone: "z"}, {Name: "lead", Up: true, Zone: "x"}, {Name: "far", Up: true, Zone: "y"}, {Name: "near", Up: true, Zone: "z"}, {Name: "drains", Up: true, Drains: true}}
		m, err := CanMove(nodes, []Shard{{Number: 5, Copies: c.copies, Leader: "lead"}}, 2, 5, "to")
		if want := (Move{5, c.want, "to"}); err != nil || m != want {
			t.Errorf("%v: %+v, %v; want %+v", c.copies, m, err, want)
		}
	}
}

// TestSurplusCopiesStayWhileNodesAreAway: of three copies, where two are wanted, none goes while a node is away, whether another
// one drains or not.
func TestSurplusCopiesStayWhileNodesAreAway(t *testing.T) {
	nodes := []Node{{Name: "a"}, {Name: "b", Up: true}, {Name: "c", Up: true, Drains: true}}
	shards := []Shard{{Number: 1, Copies: []string{"a", "b", "c"}, Leader: "b"}}
	if moves := Next(nodes, shards, 2); len(moves) > 0 {
		t.Errorf("%+v", moves)
	}
	nodes[0].Up = true
	if moves := Next(nodes, shards, 2); len(moves) != 1 || moves[0] != (Move{Shard: 1, From: "c"}) {
		t.Errorf("%+v, want that c gives its copy up", moves)
	}
}
