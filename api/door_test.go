package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneDoor reads the product files of all ways in: one place carries a request out, and it is the one that recovers
// from a panic.
func TestOneDoor(t *testing.T) {
	places := map[string][]string{}
	for _, dir := range []string{".", "../web", "../dashboard"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, what := range doorsIn(t, path) {
				places[what] = append(places[what], path)
			}
		}
	}
	for what, where := range map[string]string{"recover": "caught.go", "v.serve": "executor.go", "x.carryOut": "executor.go"} {
		if got := places[what]; len(got) != 1 || got[0] != where {
			t.Errorf("%s is called in %v; want %s alone, once", what, got, where)
		}
	}
}

// doorsIn lists the calls of a file that only one place may have.
func doorsIn(t *testing.T, path string) (calls []string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			calls = append(calls, fun.Name)
		case *ast.SelectorExpr:
			if on, ok := fun.X.(*ast.Ident); ok {
				calls = append(calls, on.Name+"."+fun.Sel.Name)
			}
		}
		return true
	})
	return calls
}
