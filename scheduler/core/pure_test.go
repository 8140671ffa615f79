package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/carillon-io/carillon/"

// mayImport lists what the core may import. None of it does I/O, starts goroutines or draws random numbers.
var mayImport = []string{
	module + "apierr", module + "fair", module + "instant", module + "job", module + "schedule", module + "scheduler/pad", module + "wheel",
	"cmp", "encoding/binary", "errors", "fmt", "hash/fnv", "maps", "math", "slices", "sort", "strings", "time",
}

// mayUse lists, for packages that do more than the core may do, the names that it may use.
var mayUse = map[string][]string{
	"time": {"Duration", "Hour", "Millisecond", "Minute", "Second"},
	"pad": {
		"Launch", "Mode", "ModeFree", "ModeSkip", "ModeWait", "ModeHeld", "ModeBufferOne", "ModeCancel", "ModeAgain",
		"Endings", "EndsTaken", "EndsRefused", "EndsFailed", "Tenant",
	},
}

// TestCoreIsPure reads the files of the core: it may compute, and nothing else. Its steps are then repeatable, which a
// takeover and the simulation rely on.
func TestCoreIsPure(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if spec.Name != nil || !slices.Contains(mayImport, name) {
				t.Errorf("%s imports %s, which the core must not, or not under another name", path, name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if what := impurity(n); what != "" {
				t.Errorf("%s: %s in the core", set.Position(n.Pos()), what)
			}
			return true
		})
	}
	if files < 30 {
		t.Errorf("only %d files were read", files)
	}
}

// impurity returns what makes a node impure; "" if nothing does.
func impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a go statement"
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		return "a channel"
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		if names, some := mayUse[x.Name]; some && !slices.Contains(names, n.Sel.Name) {
			return x.Name + "." + n.Sel.Name
		}
	}
	return ""
}
