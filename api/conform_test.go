package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// conform checks a value against the parts of JSON Schema that the schemas use.
func conform(t *testing.T, what, schemaText, valueText string) {
	t.Helper()
	var sc, value any
	if err := json.Unmarshal([]byte(schemaText), &sc); err != nil {
		t.Fatalf("%s: schema %q: %v", what, schemaText, err)
	}
	if err := json.Unmarshal([]byte(valueText), &value); err != nil {
		t.Fatalf("%s: %q: %v", what, valueText, err)
	}
	if m, ok := value.(map[string]any); ok {
		if _, refused := m["error"].(map[string]any); refused {
			t.Fatalf("%s: %s", what, valueText)
		}
	}
	if err := check(sc.(map[string]any), value, what); err != nil {
		t.Error(err)
	}
}

func check(sc map[string]any, v any, path string) error {
	if len(sc) == 0 {
		return nil // anything
	}
	if want, ok := sc["type"]; ok && !isOf(want, v) {
		return fmt.Errorf("%s: %v is not of type %v", path, v, want)
	}
	if words, ok := sc["enum"].([]any); ok && !slices.Contains(words, v) {
		return fmt.Errorf("%s: %v is none of %v", path, v, words)
	}
	if list, ok := v.([]any); ok {
		for i, item := range list {
			if err := check(sc["items"].(map[string]any), item, fmt.Sprint(path, ".", i)); err != nil {
				return err
			}
		}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if names, ok := sc["required"].([]any); ok {
		for _, name := range names {
			if _, ok := object[name.(string)]; !ok {
				return fmt.Errorf("%s: %v is missing", path, name)
			}
		}
	}
	if ways, ok := sc["anyOf"].([]any); ok && !slices.ContainsFunc(ways, func(way any) bool { return check(way.(map[string]any), v, path) == nil }) {
		return fmt.Errorf("%s: is none of %v", path, ways)
	}
	if sc["type"] == nil {
		return nil // only says what is required
	}
	return checkMembers(sc, object, path)
}

func checkMembers(sc, object map[string]any, path string) error {
	members, _ := sc["properties"].(map[string]any)
	for name, v := range object {
		member, ok := members[name].(map[string]any)
		if !ok {
			// A reply has no members that its schema does not know, although it would be allowed to.
			if _, isMap := sc["additionalProperties"].(map[string]any); isMap {
				continue
			}
			return fmt.Errorf("%s: %s is not in the schema", path, name)
		}
		if err := check(member, v, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func isOf(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return isOf(w, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && v == float64(int64(v))
	case []any:
		return want == "array"
	default:
		return want == "object"
	}
}
