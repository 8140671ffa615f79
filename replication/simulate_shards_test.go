package replication

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// shardsPlan is what a simulation of all shards has besides a plan.
type shardsPlan struct {
	shards, copies int // shards is 0 where only one is simulated
	zones          int // 0: the nodes are in none
	weights        bool
	late           float64       // a node starts for the first time in the middle
	ordered        time.Duration // about the time between two processes that end in order; 0: none does
	wiped          time.Duration // about the time between two disks that are replaced
	operator       time.Duration // about the time between two requests of an operator
	ancestors      int           // positions that come with a checkpoint; 0: ancestorsMost
}

// remembered returns how many commits before it a checkpoint knows.
func (p *shardsPlan) remembered() int {
	if p.ancestors == 0 {
		return ancestorsMost
	}
	return p.ancestors
}

func newShardsPlan(seed uint64) plan {
	p := newPlan(seed)
	r := rand.New(rand.NewPCG(seed, 2))
	every := func(shortest time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return 0
		}
		return shortest + time.Duration(r.Int64N(int64(5*shortest)))
	}
	p.mode, p.loss, p.deletion, p.roll = keeping, 0, 0, 0
	p.nodes, p.length = 3+r.IntN(3), 2*time.Minute+time.Duration(r.Int64N(int64(3*time.Minute)))
	p.latest, p.stream.requestLate, p.handOver = 10*time.Second, min(p.stream.requestLate, 0.02), p.handOver/4
	p.commitEvery = 50*time.Millisecond + time.Duration(r.Int64N(int64(time.Second)))
	p.crash, p.pause, p.part, p.cut = every(20*time.Second), every(20*time.Second), every(20*time.Second), every(20*time.Second)
	p.split = every(20 * time.Second)
	p.shardsPlan = shardsPlan{
		shards: 2 + 2*r.IntN(2), copies: []int{2, 2, 2, 2, 3}[r.IntN(5)], zones: []int{0, 0, 2, 3}[r.IntN(4)], weights: r.IntN(4) == 0,
		late: 0.5 * r.Float64(), ordered: every(20 * time.Second), wiped: every(40 * time.Second), operator: every(5 * time.Second),
	}
	p.syncs = r.IntN(2) == 0
	return p
}

// newCluster returns the simulation of a cluster of which all shards are simulated.
func newCluster(p plan) *ground {
	g := newGround(p)
	g.keys = &simKeys{ground: g}
	g.keys.overseer = newOverseer(g)
	for range p.shards {
		g.newShard()
	}
	for i := range p.nodes {
		m := newMachine(g, i)
		if m.weight = 1; p.weights {
			m.weight = uint32(1 + g.rng.IntN(3))
		}
		if p.zones > 0 {
			m.zone = fmt.Sprint("z", g.rng.IntN(p.zones))
		}
		for _, w := range g.worlds {
			w.nodes = append(w.nodes, newSimNode(w, m))
		}
	}
	return g
}

// runAll lets the faults happen. Then all end but those of one machine, and each shard of which another one has all must get a
// leader; and then these end too.
func (g *ground) runAll() {
	for i, m := range g.machines {
		first := g.between(0, 500*time.Millisecond)
		if i >= 2 && g.chance(g.plan.late) {
			g.saw("joins late", uint64(i))
			first = g.between(10*time.Second, g.plan.length)
		}
		g.after(first, m.launch)
	}
	g.plan.beginAll(g)
	g.until(g.plan.length, func() bool { return false })
	o := g.keys.overseer
	away := g.machines[g.rng.IntN(len(g.machines))]
	o.healed(away)
	if !g.until(g.now+healTime, o.led) {
		o.fail("liveness", "%s after the last fault of all nodes but %s: %s", healTime, away.name, o.lacking)
	}
	away.barred = false
	g.after(0, away.launch)
	g.settles()
}

// settles waits until all is where it belongs, compares the logs of all copies, and ends the processes.
func (g *ground) settles() {
	if o := g.keys.overseer; !g.until(g.now+placeTime, o.settled) {
		o.fail("liveness", "%s after the last fault: %s", placeTime, o.lacking)
	}
	for _, w := range g.worlds {
		w.check.finish()
	}
	for _, m := range g.machines {
		m.kill()
	}
}

// placeTime is how long after the last fault all copies have to be where they belong. It covers a wait for a node that is to
// receive a copy and does not, and some moves, one after the other.
const placeTime = 6 * time.Minute

