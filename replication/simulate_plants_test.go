package replication

import (
	"cmp"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/carillon-io/carillon/testkit/plants"
)

var (
	simPlants = flag.Int("sim.plants", 0, "how many simulations are to look for each planted bug at most, a fifth of that of all shards; 0 plants none")
	simPlant  = flag.String("sim.plant", "", "plant only the bugs whose names match this regular expression")
)

// TestPlants builds the simulation with one bug at a time and requires that the simulation finds it.
func TestPlants(t *testing.T) {
	if *simPlants == 0 || testing.Short() {
		t.Skip("run it by make sim-plants")
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 1, ' ', 0)
	only := regexp.MustCompile(*simPlant)
	for _, p := range plants.All(t) {
		if !only.MatchString(p.Name) {
			continue
		}
		seed, check := findPlant(t, p, *simPlants)
		fmt.Fprintf(w, "| `%s`\t| %s\t| %s\t| %s\t|\n", p.Name, p.What, seed, check)
		if seed == "" {
			t.Errorf("%s was not found", p.Name)
		}
	}
	_ = w.Flush()
	t.Logf("plant, what it does, found by seed, by the check\n%s", table.String())
}

// TestPlantsMatch checks that each plant still finds its place in the code.
func TestPlantsMatch(t *testing.T) { plants.Match(t, "..") }

var foundBy = regexp.MustCompile(`seed (\d+): (?:[^:]*: )?([a-z]+): at`)

// plantTimeMax bounds the simulation of one plant: 10,000 seeds take about six minutes on a core.
const plantTimeMax = 20 * time.Minute

// findPlant builds the simulation with the plant in it, runs it, and returns the first seed that fails and the check that
// fails. Both are empty if none does.
func findPlant(t *testing.T, p plants.Plant, seeds int) (seed, check string) {
	program, ok := p.Build(t, "..")
	if !ok {
		return "", ""
	}
	if p.Test != "" {
		seeds = max(1, seeds/5) // one of all shards costs as much as ten of one
	}
	out, err := exec.Command(program, "-test.run", cmp.Or(p.Test, "TestSimulation")+"$", "-test.timeout", plantTimeMax.String(), "-sim.fails", "1", "-sim.seeds", fmt.Sprint(seeds)).CombinedOutput()
	if m := foundBy.FindStringSubmatch(string(out)); m != nil {
		return m[1], m[2]
	}
	if strings.Contains(string(out), "panic: test timed out") { // so it is not known; no find
		t.Errorf("%s: the simulation took longer than %s", p.Name, plantTimeMax)
		return "", ""
	}
	if err != nil {
		return "all", strings.TrimSpace(string(out[:min(len(out), 200)]))
	}
	return "", ""
}
