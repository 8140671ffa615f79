package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// docGoTest is a call of go test for named tests: its packages and the names.
	docGoTest = regexp.MustCompile("go test ((?:\\./\\S+ )+)[^`\n]*?-run ['\"]?([^ `'\"\n]+)")
	// docMake is a call of make in a sentence or a table: its target.
	docMake = regexp.MustCompile("`make ([a-z-]+)")
	// testName is the head of a test in a file of Go.
	testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocTestsExist: each test that a page names is in the package that it names, and each target of make in the Makefile.
// Tests move from one package to another; an entry about a bug must still lead to the one that finds it.
func TestDocTestsExist(t *testing.T) {
	tests := testsByPackage(t)
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for page, text := range docPagesAll(t) {
		for _, call := range docGoTest.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Split(strings.Trim(call[2], "()"), "|") {
				name, _, _ = strings.Cut(name, "/")
				if checked++; name == "xxx" {
					continue // no test, because benchmarks are run
				}
				if !hasTest(tests, strings.Fields(call[1]), name) {
					t.Errorf("%s: go test %s-run %s: there is no such test; %s", page, call[1], name, whereTest(tests, name))
				}
			}
		}
		for _, call := range docMake.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(makefile), "\n"+call[1]+":") {
				t.Errorf("%s: make %s: there is no such target", page, call[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d tests; the search is broken", checked)
	}
}

// testsByPackage returns the names of all tests, by directory.
func testsByPackage(t *testing.T) map[string][]string {
	tests, root := make(map[string][]string), filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		name, _ := filepath.Rel(root, file)
		dir := path.Dir(filepath.ToSlash(name))
		for _, found := range testName.FindAllStringSubmatch(string(text), -1) {
			tests[dir] = append(tests[dir], found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// hasTest reports whether go test, called for some packages, runs a test for a name, which is a pattern as -run has it.
func hasTest(tests map[string][]string, packages []string, name string) bool {
	pattern, err := regexp.Compile(name)
	if err != nil {
		return false
	}
	for dir, names := range tests {
		isMeant := slices.ContainsFunc(packages, func(p string) bool {
			p = path.Clean(p)
			tree, isTree := strings.CutSuffix(p, "/...")
			return p == dir || p == "..." || isTree && (dir == tree || strings.HasPrefix(dir, tree+"/"))
		})
		if isMeant && slices.ContainsFunc(names, pattern.MatchString) {
			return true
		}
	}
	return false
}

// whereTest says in which packages a test is.
func whereTest(tests map[string][]string, name string) string {
	var dirs []string
	for dir := range tests {
		if hasTest(tests, []string{dir}, name) {
			dirs = append(dirs, "./"+dir)
		}
	}
	slices.Sort(dirs)
	return "it is in " + strings.Join(dirs, ", ")
}
