package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// webStep is a request and what its reply must have.
type webStep struct {
	method, path, body string
	headers            []string
	status             int
	contains           string
	has                string // a header of the reply
}

// webSteps go through every route. They build upon each other.
func webSteps() []webStep {
	return []webStep{
		{method: "POST", path: "jobs", body: apitest.JobWith("name", `"a/b"`, "labels", `{"team":"x","env":"y=z"}`), status: 201, contains: `"created":true`, has: "Location: /api/v1/jobs/a%2Fb"},
		{method: "POST", path: "jobs", body: apitest.JobWith("name", `"a/b"`, "labels", `{"team":"x","env":"y=z"}`, "max_runs", "7"), status: 200, contains: `"created":false`, has: `ETag: "2"`},
		{method: "PUT", path: "jobs/plain", body: apitest.JobWith("name", "-"), status: 201, contains: `"name":"plain"`, has: "Location: /api/v1/jobs/plain"},
		{method: "PUT", path: "jobs/plain", body: apitest.JobWith("name", `"plain"`, "jitter", `"1s"`), status: 200, contains: `"version":2`, has: `ETag: "2"`},
		{method: "POST", path: "jobs/bulk", body: `{"jobs":[` + apitest.JobWith("name", `"c"`) + `,{}]}`, status: 200, contains: `"accepted":1,"rejected":1`},
		{method: "GET", path: "jobs/a/b", status: 200, contains: `"name":"a/b"`, has: `ETag: "2"`},
		{method: "GET", path: "jobs?label=team=x&label=env=y%3Dz", status: 200, contains: `{"jobs":[{"name":"a/b"`},
		{method: "GET", path: "jobs?prefix=pl&status=active&limit=1", status: 200, contains: `"name":"plain"`},
		{method: "GET", path: "jobs?contains=LAI", status: 200, contains: `"name":"plain"`},
		{method: "GET", path: "jobs?last_run=failed", status: 200, contains: `{"jobs":[]`},
		{method: "GET", path: "jobs?target=no.such.target", status: 200, contains: `{"jobs":[]`},
		{method: "POST", path: "jobs/a/b/pause", status: 200, contains: `"status":"paused"`, has: `ETag: "3"`},
		{method: "POST", path: "jobs/a%2Fb/pause", body: `{"reason":"down"}`, headers: []string{"Carillon-By: alice@ci"}, status: 200, contains: `"paused"`},
		{method: "POST", path: "jobs/a/b/resume", body: ` {"name":"a/b"} `, status: 200, contains: `"status":"active"`},
		{method: "POST", path: "jobs/a/b/trigger", headers: []string{"Idempotency-Key: k"}, status: 200, contains: `"manual":true`},
		{method: "POST", path: "jobs/a/b/backfill", body: `{"from":"2024-01-01T00:00:00Z","to":"2025-01-01T00:00:00Z","limit":1}`, status: 200, contains: `{"runs":1,"left_out":0}`},
		{method: "GET", path: "jobs/a/b/runs?limit=1&attempts=true&from=2024-01-01T00:00:00Z", status: 200, contains: `{"runs":[{`},
		{method: "GET", path: "runs?job=a/b&limit=1", status: 200, contains: `"next_cursor"`},
		{method: "GET", path: "runs?status=dead&attempts=false", status: 200, contains: apitest.DeskRun.ID.String()},
		{method: "POST", path: "runs/retry", status: 200, contains: `{"retried":5,"more":true}`},
		{method: "POST", path: "runs/dismiss", status: 200, contains: `{"dismissed":5,"more":true}`},
		{method: "POST", path: "runs/$DESK/dismiss", body: `{"reason":"known"}`, status: 200, contains: "$DESK"},
		{method: "POST", path: "runs/$DESK/report", body: `{"fence":4711,"status":"succeeded"}`, status: 200, contains: "$DESK"},
		{method: "POST", path: "runs/$DESK/extend", body: `{"fence":4711,"by":"5m"}`, status: 200, contains: `"deadline"`},
		{method: "POST", path: "runs/$DESK/cancel", status: 200, contains: "$DESK"},
		{method: "POST", path: "runs/$DESK/retry", body: `{}`, status: 200, contains: "$DESK"},
		{method: "GET", path: "runs/$RUN", status: 200, contains: `"run_id":"$RUN"`},
		{method: "PUT", path: "calendars/de/days", body: `{"exclude":["2026-12-25"]}`, status: 201, contains: `"name":"de/days"`, has: "Location: /api/v1/calendars/de%2Fdays"},
		{method: "GET", path: "calendars/de/days", status: 200, contains: `"2026-12-25"`, has: `ETag: "1"`},
		{method: "GET", path: "calendars?limit=1", status: 200, contains: `"calendars":[{`},
		{method: "DELETE", path: "calendars/de%2Fdays", status: 200, contains: `{"deleted":true}`},
		{method: "GET", path: "audit?name=reports/daily&limit=1&action=update", status: 200, contains: `{"entries":[{`},
		{method: "GET", path: "schedules/next?schedule=0+9+*+*+*&timezone=Europe/Berlin&count=2&exclude=2026-12-25&exclude=2026-12-26&after=2026-12-24T12:00:00Z", status: 200, contains: `["2026-12-27T08:00:00.000Z","2026-12-28T08:00:00.000Z"]`},
		{method: "GET", path: "schedules/next?schedules=@daily&schedules=@hourly", status: 200, contains: `{"times":[`},
		{method: "GET", path: "status", status: 200, contains: `"role"`},
		{method: "GET", path: "whoami", status: 200, contains: `{"open":true,"grants":[],"more_grants":0,"metrics":true,"server":{`},
		{method: "GET", path: "openapi.json", status: 200, contains: `"openapi":"3.1.0"`},
		{method: "DELETE", path: "jobs/a/b?tenant=default", status: 200, contains: `"deleted":true`},
		{method: "GET", path: "jobs/a/b", status: 404, contains: `"not_found"`},
	}
}

