package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
)

// goodRequests are requests that say much, one for each verb. What they name need not be there.
var goodRequests = map[string]string{
	"jobs.put":          wholeJob[:len(wholeJob)-1] + `,"if_version":9}`,
	"jobs.put_many":     `{"jobs":[` + wholeJob + `]}`,
	"jobs.get":          `{"name":"missing"}`,
	"jobs.list":         `{"prefix":"n","labels":{"a":"b"},"status":"active","limit":10,"contains":"n","target":"a","last_run":"failed"}`,
	"jobs.delete":       `{"name":"missing","if_version":1}`,
	"jobs.pause":        `{"name":"missing","reason":"because","if_version":1}`,
	"jobs.resume":       `{"name":"missing","reason":"because","if_version":1}`,
	"jobs.trigger":      `{"name":"missing","payload":[1],"idempotency_key":"k","if_version":1}`,
	"jobs.backfill":     `{"name":"missing","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`,
	"runs.get":          `{"run_id":"0000000000007-1764576000123"}`,
	"runs.list":         `{"job":"missing","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","status":"dead","attempts":true,"limit":10}`,
	"runs.report":       `{"run_id":"0000000000007-1764576000123","fence":1,"status":"succeeded","result":"r"}`,
	"runs.extend":       `{"run_id":"0000000000007-1764576000123","fence":1,"by":"1m"}`,
	"runs.cancel":       `{"run_id":"0000000000007-1764576000123"}`,
	"runs.retry":        `{"run_id":"0000000000007-1764576000123"}`,
	"runs.retry_many":   `{"job":"missing","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`,
	"runs.dismiss":      `{"run_id":"0000000000007-1764576000123","reason":"because"}`,
	"runs.dismiss_many": `{"job":"missing","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1,"reason":"because"}`,
	"calendars.put":     `{"name":"days","exclude":["2026-12-25"],"description":"d"}`,
	"calendars.get":     `{"name":"missing"}`,
	"calendars.list":    `{"limit":1}`,
	"calendars.delete":  `{"name":"missing"}`,
	"audit.list":        `{"name":"missing","action":"update","by":"a","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`,
	"schedules.next":    `{"schedules":["@daily"],"exclude":["2026-12-25"],"timezone":"UTC","count":1,"after":"2026-01-01T00:00:00Z"}`,
	"status":            `{}`,
	"whoami":            `{}`,
}

// place is a member of a request, with the part of the schema that is about it.
type place struct {
	path     []string
	schema   map[string]any
	required bool
}

// TestSchemasMeanWhatTheySay takes each bound that a schema of a request has, and each object in it: the server
// refuses what is beyond the bound, or unknown, and does not refuse what is at the bound. So the schemas refuse
// neither more nor less than the server.
func TestSchemasMeanWhatTheySay(t *testing.T) {
	w := startReal(t)
	w.must("calendars.put", `{"name":"days","exclude":["2026-12-24"]}`)
	for _, verb := range slices.Sorted(maps.Keys(w.schemas)) {
		good := goodRequests[verb]
		text := w.schemas[verb]["request_schema"]
		if err := apitest.Conforms(text, good); err != nil {
			t.Errorf("%s %s: %v", verb, good, err)
			continue
		}
		var sc map[string]any
		if err := json.Unmarshal([]byte(text), &sc); err != nil {
			t.Fatal(err)
		}
		for _, p := range placesOf(sc, sc, nil) {
			w.beyond(verb, text, good, p)
		}
	}
}

// placesOf lists the members of an object, and of the objects in it.
func placesOf(root, sc map[string]any, path []string) (list []place) {
	members, _ := sc["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member := members[name].(map[string]any)
		at := append(slices.Clone(path), name)
		list = append(list, place{at, member, slices.Contains(listOf(sc["required"]), any(name))})
		ref, _ := member["$ref"].(string)
		if ways, ok := member["anyOf"].([]any); ok { // of a reference and null
			ref, _ = ways[0].(map[string]any)["$ref"].(string)
		}
		if ref != "" {
			of := root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			list = append(list, placesOf(root, of, at)...)
		}
	}
	if sc["additionalProperties"] == false {
		list = append(list, place{path: append(slices.Clone(path), "nothing")})
	}
	return list
}

