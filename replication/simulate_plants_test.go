package replication

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
)

var simPlants = flag.Int("sim.plants", 0, "how many simulations are to look for each planted bug at most; 0 plants none")

// plant is a bug that is put into a copy of a file, to see whether the simulation finds it.
type plant struct {
	name, what string
	file       string // relative to the root of the module
	old, new   string
}

// TestPlants builds the simulation with one bug at a time and requires that the simulation finds it. Each file
// in testdata/plants has a line that says what the bug does, the name of a file, and two texts: one that the
// file contains once, and its replacement.
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
		seed, check := p.find(t, *simPlants)
		fmt.Fprintf(w, "| `%s`\t| %s\t| %s\t| %s\t|\n", p.name, p.what, seed, check)
		if seed == "" {
			t.Errorf("%s was not found", p.name)
		}
	}
	_ = w.Flush()
	t.Logf("plant, what it does, found by seed, by the check\n%s", table.String())
}

func readPlant(t *testing.T, path string) plant {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "\n--- old\n")
	old, replacement, ok2 := strings.Cut(rest, "--- new\n")
	what, file, ok3 := strings.Cut(head, "\nfile ")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s: want a line, a line with the file, --- old and --- new", path)
	}
	return plant{
		name: strings.TrimSuffix(filepath.Base(path), ".txt"), what: what, file: file,
		old: strings.TrimSuffix(old, "\n"), new: strings.TrimSuffix(replacement, "\n"),
	}
}

var foundBy = regexp.MustCompile(`seed (\d+): [^:]*: ([a-z]+): at`)

// find builds the simulation with the plant in it, runs it, and returns the first seed that fails and the check
// that fails.
func (p plant) find(t *testing.T, seeds int) (seed, check string) {
	dir := t.TempDir()
	original, err := filepath.Abs(filepath.Join("..", p.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil || strings.Count(string(text), p.old) != 1 {
		t.Errorf("%s: %s has the old text %d times, want once: %v", p.name, p.file, strings.Count(string(text), p.old), err)
		return "", ""
	}
	planted, overlay, binary := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: planted}})
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{planted: []byte(strings.Replace(string(text), p.old, p.new, 1)), overlay: replace} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Errorf("%s: build: %v\n%s", p.name, err, out)
		return "", ""
	}
	out, err := exec.Command(binary, "-test.run", "TestSimulation$", "-test.timeout", "300s", "-sim.fails", "1", "-sim.seeds", fmt.Sprint(seeds)).CombinedOutput()
	if m := foundBy.FindStringSubmatch(string(out)); m != nil {
		return m[1], m[2]
	}
	if err != nil {
		return "all", strings.TrimSpace(string(out[:min(len(out), 200)]))
	}
	return "", ""
}