// TestRoutes goes through every route, and asks for whatever can be got for its head alone too.
func TestRoutes(t *testing.T) {
	w, _ := startWebOf(t, deskWithEntry(t), api.Options{})
	walkRoutes(t, w)
	served := make(map[string]bool)
	for _, r := range routes {
		served[r.verb] = true
	}
	for verb := range schemasOverNATS(t) {
		if !served[verb] {
			t.Errorf("%s has no route", verb)
		}
	}
}

// deskWithEntry returns a desk whose audit log has an entry.
func deskWithEntry(t *testing.T) *apitest.Desk {
	engine := apitest.NewDesk(t)
	engine.Entries = apitest.DeskEntries(1)
	return engine
}

// walkRoutes goes through every route, and returns the replies with what asked for them.
func walkRoutes(t *testing.T, w *webWorld) (asked []string, replies []webReply) {
	run, seen := "", make(map[*route]bool)
	for _, x := range webSteps() {
		names := strings.NewReplacer("$RUN", run, "$DESK", apitest.DeskRun.ID.String())
		path := apiRoot + names.Replace(x.path)
		plain, _, _ := strings.Cut(path, "?")
		r, _, _ := theRouter.match(x.method, plain)
		seen[r] = true
		reply := w.ask(x.method, path, x.body, x.headers...)
		asked, replies = append(asked, x.method+" "+x.path), append(replies, reply)
		if reply.status != x.status || !strings.Contains(reply.body, names.Replace(x.contains)) {
			t.Errorf("%s %s: %d %.400s; want %d with %s", x.method, path, reply.status, reply.body, x.status, x.contains)
		}
		if name, value, _ := strings.Cut(x.has, ": "); reply.header.Get(name) != value {
			t.Errorf("%s %s: %s is %q, want %q", x.method, path, name, reply.header.Get(name), value)
		}
		if x.method == http.MethodGet {
			head := w.ask(http.MethodHead, path, "")
			if head.status != x.status || head.body != "" || head.header.Get("ETag") != reply.header.Get("ETag") {
				t.Errorf("HEAD %s: %d, %q, %v", path, head.status, head.body, head.header)
			}
		}
		if r != nil && r.verb == "jobs.trigger" {
			var got client.RunReply
			if err := json.Unmarshal([]byte(reply.body), &got); err != nil {
				t.Fatal(err)
			}
			run = got.Run.RunID
		}
	}
	for i := range routes {
		if !seen[&routes[i]] {
			t.Errorf("nothing asks for %s %s", routes[i].method, routes[i].path)
		}
	}
	return asked, replies
}

