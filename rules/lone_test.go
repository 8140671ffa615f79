package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lonePattern finds the packages that `make check` leaves out of the race detector.
var lonePattern = regexp.MustCompile(`(?m)^LONE := (.*)$`)

// TestLonePackages: no goroutine meets another one in the packages that `make check` leaves out of the race detector. They and
// their tests start none, have nothing to lock, and run no tests side by side.
func TestLonePackages(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := lonePattern.FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no line LONE := …")
	}
	for _, name := range strings.Fields(string(line[1])) {
		files, err := filepath.Glob(filepath.Join("..", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: there is no such package (%v)", name, err)
		}
		for _, path := range files {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if at, what := meets(file); what != "" {
				t.Errorf("%s: %s: take %s out of LONE in the Makefile", set.Position(at), what, name)
			}
		}
	}
}

// meets returns where a file shows that goroutines may meet, and what it has there, or "".
func meets(file *ast.File) (at token.Pos, what string) {
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if slices.Contains([]string{"sync", "sync/atomic", "testing/synctest", "net/http", module + "/server"}, path) {
			return i.Pos(), "it imports " + path
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at, what = n.Pos(), "it starts a goroutine"
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Go", "Parallel", "RunParallel", "AfterFunc"}, n.Sel.Name) {
				at, what = n.Pos(), "it uses "+n.Sel.Name
			}
		}
		return what == ""
	})
	return at, what
}
