package scheduler

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "run the simulation of this seed only")
	simSeeds = flag.Int("sim.seeds", 0, "how many simulations to run, of all kinds; 0 is a few short ones")
)

// simShort is how many short simulations a plain test runs, and simBrief how many one with the race detector: all do the same
// with their goroutines, of which hardly ever two run at once.
const (
	simShort = 6
	simBrief = 1
)

// TestSimulation lets engines live through hours, months and years in virtual time, with everything
// going wrong that can, and compares them with a naive model; see docs/simulation.md.
func TestSimulation(t *testing.T) {
	seeds := []uint64{*simSeed}
	if *simSeed == 0 {
		seeds = drawSeeds(*simSeeds)
	}
	for _, seed := range seeds {
		p := newPlan(seed)
		if testkit.Brief() {
			p.span /= 4
		}
		start := time.Now()
		t.Logf("seed %d: %s", seed, p)
		w := newWorld(t, p)
		w.run()
		t.Logf("seed %d: %s in %s, %d takeovers, %d times a node of an older release led: %+v", seed, w.simulated(), time.Since(start).Round(time.Millisecond),
			w.standby.leads, len(w.releases.olds), w.model.counts)
		if w.model.broken != "" {
			t.Fatalf("%s\nrepeat with: go test ./scheduler -run TestSimulation -sim.seed %d", w.model.report(), seed)
		}
	}
}

// drivenByHand is why the race detector finds nothing in some tests of thousands of jobs or acts.
const drivenByHand = "one goroutine drives the engine, as TestRandomStories does for a shorter time"

// drawSeeds returns random seeds: so many of all kinds, or a few that are short and always the same.
func drawSeeds(n int) (seeds []uint64) {
	for range n {
		seeds = append(seeds, rand.Uint64()>>1)
	}
	few := simShort
	if testkit.Brief() {
		few = simBrief
	}
	for seed := uint64(1004); n == 0 && len(seeds) < few; seed++ {
		seeds = append(seeds, seed)
	}
	return seeds
}

func (w *world) simulated() time.Duration {
	return (time.Duration(w.passed-w.plan.start.UnixMilli()) * time.Millisecond).Round(time.Second)
}

// TestSimulationRepeats runs a seed twice: it must be the same story to the last byte.
func TestSimulationRepeats(t *testing.T) {
	testkit.NotUnderRace(t, "TestSimulation does the same")
	seed := drawSeeds(0)[0]
	var sums []uint64
	for range 2 {
		p := newPlan(seed)
		p.span /= 4
		w := newWorld(t, p)
		w.run()
		sums = append(sums, w.hash.Sum64())
	}
	if sums[0] != sums[1] {
		t.Errorf("seed %d is not the same story each time", seed)
	}
}

// finish lets the process live a little longer, so that what was late is done, and looks around a last
// time.
func (w *world) finish() {
	if w.model.broken != "" || !w.alive {
		return
	}
	w.settle()
	w.model.sweep(w.wall())
	w.readHistory()
	w.die()
}

// readHistory compares what the engine lists of some jobs, and of dead runs, with what the model knows.
func (w *world) readHistory() {
	w.readDead()
	for _, j := range w.model.order {
		if j.id%modelWitnesses == 0 && !j.deleted {
			w.readRuns(j)
		}
	}
}

func (w *world) readRuns(j *modelJob) {
	var got []modelRow
	q := RunQuery{Tenant: simTenant(j.name), Job: j.name, Limit: 1 + w.rng.IntN(300)}
	for {
		page, err := w.engine.Runs(context.Background(), q)
		if err != nil {
			w.model.fail("history", j, "%v", err)
			return
		}
		for _, r := range page.Runs {
			if key := keyOf(r.ID); r.Status.IsFinal() && key.at/modelDay >= w.model.history.pruned {
				got = append(got, modelRow{key: key, status: r.Status.String(), reason: r.Reason.String(), until: int64(r.Until), attempt: r.Attempt})
			}
		}
		if q.After = page.Next; page.Next.Job == 0 {
			break
		}
	}
	w.compareHistory(j, sortedRows(got))
}

func (w *world) compareHistory(j *modelJob, got []modelRow) {
	want := w.model.history.of(j)
	for i := range max(len(got), len(want)) {
		switch {
		case i == len(got) || i < len(want) && compareKeys(want[i].key, got[i].key) < 0:
			w.model.fail("history", j, "run %s (%s) is not listed", want[i].key, want[i].status)
			return
		case i == len(want) || compareKeys(want[i].key, got[i].key) > 0:
			w.model.fail("history", j, "run %s (%s) is listed and unknown", got[i].key, got[i].status)
			return
		case got[i].status != want[i].status || got[i].reason != want[i].reason || got[i].until != want[i].until || got[i].attempt != want[i].attempt:
			w.model.fail("history", j, "run %s is listed as %s %s, want %s %s", got[i].key, got[i].status, got[i].reason, want[i].status, want[i].reason)
			return
		}
	}
}