// TestWebPages reads a list page by page with the cursors of its replies.
func TestWebPages(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	var want, got []string
	for _, name := range []string{"a", "b", "c/d", "e", "f"} {
		want = append(want, name)
		w.ask("PUT", pathTo("jobs", name), apitest.JobWith("name", "-", "labels", `{"all":"yes"}`))
	}
	for path := "/api/v1/jobs?limit=2&label=all=yes"; ; {
		var page client.JobPage
		if err := json.Unmarshal([]byte(w.ask("GET", path, "").body), &page); err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Jobs {
			got = append(got, j.Name)
		}
		if page.NextCursor == "" {
			break
		}
		path = "/api/v1/jobs?limit=2&label=all=yes&cursor=" + page.NextCursor
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestWebActor checks that the engine learns who asks and how, and whose jobs are meant.
func TestWebActor(t *testing.T) {
	engine := apitest.StartEngine(t)
	w, _ := startWebOf(t, engine, api.Options{})
	w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-"), "Carillon-By: alice@ci", "Carillon-Tenant: acme")
	w.ask("PUT", "/api/v1/jobs/b?tenant=beta", apitest.JobWith("name", "-"))
	audit := func(tenant string) []job.AuditEntry {
		page, err := engine.Audit(t.Context(), scheduler.AuditQuery{Tenant: tenant, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return page.Entries
	}
	if got := audit("acme"); len(got) != 1 || got[0].Actor != (job.Actor{By: "alice@ci", From: "http"}) || got[0].Name != "a" {
		t.Errorf("%+v", got)
	}
	if got := audit("beta"); len(got) != 1 || got[0].Actor != (job.Actor{From: "http"}) || got[0].Name != "b" {
		t.Errorf("%+v", got)
	}
	both := w.ask("GET", "/api/v1/jobs?tenant=beta", "", "Carillon-Tenant: acme")
	both.refused(t, "two tenants", 422, client.CodeInvalidField, "tenant")
	if got := w.ask("GET", "/api/v1/jobs?tenant=beta", "", "Carillon-Tenant: beta"); got.status != 200 {
		t.Errorf("the same tenant twice: %d %s", got.status, got.body)
	}
	bad := w.ask("GET", "/api/v1/jobs", "", "Carillon-By: "+strings.Repeat("x", 129))
	bad.refused(t, "a long name of somebody", 422, client.CodeInvalidField, "by")
}

// TestWebRequestsCount checks that requests over HTTP are in the counts of their verbs, with how they ended.
func TestWebRequestsCount(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	w := startWeb(t, Options{Executor: s.Executor}, nil)
	w.ask("GET", "/api/v1/jobs", "")
	w.ask("GET", "/api/v1/jobs/unknown", "")
	w.ask("GET", "/api/v1/jobs?limit=0", "")
	of := s.Executor().Counts().Verbs
	if lists := of["jobs.list"]; lists.Ended[""] != 1 || lists.Ended["invalid_field"] != 1 || lists.Took["http"].Count != 2 {
		t.Errorf("lists: %+v", lists)
	}
	if gets := of["jobs.get"]; gets.Ended["not_found"] != 1 || len(gets.Ended) != 1 {
		t.Errorf("gets: %+v", gets)
	}
}
