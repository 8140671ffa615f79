package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestServiceInfo asks the service what it has, as `nats micro info` does, and holds real requests and
// replies of every verb against the schemas.
func TestServiceInfo(t *testing.T) {
	engine := apitest.NewDesk(t)
	engine.Entries = apitest.DeskEntries(1)
	_, url := startService(t, engine, Options{Node: Node{Version: "v1.2.3"}}, 0)
	nc := apitest.Connect(t, url)
	var info micro.Info
	apitest.Ask(t, nc, "$SRV.INFO.carillon", "", &info)
	if info.Name != "carillon" || info.Version != "1.2.3" || len(info.Endpoints) != len(verbs) {
		t.Fatalf("info: %s %s, %d endpoints", info.Name, info.Version, len(info.Endpoints))
	}
	schemas := make(map[string]map[string]string)
	for _, e := range info.Endpoints {
		verb, _ := strings.CutPrefix(e.Subject, "carillon.v1.*.")
		schemas[verb] = e.Metadata
	}
	run, seen := "", make(map[string]bool)
	for _, x := range examples() {
		request := strings.NewReplacer("$RUN", run, "$DESK", apitest.DeskRun.ID.String()).Replace(x.request)
		reply := apitest.Ask(t, nc, "carillon.v1.default."+x.verb, request, nil)
		if got := (struct {
			Run struct {
				ID string `json:"run_id"`
			}
		}{}); json.Unmarshal(reply, &got) == nil && got.Run.ID != "" {
			run = got.Run.ID
		}
		if apitest.Conforms(refusals(t), string(reply)) == nil {
			t.Errorf("%s %s: %s", x.verb, request, reply)
		}
		apitest.Conform(t, x.verb+" request", schemas[x.verb][metaRequest], request)
		apitest.Conform(t, x.verb+" reply", schemas[x.verb][metaResponse], string(reply))
		seen[x.verb] = true
	}
	for verb := range schemas {
		if !seen[verb] {
			t.Errorf("%s has no example", verb)
		}
	}
	testServiceStats(t, nc)
}

func testServiceStats(t *testing.T, nc *nats.Conn) {
	apitest.Ask(t, nc, "carillon.v1.default.jobs.get", `{}`, nil)
	var stats micro.Stats
	apitest.Ask(t, nc, "$SRV.STATS.carillon", "", &stats)
	at := slices.IndexFunc(stats.Endpoints, func(e *micro.EndpointStats) bool { return e.Name == "jobs-get" })
	if at < 0 || !strings.Contains(string(stats.Endpoints[at].Data), `"invalid_name":1`) {
		t.Fatalf("stats: %s", stats.Endpoints[max(at, 0)].Data)
	}
	e := stats.Endpoints[at]
	if e.NumRequests != 2 || e.NumErrors != 1 || e.LastError != "invalid_name" || e.ProcessingTime <= 0 || e.AverageProcessingTime != e.ProcessingTime/2 || stats.Started.IsZero() {
		t.Errorf("stats of jobs.get: %+v", e)
	}
	var ping micro.Ping
	apitest.Ask(t, nc, "$SRV.PING.carillon."+stats.ID, "", &ping)
	if ping.ID != stats.ID || ping.Type != micro.PingResponseType || ping.Metadata["prefix"] != "carillon" || ping.Version != "1.2.3" {
		t.Errorf("ping: %+v", ping)
	}
}

