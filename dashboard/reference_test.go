package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/web"
)

// TestReference: the page has each operation and each type of the server's document, and each of its links leads
// somewhere on it.
func TestReference(t *testing.T) {
	document, err := web.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	content, err := renderReference(document)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	ids := make(map[string]int)
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("the id %s stands twice", m[1])
		}
	}
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	for _, m := range links {
		if ids[m[1]] != 1 {
			t.Errorf("the link #%s leads nowhere", m[1])
		}
	}
	var doc struct {
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(document, &doc); err != nil || len(doc.Paths) < 20 || len(links) < 100 {
		t.Fatalf("%d paths, %d links, %v", len(doc.Paths), len(links), err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if method != "head" && ids[op.OperationID] != 1 {
				t.Errorf("%s %s is missing", method, path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if ids["type-"+name] != 1 {
			t.Errorf("the type %s is missing", name)
		}
	}
}

// TestReferenceOfMember: what the table says of a member, from the schema that demands it.
func TestReferenceOfMember(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"text", `{"type":"string","maxLength":128}`, "string|At most 128 characters."},
		{"text or null", `{"type":["string","null"]}`, "string|"},
		{"number", `{"type":"integer","minimum":1,"maximum":1000}`, "integer|1 to 1,000."},
		{"number without an end", `{"type":"integer","minimum":0,"maximum":4294967295}`, "integer|"},
		{"time", `{"type":["string","null","null"],"format":"date-time"}`, "time|"},
		{"list of a type", `{"type":"array","items":{"$ref":"#/components/schemas/Run"},"maxItems":9}`, "list of Run|At most 9 entries."},
		{"values", `{"enum":[null,"","skip"],"type":["string","null"]}`, "string|skip"},
		{"object", `{"type":"object","additionalProperties":{"type":"string"}}`, "object, values: string|"},
		{"closed object", `{"type":["string","object"],"additionalProperties":false,"properties":{"secret":{}}}`, "string or {secret}|"},
	} {
		var s apiSchema
		if err := json.Unmarshal([]byte(c.schema), &s); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		m := memberOf("m", &s, false)
		if got := m.Type.Before + m.Type.Ref + "|" + m.About + strings.Join(m.Values, " "); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// TestReferenceOfForeignDocument: what a document says is shown as text, and a broken one is an error.
func TestReferenceOfForeignDocument(t *testing.T) {
	content, err := renderReference([]byte(`{"paths":{"/<b>":{"get":{"operationId":"a\"b","summary":"<script>alert(1)</script>"}}}}`))
	if err != nil || strings.Contains(string(content), "<script>") || strings.Contains(string(content), "<b>") {
		t.Errorf("%v, %s", err, content)
	}
	for _, broken := range []string{"", "[]", `{"paths":{"/":{"get":{"parameters":[{"$ref":"#/components/parameters/None"}]}}}}`} {
		if _, err := renderReference([]byte(broken)); err == nil {
			t.Errorf("%s is rendered", broken)
		}
	}
	_, err = newReference(nil).content()
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusNotFound {
		t.Errorf("without a document: %v", err)
	}
}
