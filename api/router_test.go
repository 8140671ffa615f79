package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestEachVerbHasARoute: a verb without a route would panic in a router, and no service of another kind has one.
func TestEachVerbHasARoute(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(routes)), slices.Sorted(maps.Keys(verbsByName)); !slices.Equal(got, want) {
		t.Errorf("routes of %v; want %v", got, want)
	}
}

// TestRouterBadInput: what must be refused is refused in the same way, whichever node and shard gets it.
func TestRouterBadInput(t *testing.T) {
	c := startShards(t, 4, Options{}, 4<<20)
	testBadInput(t, c.url, "carillon")
}

// conversation is a series of requests, each with the verb. $RUN is the id of the last run of a reply.
func conversation() [][2]string {
	var list [][2]string
	add := func(verb, body string) { list = append(list, [2]string{verb, body}) }
	add("calendars.put", `{"name":"days","exclude":["2026-12-25"],"description":"Off."}`)
	add("calendars.put", `{"name":"days","exclude":["2026-12-26"]}`)
	add("calendars.get", `{"name":"days"}`)
	add("calendars.list", ``)
	add("schedules.next", `{"schedule":"0 8 * * *","exclude":["@calendar days"],"after":"2026-12-24T00:00:00Z","count":3}`)
	for i := range 12 {
		name := fmt.Sprintf(`"job-%d"`, i)
		add("jobs.put", apitest.JobWith("name", name, "labels", fmt.Sprintf(`{"n":"%d"}`, i%2), "exclude", `["@calendar days"]`))
		add("jobs.get", `{"name":`+name+`}`)
		add("jobs.put", apitest.JobWith("name", name, "if_version", "7"))
		add("jobs.pause", `{"reason":"because","name":`+name+`}`)
		add("jobs.resume", `{"name":`+name+`,"if_version":3}`)
		add("jobs.trigger", `{"payload":{"name":"other"},"name":`+name+`,"idempotency_key":"k"}`)
		add("runs.get", `{"run_id":"$RUN"}`)
		add("runs.cancel", `{"run_id":"$RUN"}`)
		add("runs.retry", `{"run_id":"$RUN"}`)
		add("runs.report", `{"run_id":"$RUN","fence":1,"status":"succeeded"}`)
		add("runs.extend", `{"run_id":"$RUN","fence":1,"by":"1m"}`)
		add("runs.dismiss", `{"run_id":"$RUN"}`)
		add("jobs.backfill", `{"name":`+name+`,"from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","dry_run":true}`)
		add("runs.list", `{"limit":5,"job":`+name+`}`)
	}
	for _, body := range []string{``, `{"limit":5}`, `{"labels":{"n":"1"}}`, `{"prefix":"job-1"}`, `{"contains":"0"}`, `{"status":"paused"}`, `{"partial":true}`} {
		add("jobs.list", body)
	}
	add("calendars.delete", `{"name":"days"}`) // jobs refer to it
	add("calendars.get", `{"name":"days"}`)
	for i := range 12 {
		add("jobs.delete", fmt.Sprintf(`{"n\u0061me":"job-%d"}`, i))
	}
	add("jobs.delete", `{"name":"job-0"}`)
	add("calendars.delete", `{"name":"days"}`)
	add("calendars.delete", `{"name":"days"}`)
	add("jobs.list", ``)
	add("audit.list", `{"limit":1000}`)
	add("audit.list", `{"action":"put_calendar"}`)
	add("runs.list", `{"status":"dead"}`)
	add("runs.retry_many", ``)
	add("runs.dismiss_many", `{"reason":"known"}`)
	return list
}

var runIDs = regexp.MustCompile(`"run_id":"([^"]+)"`)

// TestRouterIsLikeOneEngine has the same conversation with one engine, and with a cluster through alternating nodes.
func TestRouterIsLikeOneEngine(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	_, url := startService(t, startMixed(t), Options{}, 0)
	one := apitest.Connect(t, url)
	var run, sharded string
	settled := func(verb, id string, ask func(verb, body string) string) {
		if verb == "jobs.trigger" {
			testkit.Until(t, "the run ends", func() bool { return strings.Contains(ask("runs.get", `{"run_id":"`+id+`"}`), "succeeded") })
		}
	}
	for i, x := range conversation() {
		want := askText(t, one, x[0], strings.ReplaceAll(x[1], "$RUN", run))
		body := strings.ReplaceAll(x[1], "$RUN", sharded)
		var got string
		switch i % 3 {
		case 0, 1:
			got = c.askOver(i%3, x[0], body)
		default:
			got = c.ask(x[0], body)
		}
		if m := runIDs.FindStringSubmatch(want); m != nil && x[0] == "jobs.trigger" {
			run = m[1]
			sharded = runIDs.FindStringSubmatch(got)[1]
			settled(x[0], run, func(verb, body string) string { return askText(t, one, verb, body) })
			settled(x[0], sharded, c.ask)
		}
		if got, want := leveled(t, x[0], got, sharded), leveled(t, x[0], want, run); got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", x[0], x[1], got, want)
		}
	}
}