// beyond tries the bounds of one member.
func (w *realWorld) beyond(verb, text, good string, p place) {
	bad := beyondOf(p.schema)
	if p.required {
		bad = append(bad, nil)
	}
	for _, bad := range bad {
		request := replaced(w.t, good, p.path, bad)
		if apitest.Conforms(text, request) == nil {
			w.t.Errorf("%s %.200s: conforms", verb, request)
		}
		if reply, refused := w.ask(verb, request); !refused {
			w.t.Errorf("%s: %v at %v was accepted: %.200s", verb, short(bad), p.path, reply)
		} else if field := fieldOf(reply); !strings.HasPrefix(field, strings.Join(p.path, ".")) {
			w.t.Errorf("%s: %v at %v was refused for %q: %s", verb, short(bad), p.path, field, reply)
		}
	}
	for _, edge := range edgesOf(p.schema) {
		request := replaced(w.t, good, p.path, edge)
		if err := apitest.Conforms(text, request); err != nil {
			w.t.Errorf("%s %.200s: %v", verb, request, err)
		}
		reply, refused := w.ask(verb, request)
		if refused && fieldOf(reply) == strings.Join(p.path, ".") && !isOfState(string(reply)) {
			w.t.Errorf("%s: %v at %v is within its bounds, and was refused: %s", verb, short(edge), p.path, reply)
		}
	}
}

// isOfState reports whether a refusal is about what is there, or about another member, and not about a bound.
func isOfState(reply string) bool {
	return slices.ContainsFunc([]string{`"not_found"`, `"version_conflict"`, "with missed_run_policy", "belong to a target of kind"},
		func(part string) bool { return strings.Contains(reply, part) })
}

// beyondOf are values that a schema refuses by one of its words each; for a member that is not in the schema any.
func beyondOf(sc map[string]any) (bad []any) {
	if sc == nil {
		return []any{1.0}
	}
	if _, ok := sc["enum"]; ok {
		bad = append(bad, "odd")
	}
	if n, ok := sc["maximum"].(float64); ok {
		bad = append(bad, n+1)
	}
	if n, ok := sc["minimum"].(float64); ok {
		bad = append(bad, n-1)
	}
	if n, ok := sc["maxLength"].(float64); ok {
		bad = append(bad, strings.Repeat("a", int(n)+1))
	}
	if n, ok := sc["minLength"].(float64); ok {
		bad = append(bad, strings.Repeat("a", int(n)-1))
	}
	if _, ok := sc["pattern"]; ok {
		bad = append(bad, "a b")
	}
	if n, ok := sc["maxItems"].(float64); ok {
		bad = append(bad, itemsOf(sc, int(n)+1))
	}
	if n, ok := sc["maxProperties"].(float64); ok {
		bad = append(bad, pairsOf(int(n)+1))
	}
	return bad
}

// edgesOf are values at the bounds of a schema.
func edgesOf(sc map[string]any) (edges []any) {
	for _, word := range listOf(sc["enum"]) {
		if word != nil && word != "handler" { // which is for programs that embed the engine
			edges = append(edges, word)
		}
	}
	for _, bound := range []string{"minimum", "maximum"} {
		if n, ok := sc[bound].(float64); ok {
			edges = append(edges, n)
		}
	}
	if n, ok := sc["maxProperties"].(float64); ok {
		edges = append(edges, pairsOf(int(n)))
	}
	return edges
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// itemsOf is a list of so many items, which are jobs or dates.
func itemsOf(sc map[string]any, n int) any {
	items := sc["items"].(map[string]any)
	if _, jobs := items["$ref"]; jobs {
		return slices.Repeat([]any{map[string]any{}}, n)
	}
	return slices.Repeat([]any{"2026-12-25"}, n)
}

func pairsOf(n int) any {
	pairs := map[string]any{}
	for i := range n {
		pairs[fmt.Sprint("k", i)] = "v"
	}
	return pairs
}

// replaced is a request with another value at a path.
func replaced(t *testing.T, request string, path []string, value any) string {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(request), &root); err != nil {
		t.Fatal(err)
	}
	at := root
	for _, name := range path[:len(path)-1] {
		at = at[name].(map[string]any)
	}
	at[path[len(path)-1]] = value
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fieldOf(reply []byte) string {
	var e struct{ Error struct{ Field string } }
	_ = json.Unmarshal(reply, &e)
	return e.Error.Field
}

func short(v any) string { return fmt.Sprintf("%.40v", v) }
