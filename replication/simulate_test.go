package replication

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// onlyOneRuns is why the race detector finds nothing in a simulation, which is ten times slower under it.
const onlyOneRuns = "the threads of a simulation are coroutines, of which one runs at a time"

// simSeedsDefault is how many seeds TestSimulation runs.
const simSeedsDefault = 300

var (
	simSeed  = flag.Uint64("sim.seed", 0, "run the simulation of this seed only, and tell its story")
	simSeeds = flag.Int("sim.seeds", simSeedsDefault, "how many simulations to run, of the seeds from sim.from")
	simFrom  = flag.Uint64("sim.from", 1, "the first seed")
	simFails = flag.Int("sim.fails", 5, "stop after so many simulations that failed")
	simLoud  = flag.Bool("sim.loud", false, "print what happens")
)

// TestSimulation runs clusters in virtual time with a stream, a lease, clocks and machines that show every
// fault that was observed, and requires that the nodes agree, lose nothing that counts, and come together
// again; see docs/simulation.md.
func TestSimulation(t *testing.T) {
	seeds := *simSeeds
	if testing.Short() {
		seeds = 30
	}
	runSimulations(t, "TestSimulation$", seeds, sometimes, simulate)
}

// runSimulations runs a simulation with each seed, and tells the command that repeats one that fails.
func runSimulations(t *testing.T, name string, seeds int, sometimes []string, simulate func(seed uint64) *world) {
	t.Helper()
	testkit.NotUnderRace(t, onlyOneRuns)
	from := *simFrom
	if *simSeed != 0 {
		from, seeds = *simSeed, 1
	}
	counts, began, lived, failed := make(map[string]int), time.Now(), time.Duration(0), 0
	for seed := from; seed < from+uint64(seeds); seed++ {
		w := simulate(seed)
		lived += w.now
		for what, n := range w.counts {
			counts[what] += n
		}
		if w.check.broken != "" {
			t.Errorf("seed %d: %s: %s\nrepeat with: go test ./replication -run '%s' -sim.seed %d", seed, w.plan, w.check.broken, name, seed)
			if failed++; failed == *simFails {
				break
			}
		}
	}
	t.Logf("%d simulations of %s in %s", seeds, lived.Round(time.Second), time.Since(began).Round(time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%8d %s", counts[what], what)
	}
	if seeds >= 300 {
		checkSometimes(t, counts, sometimes)
	}
}

func simulate(seed uint64) *world {
	p := newPlan(seed)
	p.loud = *simLoud
	w := newWorld(p)
	w.run()
	return w
}

// sometimes lists the events that must occur from time to time; otherwise the simulation proves nothing about
// them.
var sometimes = []string{
	"answer lost", "request lost", "request late", "check failed open", "tail lost", "front trimmed", "server behind", "stale look",
	"bucket made anew", "stream deleted", "stream made anew", "election", "crash", "pause", "parted", "void", "stored again",
	"takes over: expired", "takes over: silent", "takes over: still", "link cut", "beats late", "takes over: released", "takes over: own", "takes over: none", "hands over",
	"does not lead after all", "deposed by the lease", "deposed by the log", "deposed after a pause",
	"suspect looked into", "own last cut off", "joined anew", "another release", "writes older rows",
	"the loop of a leader is stuck", "calm", "split off together", "a leader is read", "a copy is read", "a copy does not know how far it lags",
}

func checkSometimes(t *testing.T, counts map[string]int, sometimes []string) {
	t.Helper()
	for _, what := range sometimes {
		if counts[what] == 0 {
			t.Errorf("it never happened: %s", what)
		}
	}
}

// TestSimulationRepeats runs some seeds twice: both runs must be equal to the last byte.
func TestSimulationRepeats(t *testing.T) {
	testkit.NotUnderRace(t, onlyOneRuns)
	for seed := uint64(1); seed <= 5; seed++ {
		if a, b := simulate(seed), simulate(seed); a.hash.Sum64() != b.hash.Sum64() || a.now != b.now {
			t.Errorf("seed %d is not the same story each time", seed)
		}
	}
}
