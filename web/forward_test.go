package web

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// pair is a leader and a standby on one NATS server, each with its gateway.
type pair struct {
	leader, standby *webWorld
	executor        *api.Executor // of the leader
	nc              *nats.Conn
}

// startPair runs a leader in front of an engine, and a standby in front of an empty one.
func startPair(t *testing.T, engine api.Engine, leader, standby api.Options, maxPayload int32) *pair {
	t.Helper()
	p := &pair{}
	leader.Leads = func() bool { return true }
	first, url := serve(t, engine, leader, maxPayload)
	p.nc = apitest.Connect(t, url)
	standby.Standby, standby.Logger = true, apitest.Quiet
	standby.Cluster = func() *client.Cluster { return &client.Cluster{Node: "b", Holder: "a", Role: "standby", Lag: 7} }
	nc := apitest.Connect(t, url)
	second, err := api.NewService(nc, apitest.StartEngine(t), standby)
	if err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, second.Close)
	p.executor = first.Executor()
	p.leader = startWeb(t, Options{Executor: first.Executor, Node: leader.Node, Access: leader.Access}, nil)
	p.standby, _ = startPages(t, Options{Executor: second.Executor, Node: standby.Node, Access: standby.Access})
	return p
}

// changing are the parts of replies that differ between two equal runs of the same steps.
var changing = regexp.MustCompile(`,"next_launch_at":"[^"]+"|"(id|run_id|next_cursor)":"[^"]+"|\d{4}-\d\d-\d\dT[0-9:.]+Z|"(lateness_ms|duration_ms)":[0-9.]+|"fence":\d+`)

// ofRun are the requests whose replies show the run that was triggered, which goes on by itself.
var ofRun = regexp.MustCompile(`^GET .*runs|/trigger$|^DELETE jobs`)

// told returns what a reply tells, without the changing parts if masked is true.
func (r webReply) told(masked bool) string {
	h := r.header.Clone()
	h.Del("Date")
	body := r.body
	if masked {
		h.Del("Content-Length")
		body = changing.ReplaceAllString(body, "")
	}
	return fmt.Sprintf("%d %v %s", r.status, h, body)
}

// TestForwardedRoutes goes through every route at a leader, and through every route at a standby of another one: the
// replies are the same, except what each node says about itself.
func TestForwardedRoutes(t *testing.T) {
	direct, _ := startWebOf(t, deskWithEntry(t), api.Options{})
	p := startPair(t, deskWithEntry(t), api.Options{}, api.Options{}, 4<<20)
	asked, want := walkRoutes(t, direct)
	_, got := walkRoutes(t, p.standby)
	for i := range want {
		if ofRun.MatchString(asked[i]) {
			got[i].body, want[i].body = "", ""
		}
		if asked[i] != "GET status" && asked[i] != "GET whoami" && got[i].told(true) != want[i].told(true) {
			t.Errorf("%s of the standby: %s\nwant %s", asked[i], got[i].told(true), want[i].told(true))
		}
	}
	if n := p.executor.Counts().Verbs["jobs.put"]; n.Took["forwarded"].Count != 4 || n.Took["http"].Count != 0 {
		t.Errorf("the leader counts %+v", n)
	}
}

