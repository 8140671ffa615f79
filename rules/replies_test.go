package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// repliers are the files that may name the subject of a reply: the package that publishes replies, the one that
// sends requests to targets, and those that play a target.
var repliers = []string{"inbox/", "dispatch/message.go", "worker/reply.go", "bench/", "browser/"}

// TestOneReplies reads every product file: a reply is published in one place, which checks where it goes. So no other
// file answers a message by the library's means, runs a service of the library's, or reads where a reply should go.
func TestOneReplies(t *testing.T) {
	t.Chdir("..")
	forbidden := map[string]bool{"Respond": true, "RespondMsg": true, "RespondJSON": true, "AddService": true, "Reply": true}
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, may := range repliers {
			if strings.HasPrefix(path, may) {
				return nil
			}
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		if !imports(f, "github.com/nats-io/nats.go") && !imports(f, "github.com/nats-io/nats.go/micro") {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && forbidden[s.Sel.Name] {
				t.Errorf("%s: %s: replies are published by the package inbox alone", set.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d files were read; the walk is broken", files)
	}
}

func imports(f *ast.File, path string) bool {
	for _, spec := range f.Imports {
		if spec.Path.Value == `"`+path+`"` {
			return true
		}
	}
	return false
}
