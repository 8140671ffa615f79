package web

import (
	"github.com/carillon-io/carillon/api/apitest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOpenAPIRules holds the description to the rules of OpenAPI 3.1 that its shape can break.
func TestOpenAPIRules(t *testing.T) {
	doc := theDescription(t)
	used := map[string]bool{}
	walk(doc.Root, func(at map[string]any) {
		if ref, ok := at["$ref"].(string); ok {
			used[ref] = true
			if _, err := doc.Follow(ref); err != nil || len(at) != 1 {
				t.Errorf("the reference %v: %v", at, err)
			}
		}
		if sc, ok := at["schema"].(map[string]any); ok {
			checkWords(t, sc)
		}
	})
	// A requirement refers to its scheme by the name alone.
	for _, requirement := range apitest.AsList(doc.Root["security"]) {
		for name := range requirement.(map[string]any) {
			used["#/components/securitySchemes/"+name] = true
			if _, err := doc.Follow("#/components/securitySchemes/" + name); err != nil {
				t.Errorf("the security %s: %v", name, err)
			}
		}
	}
	for kind, components := range doc.Root["components"].(map[string]any) {
		for name, part := range components.(map[string]any) {
			if !regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString(name) || !used["#/components/"+kind+"/"+name] {
				t.Errorf("the component %s of %s has no good name, or nothing refers to it", name, kind)
			}
			if kind == "schemas" {
				checkWords(t, part.(map[string]any))
			}
		}
	}
	for path, item := range doc.Root["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			checkOperation(t, doc, method, path, op.(map[string]any))
		}
	}
}

// walk calls fn for each object of a document.
func walk(at any, fn func(map[string]any)) {
	switch at := at.(type) {
	case map[string]any:
		fn(at)
		for name, part := range at {
			if name != "example" && name != "examples" {
				walk(part, fn)
			}
		}
	case []any:
		for _, part := range at {
			walk(part, fn)
		}
	}
}

// checkWords checks that a schema, and those in it, say nothing but what the tests check values for.
func checkWords(t *testing.T, sc map[string]any) {
	t.Helper()
	for word := range sc {
		if !slices.Contains(apitest.Keywords, word) {
			t.Errorf("a schema says %q: %v", word, sc)
		}
	}
	members, _ := sc["properties"].(map[string]any)
	for name, member := range members {
		checkWords(t, member.(map[string]any))
		if slices.Contains(apitest.AsList(sc["required"]), any(name)) && sc["additionalProperties"] == false && apitest.IsOf(member.(map[string]any)["type"], nil) {
			t.Errorf("the member %s must be there, and may be null", name)
		}
	}
	for _, name := range apitest.AsList(sc["required"]) {
		if members[name.(string)] == nil && len(members) > 0 {
			t.Errorf("the member %v must be there, and is not described", name)
		}
	}
	if items, ok := sc["items"].(map[string]any); ok {
		checkWords(t, items)
	}
}

func checkOperation(t *testing.T, doc *apitest.Checker, method, path string, op map[string]any) {
	t.Helper()
	inPath, seen := []string{}, map[string]bool{}
	for _, p := range apitest.AsList(op["parameters"]) {
		param := p.(map[string]any)
		if ref, ok := param["$ref"].(string); ok {
			param, _ = doc.Follow(ref)
		}
		name, in := param["name"].(string), param["in"].(string)
		if seen[in+" "+name] || param["schema"] == nil || slices.Contains([]string{"Accept", "Content-Type", "Authorization"}, name) {
			t.Errorf("%s %s: the parameter %s in %s is there twice, is none, or has no schema", method, path, name, in)
		}
		if seen[in+" "+name] = true; in == "path" {
			inPath = append(inPath, "{"+name+"}")
			if param["required"] != true {
				t.Errorf("%s %s: %s may be left out of the path", method, path, name)
			}
		}
	}
	if want := regexp.MustCompile(`\{[^}]*\}`).FindAllString(path, -1); !slices.Equal(want, inPath) && len(want)+len(inPath) > 0 {
		t.Errorf("%s %s has the parameters %v", method, path, inPath)
	}
	if _, hasBody := op["requestBody"]; hasBody != (method == "post" || method == "put") {
		t.Errorf("%s %s: body %t", method, path, hasBody)
	}
	for status, answer := range op["responses"].(map[string]any) {
		if a := answer.(map[string]any); a["description"] == nil && a["$ref"] == nil {
			t.Errorf("%s %s: %s has no description", method, path, status)
		}
	}
	for _, status := range strings.Fields("200 400 413 421 422 429 500 503") {
		if op["responses"].(map[string]any)[status] == nil {
			t.Errorf("%s %s has no answer %s", method, path, status)
		}
	}
}
