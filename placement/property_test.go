package placement

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// world is a cluster that carries moves out, in any order and time.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	nodes  []Node
	shards []Shard
	copies int
	came   int // nodes that joined
	moved  int // copies that came to a node
}

// seedOf returns the seed of a test: that of the environment, or a new one.
func seedOf(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("CARILLON_SEED"); text != "" {
		fixed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = fixed
	}
	t.Logf("seed %d; repeat with CARILLON_SEED", seed)
	return seed
}

func newWorld(t *testing.T, rng *rand.Rand) *world {
	w := &world{t: t, rng: rng, copies: 1 + rng.IntN(3)}
	zones := rng.IntN(4)
	for i := range 1 + rng.IntN(10) {
		n := Node{Name: fmt.Sprint("n", i), Weight: uint32(1 + rng.IntN(4)), Up: true}
		if zones > 0 {
			n.Zone = fmt.Sprint("z", rng.IntN(zones))
		}
		w.nodes = append(w.nodes, n)
	}
	for i := range 1 << rng.IntN(7) {
		first := w.nodes[rng.IntN(len(w.nodes))].Name
		w.shards = append(w.shards, Shard{Number: uint32(i), Copies: []string{first}, Leader: first})
	}
	return w
}

// node returns a node by its name.
func (w *world) node(name string) *Node {
	return &w.nodes[slices.IndexFunc(w.nodes, func(n Node) bool { return n.Name == name })]
}

// begin checks a move, and notes that it is under way.
func (w *world) begin(m Move) {
	i := slices.IndexFunc(w.shards, func(s Shard) bool { return s.Number == m.Shard })
	s := &w.shards[i]
	switch {
	case s.moves():
		w.t.Fatalf("%+v: another move of %+v is under way", m, *s)
	case m.To != "" && (s.holds(m.To) || !w.node(m.To).isEligible()):
		w.t.Fatalf("%+v: that node cannot receive a copy of %+v", m, *s)
	case m.From != "" && !slices.Contains(s.Copies, m.From):
		w.t.Fatalf("%+v: that node has no copy of %+v", m, *s)
	}
	if s.Joins, s.Leaves = m.To, m.From; m.To == "" {
		s.Copies = slices.DeleteFunc(slices.Clone(s.Copies), func(name string) bool { return name == m.From })
		s.Leaves = ""
	}
	w.checkFlow()
}

// checkFlow: at most one copy comes to a node at a time, and one leaves it.
func (w *world) checkFlow() {
	in, out := make(map[string]int), make(map[string]int)
	for _, s := range w.shards {
		if s.Joins != "" {
			if in[s.Joins]++; in[s.Joins] > 1 {
				w.t.Fatalf("two copies come to %s at a time", s.Joins)
			}
		}
		if s.Leaves != "" {
			if out[s.Leaves]++; out[s.Leaves] > 1 {
				w.t.Fatalf("two copies leave %s at a time", s.Leaves)
			}
		}
	}
}

// finish ends one of the moves under way, and reports whether there was one.
func (w *world) finish() bool {
	var moving []*Shard
	for i := range w.shards {
		if w.shards[i].moves() {
			moving = append(moving, &w.shards[i])
		}
	}
	if len(moving) == 0 {
		return false
	}
	s := moving[w.rng.IntN(len(moving))]
	before := w.upCopies(s)
	s.Copies = append(slices.Clone(s.Copies), s.Joins)
	w.moved++
	if s.Leaves != "" {
		s.Copies = slices.DeleteFunc(s.Copies, func(name string) bool { return name == s.Leaves })
		if s.Leader == s.Leaves {
			s.Leader = s.Copies[w.rng.IntN(len(s.Copies))]
		}
	}
	s.Joins, s.Leaves = "", ""
	if after := w.upCopies(s); after < min(before, w.copies) {
		w.t.Fatalf("shard %d has %d copies that are up, and had %d", s.Number, after, before)
	}
	return true
}

func (w *world) upCopies(s *Shard) (n int) {
	for _, name := range s.Copies {
		if w.node(name).Up {
			n++
		}
	}
	return n
}

