package api

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// openAPI is the part of the description that tests look at.
type openAPI struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []map[string]any
		RequestBody struct {
			Content map[string]struct {
				Schema  json.RawMessage
				Example json.RawMessage
			}
		}
		Responses map[string]map[string]any
	}
	Components map[string]map[string]json.RawMessage
}

func readOpenAPI(t *testing.T, w *webWorld) (d openAPI) {
	t.Helper()
	got := w.ask("GET", "/api/v1/openapi.json", "")
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || got.status != 200 {
		t.Fatalf("%d %.300s: %v", got.status, got.body, err)
	}
	for _, behind := range strings.Split(got.body, `"$ref":"#/components/`)[1:] {
		place, _, _ := strings.Cut(behind, `"`)
		kind, name, _ := strings.Cut(place, "/")
		if d.Components[kind][name] == nil {
			t.Errorf("there is no %s", place)
		}
	}
	return d
}

// TestOpenAPI holds the description of the API against the server: each operation that it has is answered,
// each route is in it, and its examples are good requests, whose replies are as it says.
func TestOpenAPI(t *testing.T) {
	engine := newDesk(t)
	w, _ := startWebOf(t, engine, Options{})
	d := readOpenAPI(t, w)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("version %s", d.OpenAPI)
	}
	ids, operations := make(map[string]bool), 0
	for i := range routes {
		r := &routes[i]
		op, ok := d.Paths[httpRoot+r.path][strings.ToLower(r.method)]
		if !ok || op.OperationID == "" || ids[op.OperationID] || op.Responses["200"] == nil {
			t.Errorf("%s %s: described %t as %q", r.method, r.path, ok, op.OperationID)
			continue
		}
		ids[op.OperationID] = true
		body := ""
		if r.hasBody() {
			content := op.RequestBody.Content["application/json"]
			body = string(content.Example)
			conform(t, r.method+" "+r.path, string(content.Schema), body)
		}
		w.tryExample(t, d, r, body)
	}
	for _, methods := range d.Paths {
		operations += len(methods)
	}
	if operations != len(routes) {
		t.Errorf("%d operations, and %d routes", operations, len(routes))
	}
}

// tryExample sends the example of a route, about a job, a calendar or a run that is there.
func (w *webWorld) tryExample(t *testing.T, d openAPI, r *route, body string) {
	name := "reports/daily"
	if r.member() == "run_id" {
		name = deskRun.ID.String()
	}
	switch {
	case strings.HasPrefix(r.path, "jobs/{"):
		w.ask("PUT", pathTo("jobs", name), exampleSameJob)
	case strings.HasPrefix(r.path, "calendars/{"):
		w.ask("PUT", pathTo("calendars", name), exampleCalendar)
	}
	path := httpRoot + strings.ReplaceAll(r.path, "{"+r.member()+"}", url.PathEscape(name))
	switch r.verb {
	case "runs.get":
		return // the desk's run is not in the engine; TestRoutes gets one that is
	case "runs.list":
		path += "?status=dead"
	case "schedules.next":
		path += "?schedule=@daily"
	}
	got := w.ask(r.method, path, body)
	if got.status != 200 && got.status != 201 {
		t.Errorf("%s %s: %d %.300s", r.method, path, got.status, got.body)
	}
	if v := verbsByName[r.verb]; v != nil {
		sc, err := json.Marshal(v.replySchema())
		if err != nil {
			t.Fatal(err)
		}
		described := d.Paths[httpRoot+r.path][strings.ToLower(r.method)].Responses["200"]["content"].(map[string]any)["application/json"].(map[string]any)["schema"]
		to, _ := described.(map[string]any)["$ref"].(string)
		if shown := d.Components["schemas"][strings.TrimPrefix(to, "#/components/schemas/")]; !sameJSON(t, shown, sc) {
			t.Errorf("%s %s: the reply is described by %s", r.method, path, to)
		}
		conform(t, r.method+" "+path, string(sc), got.body)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("%s or %s is no JSON", a, b)
	}
	first, err1 := json.Marshal(x)
	second, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(first) == string(second)
}

// TestOpenAPIParameters checks that all that a verb may be asked for has its place: in the path, the query
// or the body.
func TestOpenAPIParameters(t *testing.T) {
	d := readOpenAPI(t, startWeb(t, HTTPOptions{}, nil))
	for i := range routes {
		r := &routes[i]
		v := verbsByName[r.verb]
		if v == nil || r.hasBody() {
			continue
		}
		var have []string
		for _, p := range d.Paths[httpRoot+r.path][strings.ToLower(r.method)].Parameters {
			if name, ok := p["name"].(string); ok {
				have = append(have, strings.Replace(name, "label", "labels", 1))
			} else if p["$ref"] == "#/components/parameters/IfMatch" {
				have = append(have, "if_version")
			}
		}
		for member := range v.requestSchema()["properties"].(schema) {
			if !slices.Contains(have, member) {
				t.Errorf("%s %s has no parameter %s", r.method, r.path, member)
			}
		}
	}
	if job.NameBytesMax*3+len(httpRoot) > httpHeaderBytes {
		t.Error("the path of the longest name does not fit a request")
	}
}
