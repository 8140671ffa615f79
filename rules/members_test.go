package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// neverEmpty are the types whose values the JSON library of the API never takes for empty: "omitempty" would send each
// zero.
var neverEmpty = map[string]bool{
	"bool": true, "int": true, "int8": true, "int16": true, "int32": true, "int64": true, "float32": true, "float64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true, "byte": true,
}

// TestZerosAreLeftOut: in the files that use the JSON library of the API, a number or a truth value that may be missing has
// "omitzero". To older releases a zero that is sent is a member that they do not know.
func TestZerosAreLeftOut(t *testing.T) {
	t.Chdir("..")
	members := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil || !imports(file, "github.com/go-json-experiment/json") {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Tag == nil {
				return true
			}
			members++
			if kind, ok := f.Type.(*ast.Ident); ok && neverEmpty[kind.Name] && hasOmitEmpty(f) {
				t.Errorf("%s: omitempty sends zeros of %s; want omitzero", set.Position(f.Pos()), kind.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if members < 20 {
		t.Errorf("%d members were found; the walk is broken", members)
	}
}

func hasOmitEmpty(f *ast.Field) bool {
	tag, err := strconv.Unquote(f.Tag.Value)
	return err == nil && strings.Contains(reflect.StructTag(tag).Get("json"), ",omitempty")
}
