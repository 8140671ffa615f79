// Package plants tests a simulation: it puts known bugs into the code, one at a time, and sees whether the simulation finds
// them. A plant is a text file in testdata/plants of the package that has the simulation: a line that says what the bug does,
// a line with the name of a file, and two texts, what the file has once and what it gets instead. In a package with several
// simulations a line "test" says which one is to find it.
//
//	a run that ends others takes the place of runs that may have been launched under another leader
//	file scheduler/pad/turns.go
//	--- old
//			if w.Mode == ModeAgain {
//	--- new
//			if w.Mode == ModeHeld {
package plants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Plant is a bug that can be put into a copy of a file.
type Plant struct {
	Name string // that of its file, without .txt
	What string // what the bug does, in a line
	File string // from the root of the module
	Test string // simulation that is to find it; "": the one that the package runs if nothing else is said

	old, new string // what the file has once, and what it gets instead
}

// All reads the plants in testdata/plants of the package under test, in the order of their names. It ends the test if there
// are none, or one of them cannot be read.
func All(t testing.TB) []Plant {
	t.Helper()
	paths, err := filepath.Glob("testdata/plants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plants: %v", err)
	}
	all := make([]Plant, len(paths))
	for i, path := range paths {
		all[i] = read(t, path)
	}
	return all
}

func read(t testing.TB, path string) Plant {
	t.Helper()
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
	file, test, _ := strings.Cut(file, "\ntest ")
	return Plant{
		Name: strings.TrimSuffix(filepath.Base(path), ".txt"), What: what, File: file, Test: test,
		old: strings.TrimSuffix(old, "\n"), new: strings.TrimSuffix(replacement, "\n"),
	}
}

// Match checks that each plant of the package under test still finds its place in the code. Root is the way from the package
// to the root of the module.
func Match(t *testing.T, root string) {
	t.Helper()
	for _, p := range All(t) {
		p.sow(t, root)
	}
}

// sow returns the text of the plant's file with the bug in it. If the file does not have the old text once, the test fails,
// and ok is false.
func (p Plant) sow(t testing.TB, root string) (planted string, ok bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, p.File))
	if err != nil {
		t.Errorf("%s: %v", p.Name, err)
		return "", false
	}
	if n := strings.Count(string(text), p.old); n != 1 {
		t.Errorf("%s: %s has the old text %d times, want once", p.Name, p.File, n)
		return "", false
	}
	return strings.Replace(string(text), p.old, p.new, 1), true
}

// Build builds the tests of the package under test with the bug in them, and returns the path of the program, which is
// removed when the test ends. The file itself stays as it is. If it cannot be built, the test fails, and ok is false.
func (p Plant) Build(t testing.TB, root string) (program string, ok bool) {
	t.Helper()
	text, ok := p.sow(t, root)
	if !ok {
		return "", false
	}
	original, err := filepath.Abs(filepath.Join(root, p.File))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planted, overlay, program := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: planted}})
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{planted: []byte(text), overlay: replace} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Errorf("%s: build: %v\n%s", p.Name, err, out)
		return "", false
	}
	return program, true
}