// settle carries moves out until there are none, and checks what has come of it. It takes no more than most moves.
func (w *world) settle(what string, most int) {
	w.t.Helper()
	w.moved = 0
	for steps := 0; ; steps++ {
		if steps > 10_000 || w.moved > most {
			w.t.Fatalf("%s: %d moves, want at most %d", what, w.moved, most)
		}
		moves := Next(w.nodes, w.shards, w.copies)
		for _, m := range moves {
			w.begin(m)
		}
		if w.rng.IntN(3) > 0 || len(moves) == 0 {
			if !w.finish() && len(moves) == 0 {
				break
			}
		}
	}
	w.checkSettled(what)
}

// checkSettled: each shard has as many copies as it can, and no copy could move so that the greater load becomes smaller, unless
// a zone forbids it.
func (w *world) checkSettled(what string) {
	w.t.Helper()
	eligible, load, zones := 0, make(map[string]int), make(map[string]bool)
	for _, n := range w.nodes {
		if zones[n.Zone] = true; n.isEligible() {
			eligible++
		}
	}
	for _, s := range w.shards {
		if len(s.Copies) < min(w.copies, eligible) {
			w.t.Fatalf("%s: shard %d has the copies %v of %d", what, s.Number, s.Copies, w.copies)
		}
		for _, name := range s.Copies {
			if load[name]++; w.node(name).Drains && eligible >= w.copies {
				w.t.Fatalf("%s: shard %d is on %s, which drains", what, s.Number, name)
			}
		}
	}
	if len(zones) > 1 {
		return // zones bind more than loads
	}
	for _, a := range w.nodes {
		for _, b := range w.nodes {
			if a.isEligible() && b.isEligible() && load[a.Name]*b.weight() > (load[b.Name]+1)*a.weight() && load[b.Name] < len(w.shards) && w.couldMove(&a, &b) {
				w.t.Fatalf("%s: %s with the weight %d holds %d, and %s with %d holds %d", what, a.Name, a.weight(), load[a.Name], b.Name, b.weight(), load[b.Name])
			}
		}
	}
}

// couldMove reports whether there is a shard on a that b does not hold.
func (w *world) couldMove(a, b *Node) bool {
	return slices.ContainsFunc(w.shards, func(s Shard) bool {
		return slices.Contains(s.Copies, a.Name) && !slices.Contains(s.Copies, b.Name) && !s.Pinned
	})
}

// TestPlacementOfRandomClusters lets clusters grow, drain and lose nodes. Moves end, keep the copies, and give each node its
// share; a node that joins receives little more than its share.
func TestPlacementOfRandomClusters(t *testing.T) {
	seed := seedOf(t)
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for i := range rounds {
		w := newWorld(t, rand.New(rand.NewPCG(seed, uint64(i))))
		all := len(w.shards) * w.copies
		w.settle(fmt.Sprintf("round %d, at first", i), 3*all)
		for range 3 {
			w.change(i, all)
		}
	}
}

// change lets a node come, drain, go and be removed, or come back.
func (w *world) change(round, all int) {
	switch what := fmt.Sprintf("round %d", round); w.rng.IntN(3) {
	case 0:
		w.came++
		w.nodes = append(w.nodes, Node{Name: fmt.Sprint("new", w.came), Weight: uint32(1 + w.rng.IntN(4)), Up: true, Zone: w.nodes[w.rng.IntN(len(w.nodes))].Zone})
		w.settle(what+", after a node came", 2*all)
	case 1:
		n := &w.nodes[w.rng.IntN(len(w.nodes))]
		if CanDrain(w.nodes, w.shards, w.copies, n.Name) == nil {
			n.Drains = true
			w.settle(what+", after "+n.Name+" drained", 2*all)
		}
	default:
		i := w.rng.IntN(len(w.nodes))
		name := w.nodes[i].Name
		w.nodes[i].Up = false
		w.settle(what+", after "+name+" went", 2*all)
		if CanRemove(w.nodes, w.shards, name) != nil {
			w.nodes[i].Up = true
			return
		}
		w.nodes = slices.Delete(w.nodes, i, i+1)
		for j := range w.shards {
			s := &w.shards[j]
			s.Copies = slices.DeleteFunc(slices.Clone(s.Copies), func(c string) bool { return c == name })
			if s.Leader == name {
				s.Leader = s.Copies[0]
			}
		}
		w.settle(what+", after "+name+" was removed", 2*all)
	}
}