// refusals is the schema of a reply that refuses.
func refusals(t testing.TB) string {
	t.Helper()
	text, err := json.Marshal(refusalSchema())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example is a good request. They build upon each other.
type example struct{ verb, request string }

func examples() []example {
	return []example{
		{"jobs.put", apitest.JobWith("payload", `{"a":1}`, "if_version", "0", "starts_at", "null", "overlap_policy", "null", "retry", `{"max_age":"7d"}`)},
		{"jobs.put_many", `{"jobs":[` + apitest.JobWith() + `,` + apitest.JobWith("name", `"bad"`, "schedule", `"@never"`) + `]}`},
		{"jobs.get", `{"name":"new"}`},
		{"jobs.list", `{"prefix":"n","labels":{},"limit":10,"contains":"x","target":"a.b","last_run":"failed"}`},
		{"jobs.pause", `{"name":"new","reason":"because"}`},
		{"jobs.resume", `{"name":"new"}`},
		{"jobs.trigger", `{"name":"new","payload":[1],"idempotency_key":"k"}`},
		{"jobs.backfill", `{"name":"new","from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`},
		{"runs.get", `{"run_id":"$RUN"}`},
		{"runs.list", `{"job":"new","from":"2024-01-01T00:00:00Z","limit":10}`},
		{"schedules.next", `{"schedule":"30 2 * * *","timezone":"Europe/Berlin","after":"2026-03-28T00:00:00Z","count":3}`},
		{"status", `{}`},
		{"whoami", `{}`},
		{"jobs.delete", `{"name":"new"}`},
		{"runs.list", `{"status":"dead","attempts":true}`},
		{"runs.report", `{"run_id":"$DESK","fence":9007199254740991,"status":"succeeded","result":"5 rows","error":null}`},
		{"runs.report", `{"run_id":"$DESK","fence":4711,"status":"failed","error":"no rows"}`},
		{"runs.extend", `{"run_id":"$DESK","fence":4711,"by":"1h30m"}`},
		{"runs.cancel", `{"run_id":"$DESK"}`},
		{"runs.retry", `{"run_id":"$DESK"}`},
		{"runs.retry_many", `{}`},
		{"runs.dismiss", `{"run_id":"$DESK","reason":"known"}`},
		{"runs.dismiss_many", `{}`},
		{"runs.dismiss_many", `{"job":"reports/daily","from":"2025-12-01T00:00:00Z","to":"2025-12-02T00:00:00Z","limit":1000,"reason":"known"}`},
		{"runs.retry_many", `{"job":"reports/daily","from":"2025-12-01T00:00:00Z","to":"2025-12-02T00:00:00Z","limit":1000}`},
		{"calendars.put", `{"name":"holidays","exclude":["2026-12-25"],"description":"Days off."}`},
		{"calendars.get", `{"name":"holidays"}`},
		{"calendars.list", `{"limit":1}`},
		{"calendars.delete", `{"name":"holidays"}`},
		{"audit.list", `{"name":"reports/daily","action":"update","by":"alice@ci","from":"2025-12-01T00:00:00Z","limit":10}`},
	}
}

// TestSchemaKnowsWholeJobs holds jobs with every member against the schemas.
func TestSchemaKnowsWholeJobs(t *testing.T) {
	whole := apitest.WholeJob()
	text := string(appendJob(nil, masked(&whole), true))
	put := verbs[slices.IndexFunc(verbs, func(v Verb) bool { return v.name == "jobs.put" })]
	metadata, err := put.metadata()
	if err != nil {
		t.Fatal(err)
	}
	apitest.Conform(t, "jobs.put request", metadata[metaRequest], text) // what was got can be put again
	apitest.Conform(t, "jobs.put reply", metadata[metaResponse], `{"job":`+text+`,"created":false}`)
	if apitest.Conforms(metadata[metaRequest], `{"name":"a","target":{"kind":"nats"}}`) == nil {
		t.Error("a job without a schedule conforms")
	}
}

func TestSemanticVersions(t *testing.T) {
	nc := apitest.Connect(t, apitest.StartNATS(t, 0))
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
	_, url := startService(t, apitest.StartEngine(t), Options{}, 0)
	after := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	reply, err := apitest.NewClient(t, url, client.Options{}).Next(t.Context(), client.NextRequest{
		Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Count: 2, After: client.At(after),
	})
	if err != nil || len(reply.Times) != 2 || len(reply.Notes) != 1 || reply.Times[0].String() != "2026-03-29T01:00:00.000Z" {
		t.Errorf("%+v, %v", reply, err)
	}
}
