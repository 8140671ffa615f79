package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/client"
)

// TestServiceInfo asks the service what it has, as `nats micro info` does, and holds real requests and
// replies of every verb against the schemas.
func TestServiceInfo(t *testing.T) {
	_, url := startService(t, startEngine(t), Options{Version: "v1.2.3"}, 0)
	nc := connect(t, url)
	var info micro.Info
	ask(t, nc, "$SRV.INFO.carillon", "", &info)
	if info.Name != "carillon" || info.Version != "1.2.3" || len(info.Endpoints) != len(verbs) {
		t.Fatalf("info: %s %s, %d endpoints", info.Name, info.Version, len(info.Endpoints))
	}
	schemas := make(map[string]map[string]string)
	for _, e := range info.Endpoints {
		verb, _ := strings.CutPrefix(e.Subject, "carillon.v1.*.")
		schemas[verb] = e.Metadata
	}
	run := ""
	for _, x := range examples() {
		request := strings.ReplaceAll(x.request, "$RUN", run)
		reply := ask(t, nc, "carillon.v1.default."+x.verb, request, nil)
		if got := (struct {
			Run struct {
				ID string `json:"run_id"`
			}
		}{}); json.Unmarshal(reply, &got) == nil && got.Run.ID != "" {
			run = got.Run.ID
		}
		conform(t, x.verb+" request", schemas[x.verb][metaRequest], request)
		conform(t, x.verb+" reply", schemas[x.verb][metaResponse], string(reply))
		delete(schemas, x.verb)
	}
	if len(schemas) > 0 {
		t.Errorf("verbs without an example: %v", schemas)
	}
	testServiceStats(t, nc)
}

func testServiceStats(t *testing.T, nc *nats.Conn) {
	ask(t, nc, "carillon.v1.default.jobs.get", `{}`, nil)
	var stats micro.Stats
	ask(t, nc, "$SRV.STATS.carillon", "", &stats)
	at := slices.IndexFunc(stats.Endpoints, func(e *micro.EndpointStats) bool { return e.Name == "jobs-get" })
	if at < 0 || !strings.Contains(string(stats.Endpoints[at].Data), `"invalid_name":1`) {
		t.Errorf("stats: %s", stats.Endpoints[max(at, 0)].Data)
	}
}

// ask sends a request and decodes the reply, if it is to go anywhere.
func ask(t *testing.T, nc *nats.Conn, subject, body string, into any) []byte {
	t.Helper()
	msg, err := nc.Request(subject, []byte(body), 5*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	if into != nil {
		if err := json.Unmarshal(msg.Data, into); err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
	}
	return msg.Data
}

// example is a good request. They build upon each other.
type example struct{ verb, request string }

func examples() []example {
	return []example{
		{"jobs.put", jobWith("payload", `{"a":1}`, "if_version", "0", "starts_at", "null", "overlap_policy", "null", "retry", `{"max_age":"7d"}`)},
		{"jobs.put_many", `{"jobs":[` + jobWith() + `,{"name":"bad"}]}`},
		{"jobs.get", `{"name":"new"}`},
		{"jobs.list", `{"prefix":"n","labels":{},"limit":10}`},
		{"jobs.pause", `{"name":"new","reason":"because"}`},
		{"jobs.resume", `{"name":"new"}`},
		{"jobs.trigger", `{"name":"new","payload":[1],"idempotency_key":"k"}`},
		{"jobs.backfill", `{"name":"new","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`},
		{"runs.get", `{"run_id":"$RUN"}`},
		{"runs.list", `{"job":"new","from":"2024-01-01T00:00:00Z","limit":10}`},
		{"schedules.next", `{"schedule":"30 2 * * *","timezone":"Europe/Berlin","after":"2026-03-28T00:00:00Z","count":3}`},
		{"status", `{}`},
		{"jobs.delete", `{"name":"new"}`},
	}
}

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
	if m, ok := value.(map[string]any); ok && m["error"] != nil {
		t.Fatalf("%s: %s", what, valueText)
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

func TestSemanticVersions(t *testing.T) {
	nc := connect(t, startNATS(t, 0))
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "0.1.0": "0.1.0", "dev": "0.0.0+dev", "v0.3.1-4-gabc123-dirty": "0.3.1-4-gabc123-dirty",
		"6399469": "0.0.0+6399469", "1.2": "0.0.0+1-2", "v1.0.0-rc1": "1.0.0-rc1",
	} {
		if got := semanticVersion(version); got != want {
			t.Errorf("%s became %s, want %s", version, got, want)
		}
		if _, err := micro.AddService(nc, micro.Config{Name: "x", Version: want}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestNextTellsOfDST(t *testing.T) {
	_, url := startService(t, startEngine(t), Options{}, 0)
	after := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	reply, err := newClient(t, url, client.Options{}).Next(t.Context(), client.NextRequest{
		Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Count: 2, After: client.At(after),
	})
	if err != nil || len(reply.Times) != 2 || len(reply.Notes) != 1 || reply.Times[0].String() != "2026-03-29T01:00:00.000Z" {
		t.Errorf("%+v, %v", reply, err)
	}
}
