package scheduler

import (
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/carillon-io/carillon/testkit/plants"
)

var simPlants = flag.Int("sim.plants", 0, "how many simulations are to look for each planted bug; 0 plants none")

// TestPlants builds the simulation with one bug at a time and demands that it is found.
func TestPlants(t *testing.T) {
	if *simPlants == 0 || testing.Short() {
		t.Skip("run it by make sim-plants")
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 1, ' ', 0)
	for _, p := range plants.All(t) {
		t.Run(p.Name, func(t *testing.T) {
			found, tried, check := findPlant(t, p, *simPlants)
			fmt.Fprintf(w, "| `%s`\t| %s\t| %d\t| %s\t|\n", p.Name, p.What, tried, check)
			if !found {
				t.Errorf("none of %d simulations has found it", tried)
			}
		})
	}
	_ = w.Flush()
	t.Logf("plant, what it does, found by which simulation, by which check\n%s", table.String())
}

// TestPlantsMatch checks that each plant still finds its place in the code.
func TestPlantsMatch(t *testing.T) { plants.Match(t, "..") }

// findPlant builds the simulation with the plant in it, and lets it run with some seeds, until one finds it. It returns how
// many simulations ran, and the check that failed in the last of them.
func findPlant(t *testing.T, p plants.Plant, seeds int) (found bool, tried int, check string) {
	program, ok := p.Build(t, "..")
	if !ok {
		return false, 0, ""
	}
	for seed := range uint64(seeds) {
		out, err := exec.Command(program, "-test.run", "TestSimulation$", "-test.timeout", "300s", "-sim.seed", fmt.Sprint(plantSeed(seed))).CombinedOutput()
		if tried++; err != nil {
			check = checkOf(string(out))
			t.Logf("found by simulation %d, by the check %s", tried, check)
			return true, tried, check
		}
	}
	return false, tried, ""
}

// plantSeed returns the n-th seed that looks for plants: short ones, with every tenth a month.
func plantSeed(n uint64) uint64 {
	if n%10 == 9 {
		return 1000 + n*10 + 1
	}
	return 1000 + n*10 + 4 + n%6
}

// checkOf returns the name of the check that failed.
func checkOf(out string) string {
	if m := regexp.MustCompile(`_test\.go:\d+: ([a-z]+): at `).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	for _, line := range slices.Collect(strings.Lines(out)) {
		if strings.HasPrefix(line, "panic:") {
			return strings.TrimSpace(line)
		}
	}
	return "unknown"
}