// TestForwardedRefusals asks a leader and its standby for what is refused, conditional, or large: every reply is the
// same to the last byte.
func TestForwardedRefusals(t *testing.T) {
	p := startPair(t, apitest.StartEngine(t), api.Options{}, api.Options{}, 4<<20)
	p.standby.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-", "description", `"é\u0001 \"x\""`), "Carillon-By: alice")
	for _, c := range []struct{ method, path, body, header string }{
		{"GET", "jobs/a", "", ""}, {"GET", "jobs/a", "", `If-None-Match: "1"`}, {"GET", "jobs/a", "", `If-None-Match: "2"`},
		{"HEAD", "jobs/a", "", ""}, {"GET", "jobs", "", ""}, {"GET", "jobs?limit=0", "", ""}, {"GET", "jobs?odd=1", "", ""},
		{"GET", "jobs/unknown", "", ""}, {"GET", "audit", "", ""}, {"PATCH", "jobs/a", "", ""}, {"GET", "jobs/%ff", "", ""},
		{"PUT", "jobs/a", "{", ""}, {"PUT", "jobs/a", `{"odd":1}`, ""}, {"PUT", "jobs/a", apitest.JobWith("name", "-", "schedule", `"61 * * * *"`), ""},
		{"PUT", "jobs/a", apitest.JobWith("name", "-"), `If-Match: "9"`}, {"PUT", "jobs/a", apitest.JobWith("name", "-"), "If-None-Match: *"},
		{"PUT", "jobs/a", apitest.JobWith("name", "-", "if_version", "9"), ""}, {"PUT", "jobs/a", apitest.JobWith("name", "-"), "Content-Type: text/plain"},
		{"PUT", "jobs/a", apitest.JobWith("name", "-", "description", `"`+strings.Repeat("x", 2000)+`"`), ""},
		{"PUT", "jobs/a", strings.Repeat(" ", 1<<20+1), ""}, {"DELETE", "jobs/a", "", `If-Match: "9"`}, {"DELETE", "jobs/unknown", "", ""},
		{"POST", "jobs/a/trigger", "", "Idempotency-Key: " + strings.Repeat("k", 200)}, {"POST", "jobs/a/trigger", "", `If-Match: "9"`},
		{"POST", "runs/1/report", `{"fence":1,"status":"succeeded"}`, ""}, {"POST", "runs/zzz/cancel", "", ""},
		{"POST", "jobs/a/pause", "", "Carillon-By: " + strings.Repeat("x", 200)}, {"POST", "jobs/a/pause", "", "Carillon-Run-Id: 1"},
		{"POST", "jobs/a/pause", "", "Carillon-Tenant: a b"}, {"POST", "jobs/a/pause", "", "Origin: https://evil.example"},
		{"PUT", "calendars/c", `{"exclude":["odd"]}`, ""}, {"GET", "schedules/next?schedule=odd", "", ""},
	} {
		what := c.method + " " + c.path + " " + c.header
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		want, got := p.leader.ask(c.method, apiRoot+c.path, c.body, headers...), p.standby.ask(c.method, apiRoot+c.path, c.body, headers...)
		if got.told(false) != want.told(false) {
			t.Errorf("%s of the standby: %s\nwant %s", what, got.told(false), want.told(false))
		}
		if want.status == 503 || want.status == 500 {
			t.Errorf("%s: %s", what, want.told(false))
		}
	}
}

// TestForwardedActor checks that the leader's audit log has the caller of the standby, and the way in which it came.
func TestForwardedActor(t *testing.T) {
	p := startPair(t, apitest.StartEngine(t), api.Options{}, api.Options{}, 0)
	p.standby.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-"), "Carillon-By:  Ålice \"<ops>\" @ci ", "Carillon-Tenant: acme")
	p.standby.ask("POST", "/jobs.put", apitest.JobWith("name", `"b"`), "Carillon-By: bob")
	if got := p.leader.ask("GET", "/api/v1/audit", "", "Carillon-Tenant: acme").body; !strings.Contains(got, `"by":"Ålice \"<ops>\" @ci","from":"http"`) {
		t.Errorf("the audit log of the leader: %s", got)
	}
	if got := p.leader.ask("GET", "/api/v1/audit", "").body; !strings.Contains(got, `"by":"bob","from":"dashboard"`) {
		t.Errorf("of a page: %s", got)
	}
	// A page of the standby reads what that node has itself.
	if got := p.standby.ask("POST", "/jobs.get", `{"name":"b"}`); got.status != 404 {
		t.Errorf("the page read from the leader: %d %s", got.status, got.body)
	}
}

// TestForwardedBulk registers as much at once as HTTP takes, over a NATS server that carries less in a message.
func TestForwardedBulk(t *testing.T) {
	key := []byte("of the nodes")
	p := startPair(t, apitest.StartEngine(t), api.Options{ForwardKey: key}, api.Options{ForwardKey: key}, 1<<20)
	var jobs []string
	for i := range 2000 {
		jobs = append(jobs, apitest.JobWith("name", fmt.Sprintf(`"j%d"`, i), "payload", `"`+strings.Repeat("x", 1800)+`"`))
	}
	body := `{"jobs":[` + strings.Join(jobs, ",") + `]}`
	body += strings.Repeat(" ", bulkBytesMax-len(body))
	got := p.standby.ask("POST", "/api/v1/jobs/bulk", body)
	if got.status != 200 || !strings.Contains(got.body, `"accepted":2000,"rejected":0`) {
		t.Errorf("%d %.300s", got.status, got.body)
	}
	p.standby.ask("POST", "/api/v1/jobs/bulk", body+" ").refused(t, "a byte more", 413, client.CodeTooLarge, "")
	if got := p.standby.ask("GET", "/api/v1/jobs/j1999", ""); got.status != 200 {
		t.Errorf("the last job: %d %s", got.status, got.body)
	}
	// A single job as large as HTTP takes does not fit into a message either.
	single := apitest.JobWith("name", "-")
	single += strings.Repeat(" ", singleBytesMax-len(single))
	if got := p.standby.ask("PUT", "/api/v1/jobs/single", single); got.status != 201 {
		t.Errorf("a large body: %d %.300s", got.status, got.body)
	}
}

// TestForwardToHangingLeader asks a standby whose leader does not go on: the caller of a read learns, in time, that there
// is no answer, and the leader ends first.
func TestForwardToHangingLeader(t *testing.T) {
	engine := &stuck{apitest.StartEngine(t), make(chan struct{}), make(chan struct{})}
	p := startPair(t, engine, api.Options{}, api.Options{RequestTimeout: 200 * time.Millisecond}, 0)
	begun := time.Now()
	answered := make(chan webReply)
	go func() { answered <- p.standby.ask("GET", "/api/v1/jobs/a", "") }()
	<-engine.began
	got := <-answered
	got.refused(t, "a leader that hangs", 503, client.CodeUnavailable, "")
	if took := time.Since(begun); !strings.Contains(got.body, "no answer in time") && !strings.Contains(got.body, "has not answered in time") || strings.Contains(got.body, "unknown") || took > 5*time.Second {
		t.Errorf("after %s: %s", took, got.body)
	}
	engine.end <- struct{}{}
	go func() { <-engine.began; engine.end <- struct{}{} }()
	if got := p.standby.ask("GET", "/api/v1/jobs/a", ""); got.status != 404 {
		t.Errorf("after it went on: %d %s", got.status, got.body)
	}
}

// TestForwardedFlood fills the gate of a leader through its standby, and the gate of the standby: both refuse more.
func TestForwardedFlood(t *testing.T) {
	for what, c := range map[string]struct{ leader, standby int }{"leader": {1, 0}, "standby": {0, 1}} {
		engine := &stuck{apitest.StartEngine(t), make(chan struct{}), make(chan struct{})}
		p := startPair(t, engine, api.Options{RequestsMax: c.leader}, api.Options{RequestsMax: c.standby}, 0)
		first := make(chan webReply)
		go func() { first <- p.standby.ask("GET", "/api/v1/jobs/a", "") }()
		<-engine.began
		for range 20 {
			p.standby.ask("GET", "/api/v1/jobs/b", "").refused(t, "the full "+what, 429, client.CodeRateLimited, "")
		}
		engine.end <- struct{}{}
		if got := <-first; got.status != 404 {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
		if got := p.standby.ask("GET", "/api/v1/jobs", ""); got.status != 200 {
			t.Errorf("%s, after the flood: %d %s", what, got.status, got.body)
		}
	}
}
