package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestSchemasAreAsStrictAsTheServer tries values in the members of requests that the schema bounds: what the schema
// refuses the server refuses, and what the schema takes the server takes. Each reply conforms to the schema of replies.
func TestSchemasAreAsStrictAsTheServer(t *testing.T) {
	engine := apitest.NewDesk(t)
	engine.Entries = apitest.DeskEntries(1)
	_, url := startService(t, engine, Options{}, 0)
	nc := apitest.Connect(t, url)
	apitest.Ask(t, nc, "carillon.v1.default.jobs.put", apitest.JobWith("name", `"a"`), nil)
	target := func(members string) string { return apitest.JobWith("target", `{`+members+`}`) }
	texts := []string{`""`, `null`, `"x"`, `"X"`, `5`, `[]`}
	for _, c := range []struct {
		verb    string
		request func(value string) string
		values  []string
	}{
		{"jobs.put", func(v string) string { return target(`"kind":` + v + `,"subject":"a"`) }, []string{`"nats"`, `"request"`, `"jetstream"`, `"handler"`}},
		{"jobs.put", func(v string) string { return target(`"kind":"handler","name":` + v) }, nil},
		{"jobs.put", func(v string) string { return target(`"kind":"http","url":"https://example.com/","method":` + v) }, []string{`"POST"`, `"PUT"`, `"GET"`, `"post"`}},
		{"jobs.put", func(v string) string { return target(`"kind":"nats","subject":"a","url":"","method":` + v) }, nil},
		{"jobs.put", func(v string) string { return apitest.JobWith("completion", v) }, []string{`"delivered"`}},
		{"jobs.put", func(v string) string { return apitest.JobWith("overlap_policy", v) }, []string{`"allow"`, `"cancel_other"`}},
		{"jobs.put", func(v string) string { return apitest.JobWith("missed_run_policy", v) }, []string{`"skip"`, `"backfill"`}},
		{"jobs.put", func(v string) string { return apitest.JobWith("payload_omitted", v) }, []string{`true`, `false`}},
		{"jobs.list", func(v string) string { return `{"status":` + v + `}` }, []string{`"active"`, `"failed"`}},
		{"runs.list", func(v string) string { return `{"job":"a","status":` + v + `}` }, []string{`"dead"`, `"skipped"`}},
		{"audit.list", func(v string) string { return `{"action":` + v + `}` }, []string{`"update"`}},
		{"jobs.trigger", func(v string) string { return `{"name":"a","idempotency_key":` + v + `}` }, nil},
		{"jobs.pause", func(v string) string { return `{"name":"a","if_version":` + v + `}` }, []string{`0`}},
		{"runs.report", func(v string) string {
			return `{"run_id":"` + apitest.DeskRun.ID.String() + `","fence":4711,"status":` + v + `}`
		}, []string{`"succeeded"`, `"failed"`}},
	} {
		for _, value := range append(c.values, texts...) {
			request := c.request(value)
			if value == "null" && strings.Contains(request, `"payload_omitted"`) {
				continue // unknown members are refused whatever they are
			}
			metadata, err := VerbNamed(c.verb).metadata()
			if err != nil {
				t.Fatal(err)
			}
			reply := apitest.Ask(t, nc, "carillon.v1.default."+c.verb, request, nil)
			apitest.Conform(t, "reply of "+c.verb, metadata[metaResponse], string(reply))
			says := apitest.Conforms(metadata[metaRequest], request)
			if isRefused := strings.HasPrefix(string(reply), `{"error"`); isRefused != (says != nil) && !isOfAValue(reply) {
				t.Errorf("%s %s: the schema says %v, the server %s", c.verb, request, says, reply)
			}
		}
	}
}

// isOfAValue reports whether a refusal is about something that no schema can express: that a thing does not exist, or
// not now.
func isOfAValue(reply []byte) bool {
	var e client.ErrorReply
	if json.Unmarshal(reply, &e) != nil || e.Error == nil {
		return false
	}
	return e.Error.Code == client.CodeNotFound || e.Error.Code == client.CodeStaleFence || e.Error.Code == client.CodeRunOver || e.Error.Code == client.CodeVersionConflict
}

// TestRefusalsConform: a refusal of each verb conforms to the schema of the replies of that verb.
func TestRefusalsConform(t *testing.T) {
	_, url := startService(t, apitest.NewDesk(t), Options{}, 0)
	nc := apitest.Connect(t, url)
	for i := range verbs {
		metadata, err := verbs[i].metadata()
		if err != nil {
			t.Fatal(err)
		}
		reply := apitest.Ask(t, nc, "carillon.v1.default."+verbs[i].name, `{"zzz":1}`, nil)
		if apitest.Conform(t, verbs[i].name, metadata[metaResponse], string(reply)); apitest.Conforms(refusals(t), string(reply)) != nil {
			t.Errorf("%s: %s", verbs[i].name, reply)
		}
	}
}

// TestPayloadOmittedIsExplained: a job that a list shows without its payload is refused with what to do.
func TestPayloadOmittedIsExplained(t *testing.T) {
	_, url := startService(t, apitest.NewDesk(t), Options{}, 0)
	var e client.ErrorReply
	apitest.Ask(t, apitest.Connect(t, url), "carillon.v1.default.jobs.put", apitest.JobWith("payload_omitted", "true"), &e)
	if e.Error == nil || e.Error.Code != client.CodeUnknownField || e.Error.Field != "payload_omitted" || !strings.Contains(e.Error.Message, "jobs.get") {
		t.Error(fmt.Sprint(e.Error))
	}
}
