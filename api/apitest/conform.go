package apitest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Conform checks a value against a schema.
func Conform(t testing.TB, what, schemaText, valueText string) {
	t.Helper()
	if err := Conforms(schemaText, valueText); err != nil {
		t.Errorf("%s: %v in %.2000s", what, err, valueText)
	}
}

// Conforms checks a text of JSON against a schema. A reply may have no members that its schema does not know,
// although the schema allows them: those would be of a later version.
func Conforms(schemaText, valueText string) error {
	var sc map[string]any
	if err := json.Unmarshal([]byte(schemaText), &sc); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	var value any
	if err := json.Unmarshal([]byte(valueText), &value); err != nil {
		return err
	}
	return (&Checker{Root: sc}).Check(sc, value, "")
}

// Checker knows the parts of JSON Schema that the schemas use, and no others: one that uses another fails. It is
// written here because a library for the whole of JSON Schema would be a dependency of tests only, and would allow
// keywords that the generators of clients do not know. Root is the document in which references are looked up.
type Checker struct{ Root map[string]any }

// Keywords are what a schema may say: those that are checked, and those that only inform. A keyword that is not
// among them fails the check, so that no schema promises what is not tested.
var Keywords = []string{
	"$ref", "$defs", "type", "enum", "const", "anyOf", "required", "properties", "additionalProperties", "items", "minLength", "maxLength",
	"pattern", "format", "minimum", "maximum", "minItems", "maxItems", "uniqueItems", "maxProperties", "contentEncoding",
	"description", "examples", "readOnly",
}

// Check checks a value against a schema in the document; path is where the value is, for the error.
func (c *Checker) Check(sc map[string]any, v any, path string) error {
	for word := range sc {
		if !slices.Contains(Keywords, word) {
			return fmt.Errorf("%s: the schema says %q, which is not checked", path, word)
		}
	}
	if ref, ok := sc["$ref"].(string); ok {
		to, err := c.Follow(ref)
		if err != nil {
			return err
		}
		return c.Check(to, v, path)
	}
	if want, ok := sc["type"]; ok && !IsOf(want, v) {
		return fmt.Errorf("%s: %v is not of type %v", path, v, want)
	}
	if words, ok := sc["enum"].([]any); ok && !slices.Contains(words, v) {
		return fmt.Errorf("%s: %v is none of %v", path, v, words)
	}
	if want, ok := sc["const"]; ok && want != v {
		return fmt.Errorf("%s: %v is not %v", path, v, want)
	}
	// One of the ways is enough; why the others do not fit is of no interest.
	if ways, ok := sc["anyOf"].([]any); ok && !slices.ContainsFunc(ways, func(way any) bool { return c.Check(way.(map[string]any), v, path) == nil }) {
		return fmt.Errorf("%s: %v is none of %v", path, v, ways)
	}
	switch v := v.(type) {
	case string:
		return checkText(sc, v, path)
	case float64:
		return checkRange64(sc, v, path)
	case []any:
		return c.checkList(sc, v, path)
	case map[string]any:
		return c.checkObject(sc, v, path)
	}
	return nil
}

// Follow returns the schema that a reference names.
func (c *Checker) Follow(ref string) (map[string]any, error) {
	at := any(c.Root)
	// A part that is missing leaves nil, which the check behind the loop reports.
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		object, _ := at.(map[string]any)
		at = object[part]
	}
	sc, ok := at.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("there is no %s", ref)
	}
	return sc, nil
}

// checkText checks a text. Lengths count characters, as JSON Schema does, and not bytes.
func checkText(sc map[string]any, v, path string) error {
	n := float64(utf8.RuneCountInString(v))
	if most, ok := sc["maxLength"].(float64); ok && n > most {
		return fmt.Errorf("%s: %.40q has %g characters, more than %g", path, v, n, most)
	}
	if least, ok := sc["minLength"].(float64); ok && n < least {
		return fmt.Errorf("%s: %q has %g characters, fewer than %g", path, v, n, least)
	}
	if pattern, ok := sc["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
		return fmt.Errorf("%s: %q does not match %s", path, v, pattern)
	}
	// The only format that the schemas use.
	if sc["format"] == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if sc["contentEncoding"] == "base64" {
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// checkRange64 checks a number against its bounds, which are inclusive.
func checkRange64(sc map[string]any, v float64, path string) error {
	if least, ok := sc["minimum"].(float64); ok && v < least {
		return fmt.Errorf("%s: %g is less than %g", path, v, least)
	}
	if most, ok := sc["maximum"].(float64); ok && v > most {
		return fmt.Errorf("%s: %g is more than %g", path, v, most)
	}
	return nil
}

// checkList checks the number of items and each of them.
func (c *Checker) checkList(sc map[string]any, v []any, path string) error {
	if most, ok := sc["maxItems"].(float64); ok && float64(len(v)) > most {
		return fmt.Errorf("%s: has %d items, more than %g", path, len(v), most)
	}
	// A schema without items allows any, and so leaves nothing to check in them.
	items, ok := sc["items"].(map[string]any)
	if !ok {
		return nil
	}
	for i, item := range v {
		if err := c.Check(items, item, fmt.Sprint(path, ".", i)); err != nil {
			return err
		}
	}
	return nil
}

// checkObject checks members. It is stricter than the schema: a member that the schema does not describe is an
// error, even where the schema allows further ones.
func (c *Checker) checkObject(sc, v map[string]any, path string) error {
	for _, name := range AsList(sc["required"]) {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s: %v is missing", path, name)
		}
	}
	if most, ok := sc["maxProperties"].(float64); ok && float64(len(v)) > most {
		return fmt.Errorf("%s: has %d members, more than %g", path, len(v), most)
	}
	members, hasMembers := sc["properties"].(map[string]any)
	others, hasOthers := sc["additionalProperties"].(map[string]any)
	if !hasMembers && !hasOthers {
		return nil // any object, or only what is required of one
	}
	for name, value := range v {
		member, ok := members[name].(map[string]any)
		if !ok {
			member, ok = others, hasOthers
		}
		if !ok {
			return fmt.Errorf("%s: %s is not in the schema", path, name)
		}
		if err := c.Check(member, value, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// AsList returns a list of a decoded document; nil if the value is none.
func AsList(v any) []any {
	list, _ := v.([]any)
	return list
}

// IsOf reports whether a value has a type, or one of several, as a schema names them. An integer is any number
// without a fraction, because decoding makes floats of all numbers.
func IsOf(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return IsOf(w, v) })
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

// Decoded decodes a text of JSON.
func Decoded(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	return v
}
