package web

import (
	"encoding/json"
	"github.com/carillon-io/carillon/api/apitest"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// description is the description of the HTTP API, as a document that schemas in it refer to.
var description = sync.OnceValues(func() (*apitest.Checker, error) {
	text, err := openAPIDocument()
	if err != nil {
		return nil, err
	}
	c := &apitest.Checker{}
	return c, json.Unmarshal(text, &c.Root)
})

func theDescription(t testing.TB) *apitest.Checker {
	t.Helper()
	c, err := description()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func asSchema(t testing.TB, text []byte) map[string]any {
	t.Helper()
	sc, ok := apitest.Decoded(t, string(text)).(map[string]any)
	if !ok {
		t.Fatalf("%s is no schema", text)
	}
	return sc
}

// described checks an answer against the description: its status is one that the operation has, by itself and
// not as any other, and its body is as the description says. All answers of all tests come through here.
func (r webReply) described(t testing.TB, method, path string) {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, apiRoot) {
		return
	}
	route, _, _ := theRouter.match(method, u.EscapedPath())
	if route == nil || method == http.MethodHead {
		return
	}
	doc := theDescription(t)
	op, err := doc.Follow("#/paths")
	if err != nil {
		t.Fatal(err)
	}
	op = op[apiRoot+route.path].(map[string]any)[strings.ToLower(route.method)].(map[string]any)
	answer, ok := op["responses"].(map[string]any)[strconv.Itoa(r.status)].(map[string]any)
	if !ok {
		t.Errorf("%s %s: the description of %s has no status %d: %.300s", method, path, op["operationId"], r.status, r.body)
		return
	}
	if ref, ok := answer["$ref"].(string); ok {
		if answer, err = doc.Follow(ref); err != nil {
			t.Fatal(err)
		}
	}
	content, _ := answer["content"].(map[string]any)
	if content == nil {
		if r.body != "" {
			t.Errorf("%s %s: %d has a body that is not described: %.300s", method, path, r.status, r.body)
		}
		return
	}
	sc := content["application/json"].(map[string]any)["schema"].(map[string]any)
	if err := doc.Check(sc, apitest.Decoded(t, r.body), ""); err != nil {
		t.Errorf("%s %s: %d: %v in %.2000s", method, path, r.status, err, r.body)
	}
	headers, _ := answer["headers"].(map[string]any)
	for _, name := range []string{"Location", "ETag", "Retry-After"} {
		if _, known := headers[name]; !known && r.header.Get(name) != "" && r.status != http.StatusNotModified {
			t.Errorf("%s %s: %d has a header %s that is not described", method, path, r.status, name)
		}
	}
}