// beginAll plans the faults that occur by themselves.
func (p plan) beginAll(g *ground) {
	any := func() *machine { return g.machines[g.rng.IntN(len(g.machines))] }
	shard := func() *world { return g.worlds[g.rng.IntN(len(g.worlds))] }
	g.often(p.crash, func() { any().crash() })
	g.often(p.pause, func() { any().pause(g.between(10*time.Millisecond, 40*time.Second)) })
	g.often(p.part, func() { any().part(g.between(10*time.Millisecond, 20*time.Second)) })
	g.often(p.split, func() { g.split(g.between(10*time.Millisecond, 30*time.Second)) })
	g.often(p.cut, func() { g.cut(g.between(10*time.Millisecond, 15*time.Second)) })
	g.often(p.stall, func() { g.stall(g.between(10*time.Millisecond, 10*time.Second)) })
	g.often(p.lag, func() {
		m := any()
		m.lag = g.between(10*time.Millisecond, 4*time.Second)
		g.after(g.between(time.Second, 10*time.Second), func() { m.lag = 0 })
	})
	g.often(p.slow, func() {
		any().members[shard().number].slowDown(g.between(100*time.Millisecond, 300*time.Millisecond), g.between(10*time.Second, 60*time.Second))
	})
	g.often(p.election, func() { shard().elect() })
	g.often(p.trim, func() { shard().trim(20 + g.rng.IntN(400)) })
	if p.bucket > 0 {
		g.after(g.between(0, p.length), g.keys.recreate)
	}
	g.often(p.ordered, func() { any().end(g.between(50*time.Millisecond, 30*time.Second)) })
	g.often(p.wiped, func() { any().replaceDisk() })
	g.often(p.operator, g.operate)
	for _, w := range g.worlds {
		g.often(askedEvery, w.check.readCopies)
	}
}

// trim removes the oldest messages of the stream, but for those that each copy lacks: a leader trims, and has what it removes.
func (w *world) trim(keep int) {
	s := w.stream
	before, messages := s.before, s.messages
	if s.trim(keep); slices.ContainsFunc(w.nodes, (*simNode).isWhole) {
		w.trimmed = w.now
		return
	}
	s.before, s.messages = before, messages
}

// TestSimulationOfShards runs clusters of several shards with all that holds them together: the leases of nodes, and the leader
// of shard 0, which places copies and leaderships, while nodes come, die, hang, drain and go, and operators ask for more.
func TestSimulationOfShards(t *testing.T) {
	seeds := *simSeeds
	switch {
	case testing.Short():
		seeds = 40
	case seeds == simSeedsDefault: // each takes some times as long as one of a single shard
		seeds = 100
	}
	runSimulations(t, "TestSimulationOfShards$", seeds, sometimesOfShards, simulateShards)
}

// sometimesOfShards lists the events that must occur from time to time.
var sometimesOfShards = []string{
	"answer lost", "request lost", "request late", "check failed open", "front trimmed", "server behind", "stale look", "election", "crash", "pause", "parted", "link cut", "beats late",
	"bucket made anew", "watch of a lost bucket shows nothing", "the ledger saw more during a request", "epoch ended", "joins late", "ends in order", "disk replaced", "removed for good",
	"takes over: expired", "takes over: silent", "takes over: still", "takes over: released", "takes over: own", "takes over: none",
	"deposed by the lease", "deposed by the log", "deposed after a pause", "joined anew", "own last cut off", "passes on",
	"calm", "split off together", "a leader is read", "a copy is read", "a copy does not know how far it lags",
	"moves begin", "opens a shard", "copies go", "drops a shard", "spreads a leadership", "settled",
	"operator: drain", "operator: keep", "operator: move", "operator: remove", "refused: drain", "refused: keep", "refused: move", "refused: remove", "an operator asks for a hand-over",
}

func simulateShards(seed uint64) *world {
	p := newShardsPlan(seed)
	p.loud = *simLoud
	g := newCluster(p)
	g.runAll()
	return g.worlds[0]
}

// TestSimulationOfShardsRepeats runs some seeds twice: both runs must be equal to the last byte.
func TestSimulationOfShardsRepeats(t *testing.T) {
	testkit.NotUnderRace(t, onlyOneRuns)
	for seed := uint64(1); seed <= 5; seed++ {
		if a, b := simulateShards(seed), simulateShards(seed); a.hash.Sum64() != b.hash.Sum64() || a.now != b.now {
			t.Errorf("seed %d is not the same story each time", seed)
		}
	}
}
