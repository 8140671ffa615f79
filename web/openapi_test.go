package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
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
	engine := apitest.NewDesk(t)
	w, _ := startWebOf(t, engine, api.Options{})
	d := readOpenAPI(t, w)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("version %s", d.OpenAPI)
	}
	ids, operations := make(map[string]bool), 0
	for i := range routes {
		r := &routes[i]
		op, ok := d.Paths[apiRoot+r.path][strings.ToLower(r.method)]
		if !ok || op.OperationID == "" || ids[op.OperationID] || op.Responses["200"] == nil {
			t.Errorf("%s %s: described %t as %q", r.method, r.path, ok, op.OperationID)
			continue
		}
		ids[op.OperationID] = true
		body := ""
		if r.hasBody() {
			content := op.RequestBody.Content["application/json"]
			body = string(content.Example)
			if err := theDescription(t).Check(asSchema(t, content.Schema), apitest.Decoded(t, body), ""); err != nil {
				t.Errorf("%s %s: %v in %s", r.method, r.path, err, body)
			}
		}
		w.tryExample(t, r, body)
		operations++
		if r.method == "GET" {
			operations++
			head, ok := d.Paths[apiRoot+r.path]["head"]
			if !ok || head.OperationID == "" || ids[head.OperationID] || strings.Contains(fmt.Sprint(head.Responses["200"]), "content") {
				t.Errorf("HEAD %s: described %t as %q, %s", r.path, ok, head.OperationID, head.Responses["200"])
			}
			ids[head.OperationID] = true
		}
	}
	described := 0
	for _, methods := range d.Paths {
		described += len(methods)
	}
	if operations != described {
		t.Errorf("%d operations are described, and %d are answered", described, operations)
	}
}

// tryExample sends the example of a route, about a job, a calendar or a run that is there.
func (w *webWorld) tryExample(t *testing.T, r *route, body string) {
	name := "reports/daily"
	if r.member() == "run_id" {
		name = apitest.DeskRun.ID.String()
	}
	switch {
	case strings.HasPrefix(r.path, "jobs/{"):
		w.ask("PUT", pathTo("jobs", name), exampleSameJob)
	case strings.HasPrefix(r.path, "calendars/{"):
		w.ask("PUT", pathTo("calendars", name), exampleCalendar)
	}
	path := apiRoot + strings.ReplaceAll(r.path, "{"+r.member()+"}", url.PathEscape(name))
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
}

// schemasOverNATS returns the schemas of the requests and replies of each verb, as the service describes itself.
func schemasOverNATS(t *testing.T) map[string]map[string]map[string]any {
	t.Helper()
	_, url := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	var info micro.Info
	apitest.Ask(t, apitest.Connect(t, url), "$SRV.INFO.carillon", "", &info)
	all := make(map[string]map[string]map[string]any)
	for _, e := range info.Endpoints {
		of := make(map[string]map[string]any)
		for _, key := range []string{"request_schema", "response_schema"} {
			of[key] = asSchema(t, []byte(e.Metadata[key]))
		}
		all[strings.TrimPrefix(e.Subject, "carillon.v1.*.")] = of
	}
	return all
}

// TestOneSource: the types in the description are those of the NATS service, and each is there in both.
func TestOneSource(t *testing.T) {
	d := readOpenAPI(t, startWeb(t, Options{}, nil))
	compared := 0
	compare := func(name string, sc any) {
		text, err := json.Marshal(sc)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("#/$defs/"), []byte("#/components/schemas/"))
		if shown := d.Components["schemas"][name]; shown == nil || !sameJSON(t, shown, text) {
			t.Errorf("%s is %s over HTTP, and %s over NATS", name, shown, text)
		}
		compared++
	}
	verbs := schemasOverNATS(t)
	for verb, of := range verbs {
		for name, sc := range map[string]map[string]any{"": of["request_schema"], reflect.TypeOf(api.VerbNamed(verb).Reply).Name(): of["response_schema"]} {
			defs, _ := sc["$defs"].(map[string]any)
			for part, of := range defs {
				compare(part, of)
			}
			if name != "" { // NATS has no other schema for a refusal
				ways := sc["anyOf"].([]any)
				compare(name, ways[0])
				compare("ErrorReply", ways[1])
			}
		}
	}
	if len(verbs) < 20 || compared < 2*len(verbs) {
		t.Errorf("only %d types of %d verbs were compared", compared, len(verbs))
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("%s or %s is no JSON", a, b)
	}
	return reflect.DeepEqual(x, y)
}

// TestOpenAPIParameters checks that all that a verb may be asked for has its place: in the path, the query
// or the body.
func TestOpenAPIParameters(t *testing.T) {
	d := readOpenAPI(t, startWeb(t, Options{}, nil))
	schemas := schemasOverNATS(t)
	for i := range routes {
		r := &routes[i]
		if r.verb == "" || r.hasBody() {
			continue
		}
		var have []string
		for _, p := range d.Paths[apiRoot+r.path][strings.ToLower(r.method)].Parameters {
			if name, ok := p["name"].(string); ok {
				have = append(have, strings.Replace(name, "label", "labels", 1))
			} else if p["$ref"] == "#/components/parameters/IfMatch" {
				have = append(have, "if_version")
			}
		}
		for member := range schemas[r.verb]["request_schema"]["properties"].(map[string]any) {
			if !slices.Contains(have, member) {
				t.Errorf("%s %s has no parameter %s", r.method, r.path, member)
			}
		}
	}
	if job.NameBytesMax*3+len(apiRoot) > headerBytesMax {
		t.Error("the path of the longest name does not fit a request")
	}
}
