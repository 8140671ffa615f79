package scheduler

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

var simPlants = flag.Int("sim.plants", 0, "how many simulations are to look for each planted bug; 0 plants none")

// plant is a bug that is put into a copy of a file, to see whether the simulation finds it.
type plant struct {
	name, what string
	file       string // from the root of the module
	old, new   string
}

// plantResult says how a plant was found.
type plantResult struct {
	found bool
	tried int    // simulations, up to the one that failed
	first string // check that failed in it
}

// TestPlants builds the simulation with one bug at a time and demands that it is found. The files in
// testdata/plants have a line that says what the bug does, the name of a file, and two texts: what the
// file has once, and what it gets instead.
func TestPlants(t *testing.T) {
	if *simPlants == 0 || testing.Short() {
		t.Skip("run it by make sim-plants")
	}
	paths, err := filepath.Glob("testdata/plants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plants: %v", err)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 1, ' ', 0)
	for _, path := range paths {
		p := readPlant(t, path)
		t.Run(p.name, func(t *testing.T) {
			r := p.look(t, *simPlants)
			fmt.Fprintf(w, "| `%s`\t| %s\t| %d\t| %s\t|\n", p.name, p.what, r.tried, r.first)
			if !r.found {
				t.Errorf("none of %d simulations has found it", r.tried)
			}
		})
	}
	_ = w.Flush()
	t.Logf("plant, what it does, found by which simulation, by which check\n%s", table.String())
}

// TestPlantsMatch checks that each plant still finds its place in the code.
func TestPlantsMatch(t *testing.T) {
	paths, err := filepath.Glob("testdata/plants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plants: %v", err)
	}
	for _, path := range paths {
		p := readPlant(t, path)
		text := string(must(os.ReadFile(filepath.Join("..", p.file))))
		if n := strings.Count(text, p.old); n != 1 {
			t.Errorf("%s: %s has the old text %d times, want once", p.name, p.file, n)
		}
	}
}

func readPlant(t *testing.T, path string) plant {
	text := string(must(os.ReadFile(path)))
	head, rest, ok := strings.Cut(text, "\n--- old\n")
	old, replacement, ok2 := strings.Cut(rest, "\n--- new\n")
	what, file, ok3 := strings.Cut(head, "\nfile ")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s: want a line, a line with the file, --- old and --- new", path)
	}
	p := plant{name: strings.TrimSuffix(filepath.Base(path), ".txt"), what: what, file: file, old: old}
	p.new = strings.TrimSuffix(replacement, "\n")
	return p
}

// look builds the simulation with the plant in it, and lets it run with some seeds, until one finds it.
func (p plant) look(t *testing.T, seeds int) (r plantResult) {
	dir := t.TempDir()
	root := must(filepath.Abs(".."))
	original := filepath.Join(root, p.file)
	text := string(must(os.ReadFile(original)))
	if strings.Count(text, p.old) != 1 {
		t.Errorf("%s: %s has the old text %d times, want once", p.name, p.file, strings.Count(text, p.old))
		return r
	}
	planted, overlay, binary := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
	writeFile(t, planted, []byte(strings.Replace(text, p.old, p.new, 1)))
	writeFile(t, overlay, must(json.Marshal(map[string]map[string]string{"Replace": {original: planted}})))
	build := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%s: build: %v\n%s", p.name, err, out)
		return r
	}
	for seed := range uint64(seeds) {
		out, err := exec.Command(binary, "-test.run", "TestSimulation$", "-test.timeout", "300s", "-sim.seed", fmt.Sprint(plantSeed(seed))).CombinedOutput()
		r.tried++
		if r.found = err != nil; r.found {
			r.first = checkOf(string(out))
			t.Logf("found by simulation %d, by the check %s", r.tried, r.first)
			break
		}
	}
	return r
}

// plantSeed returns the n-th seed that looks for plants: short ones, with every tenth a month.
func plantSeed(n uint64) uint64 {
	if n%10 == 9 {
		return 1000 + n*10 + 1
	}
	return 1000 + n*10 + 4 + n%6
}

func writeFile(t *testing.T, path string, text []byte) {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
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
