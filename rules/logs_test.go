package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logKeys are those that only package job spells out, and words that would say the same.
var logKeys = []string{
	"tenant", "job", "job_id", "run", "attempt", "fence", "epoch",
	"tenant_name", "job_name", "name", "run_id", "runid", "jobid", "attempt_number", "term_epoch",
}

// TestLogKeys: lines about a job or a run have the keys of job.LogRun and its like: no other file spells one out.
func TestLogKeys(t *testing.T) {
	t.Chdir("..")
	lines := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "bench") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			keys, ok := keysOf(n)
			if ok {
				lines++
			}
			for _, key := range keys {
				if slices.Contains(logKeys, key) {
					t.Errorf("%s: the key %q is spelled out; want one of package job, such as job.LogRun", set.Position(n.Pos()), key)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines < 50 {
		t.Errorf("%d calls of slog were found; the walk is broken", lines)
	}
}

// keysOf returns the keys that a call of slog spells out: of an attribute, or between the arguments of a line.
func keysOf(n ast.Node) (keys []string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	args := call.Args[1:]
	if of, ok := fun.X.(*ast.Ident); ok && of.Name == "slog" {
		args = call.Args[:1]
	} else if !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "LogAttrs", "With"}, fun.Sel.Name) {
		return nil, false
	} else if fun.Sel.Name == "With" {
		args = call.Args
	}
	for _, arg := range args {
		if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING {
			key, _ := strconv.Unquote(text.Value)
			keys = append(keys, key)
		}
	}
	return keys, true
}