// TestJoiningNodeReceivesItsShare: of equal nodes without zones one that joins receives its share, and nothing else moves.
func TestJoiningNodeReceivesItsShare(t *testing.T) {
	for _, nodes := range []int{2, 3, 5, 9} {
		w := &world{t: t, rng: rand.New(rand.NewPCG(1, uint64(nodes))), copies: 2}
		for i := range nodes {
			w.nodes = append(w.nodes, Node{Name: fmt.Sprint("n", i), Up: true})
		}
		for i := range 64 {
			w.shards = append(w.shards, Shard{Number: uint32(i), Copies: []string{"n0"}, Leader: "n0"})
		}
		w.settle("at first", 3*128)
		w.nodes = append(w.nodes, Node{Name: "new", Up: true})
		share := 2 * 64 / (nodes + 1)
		w.settle("after a node came", share+1)
		if w.moved < share {
			t.Errorf("%d nodes: %d copies came to the new one, want %d", nodes, w.moved, share)
		}
	}
}

// TestSpreadOfRandomClusters: hand-overs end, give each node its share of the leaderships as far as its copies allow, and empty a
// node that drains.
func TestSpreadOfRandomClusters(t *testing.T) {
	seed := seedOf(t)
	for i := range 300 {
		w := newWorld(t, rand.New(rand.NewPCG(seed, uint64(i))))
		w.settle("at first", 3*len(w.shards)*w.copies)
		if w.rng.IntN(3) == 0 {
			w.nodes[w.rng.IntN(len(w.nodes))].Drains = true
		}
		for j := range w.shards {
			w.shards[j].Level = slices.Clone(w.shards[j].Copies)
		}
		for steps := 0; ; steps++ {
			path := Spread(w.nodes, w.shards)
			if len(path) == 0 {
				break
			}
			if steps > 10*len(w.shards) {
				t.Fatalf("round %d: hand-overs do not end", i)
			}
			for _, o := range path {
				w.handOver(o)
			}
		}
		w.checkSpread(i)
	}
}

func (w *world) handOver(o Handover) {
	s := &w.shards[slices.IndexFunc(w.shards, func(s Shard) bool { return s.Number == o.Shard })]
	if s.Leader != o.From || !slices.Contains(s.Level, o.To) {
		w.t.Fatalf("%+v: %+v", o, *s)
	}
	s.Leader = o.To
}

// checkSpread: no single hand-over makes the greater of two loads smaller, and a node that drains leads what no other can.
func (w *world) checkSpread(round int) {
	leads := make(map[string]int)
	for _, s := range w.shards {
		leads[s.Leader]++
	}
	for _, s := range w.shards {
		from := w.node(s.Leader)
		for _, to := range s.Level {
			n := w.node(to)
			if to != s.Leader && n.isEligible() && (from.Drains || leads[s.Leader]*n.weight() > (leads[to]+1)*from.weight()) {
				w.t.Fatalf("round %d: %s leads %d with the weight %d, and %s %d with %d", round, s.Leader, leads[s.Leader], from.weight(), to, leads[to], n.weight())
			}
		}
	}
}

// TestOneShardNeedsOthersToPass: a direct hand-over is impossible, and a path of two is found.
func TestOneShardNeedsOthersToPass(t *testing.T) {
	nodes := []Node{{Name: "a", Up: true}, {Name: "b", Up: true}, {Name: "c", Up: true}}
	shards := []Shard{
		{Number: 0, Leader: "a", Level: []string{"a", "b"}}, {Number: 1, Leader: "a", Level: []string{"a", "b"}}, {Number: 2, Leader: "b", Level: []string{"b", "c"}},
	}
	got := Spread(nodes, shards)
	if want := []Handover{{2, "b", "c"}, {0, "a", "b"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	shards[2].Leader = ""
	if got := Spread(nodes, shards); got != nil {
		t.Errorf("while a shard has no leader: %+v", got)
	}
}

// TestScores: the best of many shards is spread over nodes by their weights, on every platform alike.
func TestScores(t *testing.T) {
	nodes := []Node{{Name: "a", Weight: 1}, {Name: "b", Weight: 2}, {Name: "c", Weight: 3}}
	best := make(map[string]int)
	for shard := range uint32(6000) {
		n := slices.MaxFunc(nodes, func(a, b Node) int { return cmp.Compare(score(shard, &a), score(shard, &b)) })
		best[n.Name]++
	}
	for i, n := range nodes {
		if want := 1000 * (i + 1); best[n.Name] < want*9/10 || best[n.Name] > want*11/10 {
			t.Errorf("%s is the best for %d shards, want about %d", n.Name, best[n.Name], want)
		}
	}
}