// leveled returns a reply without what differs between two servers. Over HTTP the asker has a name.
func leveled(t *testing.T, verb, text, run string) string {
	if run != "" {
		text = strings.ReplaceAll(text, run, "RUN")
	}
	text = strings.NewReplacer(`"by":"eve"`, `"by":""`, `"from":"http"`, `"from":"nats"`, `"status_by":"eve"`, `"status_by":""`).Replace(plain(t, text))
	if verb == "audit.list" { // the detail of a trigger is the id of its run; entries of one millisecond come in any order
		text = regexp.MustCompile(`"detail":"[0-9a-z]{13}-[^"]*"`).ReplaceAllString(text, `"detail":"RUN"`)
		entries := strings.Split(text, "},{")
		slices.Sort(entries)
		text = strings.Trim(strings.Join(entries, "},{"), "{}")
	}
	text = regexp.MustCompile(`at fence [0-9]+`).ReplaceAllString(text, "at fence")
	if verb == "jobs.trigger" { // it may have ended already
		text = regexp.MustCompile(`"(status|attempt)":("[a-z]*"|[0-9])`).ReplaceAllString(text, "")
	}
	return text
}

// TestRouterPutMany registers good and bad jobs: the results are in the order of the request.
func TestRouterPutMany(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	_, url := startService(t, startMixed(t), Options{}, 0)
	one := apitest.Connect(t, url)
	var jobs []string
	for i := range 1000 {
		switch i % 10 {
		case 3:
			jobs = append(jobs, apitest.JobWith("name", fmt.Sprintf(`"job-%d"`, i), "schedule", `"@never"`))
		case 5:
			jobs = append(jobs, []string{`7`, `{}`, `{"name":7}`, `{"schedule":"x","name":"late"}`, `null`, `"text"`}[i/10%6])
		case 7:
			jobs = append(jobs, apitest.JobWith("name", fmt.Sprintf(`"job-%d"`, i-1))) // again
		default:
			jobs = append(jobs, apitest.JobWith("name", fmt.Sprintf(`"job-%d"`, i)))
		}
	}
	whole := `{"jobs":[` + strings.Join(jobs, " , ") + `]}`
	for i, body := range []string{
		whole, `{"jobs":[]}`, `{}`, `{"jobs":null}`, `{"jobs":7}`, `{"jobs":[],"more":1}`, `[]`, `{"jobs":[{"name":"a"}`, `{"jobs":[{"name":"a",}]}`,
		`{"jobs":[{"name":"a","name":"b"}]}`, `{"jobs":[{"target":{"kind":"nats","kind":"nats"}}]}`, `{"jobs":[]} x`, `{"jobs":[{"name":"a"},{"labels":{"x":` + "\xff" + `}}]}`,
		`{"jobs":[` + strings.Repeat(`1,`, 2048) + `1]}`,
	} {
		want := askText(t, one, "jobs.put_many", body)
		got := c.askOver(i%2, "jobs.put_many", body)
		if e := refusalIn(t, want); e != nil && e.Code == client.CodeInvalidJSON {
			if r := refusalIn(t, got); r == nil || r.Code != e.Code || r.Field != e.Field {
				t.Errorf("%.60s: got %s; want %s", body, got, want)
			}
		} else if plain(t, got) != plain(t, want) {
			t.Errorf("%.60s:\n got %.2000s\nwant %.2000s", body, got, want)
		}
	}
}

// TestRouterPutManyReplyFits: the refusals of many shards together are shortened like those of one.
func TestRouterPutManyReplyFits(t *testing.T) {
	const size = 64 << 10
	c := startShards(t, 4, Options{}, size)
	_, url := startService(t, startMixed(t), Options{}, size)
	one := apitest.Connect(t, url)
	var jobs []string
	for i := range size / bulkReplyBytes {
		jobs = append(jobs, fmt.Sprintf(`{"name":"%0100d","zzz":1}`, i))
	}
	body := `{"jobs":[` + strings.Join(jobs, ",") + `]}`
	want := askText(t, one, "jobs.put_many", body)
	if got := c.ask("jobs.put_many", body); got != want || !strings.Contains(got, "…") {
		t.Errorf("got %.2000s\nwant %.2000s", got, want)
	}
}

// TestRouterDiscovery: of a cluster of shards only the routers are found as services.
func TestRouterDiscovery(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	sub, err := c.nc.SubscribeSync(c.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.nc.PublishRequest("$SRV.INFO", sub.Subject, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := sub.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var info micro.Info
		if err := json.Unmarshal(m.Data, &info); err != nil || info.Name != "carillon" || info.Endpoints[0].Subject != "carillon.v1.*.jobs.put" {
			t.Errorf("%s, %v", m.Data, err)
		}
	}
	if m, err := sub.NextMsg(100 * time.Millisecond); err == nil {
		t.Errorf("a third service answers: %s", m.Data)
	}
}

// TestRouterOptions: a router has several shards.
func TestRouterOptions(t *testing.T) {
	nc := apitest.Connect(t, apitest.StartNATS(t, 0))
	for _, count := range []int{0, 1, 3, 512} {
		if _, err := NewRouter(nc, &process{count: count}, Options{}); err == nil {
			t.Errorf("a router for %d shards", count)
		}
	}
}

// refusalIn returns the refusal in a reply; nil if it is none.
func refusalIn(t testing.TB, text string) *client.Error {
	t.Helper()
	var reply client.ErrorReply
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return reply.Error
}
