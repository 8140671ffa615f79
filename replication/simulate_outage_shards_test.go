package replication

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// fallBack makes NATS what it was at an instant: the streams and the bucket.
func (g *ground) fallBack(then time.Duration) {
	for _, w := range g.worlds {
		kept := 0
		for _, m := range w.stream.messages {
			if m.stored <= then {
				kept++
			}
		}
		w.stream.messages = w.stream.messages[:kept]
		w.stream.era++
		lease := w.lease.asOf(then)
		w.lease.states = nil
		w.lease.set(lease.value, lease.revision, lease.reason)
		w.check.forgetUnknown()
	}
	g.keys.fallBack(then)
	g.note("outage")
}

// outage ends the power of NATS, and of the nodes too if all is true; NATS comes back without what it had stored for some time.
// Nodes that go on reach no stream and no bucket meanwhile.
func (g *ground) outage(lost time.Duration, all bool) {
	if all {
		for _, m := range g.machines {
			m.kill()
		}
		g.fallBack(g.now - lost)
		return
	}
	back := g.now + g.between(time.Second, 30*time.Second)
	lost += back - g.now
	g.bucket.offTill = back
	for _, w := range g.worlds {
		w.stream.offTill = back
	}
	g.until(back, func() bool { return false })
	g.fallBack(g.now - lost)
	switch m := g.machines[g.rng.IntN(len(g.machines))]; g.rng.IntN(4) { // the cluster is not whole when NATS is back
	case 0:
		m.part(g.between(time.Second, 20*time.Second))
	case 1:
		m.pause(g.between(time.Second, 20*time.Second))
	case 2:
		g.cut(g.between(time.Second, 20*time.Second))
	}
}

// fallBack makes the bucket what it was at an instant.
func (k *simKeys) fallBack(then time.Duration) {
	log := k.log
	k.bucket.era++
	k.log, k.states, k.revision, k.begin = nil, nil, 0, 0
	for _, r := range log {
		if r.since > then {
			break
		}
		k.record(r.keyState)
		k.log[len(k.log)-1].since, k.revision = r.since, max(k.revision, r.revision)
		states := k.states[r.key]
		states[len(states)-1].since = r.since
	}
	clear(k.overseer.ended)
	k.deaf, k.mute = true, k.rng.IntN(2) == 0
	for _, m := range k.machines {
		m.fed = len(k.log)
	}
}

// TestOutagesOfShards: while an operator moves shards, power fails everywhere, and NATS comes back as it was up to half a minute
// before. The nodes start in any order, within the time for which they wait for each other. All that was acknowledged is there, and
// all shards are where they belong in the end.
func TestOutagesOfShards(t *testing.T) {
	if seeds, moved := tellOutages(t, outageOfShards, "drops a shard"); seeds > 1 && moved < seeds {
		t.Errorf("%d copies have moved in %d seeds", moved, seeds)
	}
}

// tellOutages runs a story for some seeds, or for the one that was asked for, each of which must end well. It returns how many
// were run, and how often an event happened in all of them.
func tellOutages(t *testing.T, story func(seed uint64) *ground, event string) (seeds, events int) {
	t.Helper()
	testkit.NotUnderRace(t, onlyOneRuns)
	first := *simFrom
	switch seeds = 20; {
	case *simSeed != 0:
		first, seeds = *simSeed, 1
	case *simSeeds != simSeedsDefault:
		seeds = *simSeeds
	case testing.Short():
		seeds = 5
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		g := story(seed)
		events += g.counts[event]
		for _, w := range g.worlds {
			if w.check.broken != "" {
				t.Fatalf("seed %d: %s: %s", seed, g.plan, w.check.broken)
			}
		}
	}
	return seeds, events
}

// calmCluster returns a cluster of several shards that has run without faults for a while, and its plan.
func calmCluster(seed uint64) (*ground, plan) {
	full := newShardsPlan(seed)
	p := plan{seed: seed, nodes: full.nodes, length: full.length, commitEvery: full.commitEvery, latest: full.latest, loud: *simLoud, several: full.several}
	p.shardsPlan = shardsPlan{shards: full.shards, copies: full.copies}
	g := newCluster(p)
	for _, m := range g.machines {
		g.after(g.between(0, 500*time.Millisecond), m.launch)
	}
	g.until(g.between(20*time.Second, 40*time.Second), func() bool { return false })
	return g, p
}

func outageOfShards(seed uint64) *ground {
	g, p := calmCluster(seed)
	g.often(5*time.Second, func() {
		shard := uint32(1 + g.rng.IntN(p.shards-1))
		g.askPlaces(PlaceRequest{Verb: PlaceMove, Shard: shard, To: g.machines[g.rng.IntN(p.nodes)].name})
	})
	g.until(g.now+g.between(10*time.Second, 60*time.Second), func() bool { return false })
	all := g.rng.IntN(2) == 0
	g.outage(g.between(0, 30*time.Second), all)
	g.healed = true
	for _, m := range g.machines {
		if all {
			g.after(g.between(time.Second, 40*time.Second), m.launch)
		}
	}
	g.settles()
	return g
}
