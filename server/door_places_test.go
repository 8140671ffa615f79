package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// stream opens the stream of a page of a tenant, and returns its status, its first line, and what ends it.
func (m *metered) stream(who, tenant string) (status int, text string, end func()) {
	m.t.Helper()
	return m.live(who, "/jobs?tenant="+tenant)
}

// live is stream for any page.
func (m *metered) live(who, page string) (status int, text string, end func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.Ready().HTTP+"/live?page="+url.QueryEscape(page), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+who)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(cancel)
	line, _ := bufio.NewReader(resp.Body).ReadString('\n')
	return resp.StatusCode, line, func() {
		cancel()
		resp.Body.Close()
	}
}

// TestLivePagesOfATenant opens as many streams of pages as the quota has, and then all places that there are.
func TestLivePagesOfATenant(t *testing.T) {
	m := startMetered(t, "streams: 2")
	_, _, end := m.stream("ana", "a")
	if status, text, _ := m.stream("ana", "a"); status != 200 {
		t.Fatalf("the second stream: %d %s", status, text)
	}
	if status, text, _ := m.stream("ana", "a"); status != 429 || !strings.Contains(text, "quota_exceeded") || !strings.Contains(text, "its quota of streams is 2") {
		t.Errorf("a third stream: %d %s", status, text)
	}
	if n := m.metric(`carillon_tenant_quota_use{quota="streams",shard="",tenant="a"}`); n != 2 {
		t.Errorf("%g streams are open, want 2", n)
	}
	if status, text, _ := m.stream("ana", "b"); status != 403 {
		t.Errorf("a stream of another tenant: %d %s", status, text)
	}
	end()
	testkit.Until(t, "a place is free", func() bool {
		status, _, _ := m.stream("ana", "a")
		return status == 200
	})
	m.write("")
	m.Reload()
	for n := range 80 { // 64 for all
		if status, text, _ := m.stream("ana", "a"); n < 60 && status != 200 || status != 200 && status != 503 {
			t.Fatalf("stream %d: %d %s", n, status, text)
		}
	}
	for n := range 32 {
		if status, text, _ := m.stream("bob", "b"); status != 200 {
			t.Fatalf("stream %d of another tenant: %d %s", n, status, text)
		}
	}
	if status, text, _ := m.stream("bob", "b"); status != 503 {
		t.Errorf("one more than its half: %d %s", status, text)
	}
}

// TestStreamsNeedARole opens streams of pages that can be read without a role in the tenant that their address names, and
// of pages that are not live: none counts for that tenant.
func TestStreamsNeedARole(t *testing.T) {
	m := startMetered(t, "streams: 2")
	for page, want := range map[string]int{
		"/?tenant=a": 403, "/?tenant=nobody": 403, "/": 200, "/?tenant=b": 200,
		"/sign-in?tenant=a": 404, "/playground?tenant=a": 404, "/sign-in?tenant=b": 404, "/playground?tenant=b": 404, "/audit?tenant=b": 404, "/new?tenant=b": 404,
	} {
		status, text, end := m.live("bob", page)
		if status != want {
			t.Errorf("%s: %d %s, want %d", page, status, text, want)
		}
		defer end()
	}
	if _, _, text := m.ask("bob", "GET", "/?tenant=a", ""); strings.Contains(text, "data-stream") {
		t.Error("the overview names a stream that is refused")
	}
	for n := range 2 {
		if status, text, _ := m.stream("ana", "a"); status != 200 {
			t.Errorf("stream %d of the tenant itself: %d %s", n, status, text)
		}
	}
}

// TestUnlistedTenantsShareStreams takes all places in the names of many tenants that the file of rights does not list: they
// are as one, so a tenant that it lists gets its half.
func TestUnlistedTenantsShareStreams(t *testing.T) {
	m := startMetered(t, "")
	for n := range 64 {
		if status, text, _ := m.stream("all", fmt.Sprintf("t%d", n)); status != 200 {
			t.Fatalf("stream %d: %d %s", n, status, text)
		}
	}
	if status, _, _ := m.stream("all", "t64"); status != 503 {
		t.Errorf("one more: %d, want 503", status)
	}
	for n := range 32 {
		if status, text, _ := m.stream("bob", "b"); status != 200 {
			t.Fatalf("stream %d of a tenant that is listed: %d %s", n, status, text)
		}
	}
}

// TestInFlightOfATenant triggers more runs than a tenant may have in flight: they wait, and those of another tenant do not.
func TestInFlightOfATenant(t *testing.T) {
	m := startMetered(t, "in_flight: 2")
	nc := m.connect()
	var now, most atomic.Int64
	let := make(chan struct{})
	begun := make(chan string, 100)
	_, err := nc.Subscribe("work.>", func(msg *nats.Msg) {
		if strings.HasPrefix(msg.Subject, "work.a") {
			n := now.Add(1)
			most.Store(max(n, most.Load())) // one goroutine
		}
		begun <- msg.Subject
		go func() {
			<-let
			if strings.HasPrefix(msg.Subject, "work.a") {
				now.Add(-1)
			}
			_ = msg.Respond(nil)
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"a", "b"} {
		for n := range 5 { // each at a target of its own
			put := fmt.Sprintf(`{"name":"j%d","schedule":"@yearly","target":{"kind":"request","subject":"work.%s.%d"}}`, n, tenant, n)
			if got := m.over(nc, tenant, "jobs.put", put); !strings.Contains(string(got.Data), `"created":true`) {
				t.Fatalf("%s", got.Data)
			}
			if got := m.over(nc, tenant, "jobs.trigger", fmt.Sprintf(`{"name":"j%d"}`, n)); got.Header.Get("Nats-Service-Error") != "" {
				t.Fatalf("%s", got.Data)
			}
		}
	}
	of := map[byte]int{}
	for range 7 {
		of[(<-begun)[len("work.")]]++
	}
	if of['a'] != 2 || of['b'] != 5 {
		t.Errorf("%d and %d runs are in flight, want 2 and 5", of['a'], of['b'])
	}
	if n := m.metric(`carillon_tenant_quota_use{quota="in_flight",shard="",tenant="a"}`); n != 2 {
		t.Errorf("%g attempts are in flight, want 2", n)
	}
	close(let)
	for range 3 {
		<-begun
	}
	if n := most.Load(); n > 2 {
		t.Errorf("%d runs of the tenant were in flight at a time", n)
	}
}

// TestCalendarsOfATenant puts more calendars than a tenant may have, over HTTP and NATS.
func TestCalendarsOfATenant(t *testing.T) {
	m := startMetered(t, "calendars: 1")
	nc := m.connect()
	const body = `{"exclude":["2026-01-06"]}`
	if status, _, text := m.ask("ana", "PUT", "/api/v1/calendars/one", body); status != 200 && status != 201 {
		t.Fatalf("the first: %d %s", status, text)
	}
	if status, _, text := m.ask("ana", "PUT", "/api/v1/calendars/two", body); status != 429 || !strings.Contains(text, "has 1 calendars, and may have 1") {
		t.Errorf("a second over HTTP: %d %s", status, text)
	}
	if got := m.over(nc, "a", "calendars.put", `{"name":"three","exclude":["2026-01-06"]}`); !strings.Contains(string(got.Data), "quota_exceeded") {
		t.Errorf("a second over NATS: %s", got.Data)
	}
	if status, _, text := m.ask("bob", "PUT", "/api/v1/calendars/two", body); status != 200 && status != 201 {
		t.Errorf("another tenant: %d %s", status, text)
	}
	if n := m.metric(`carillon_tenant_quota_use{quota="calendars",shard="",tenant="a"}`); n != 1 {
		t.Errorf("the gauge has %g calendars, want 1", n)
	}
	m.write("calendars: 2")
	m.Reload()
	if status, _, text := m.ask("ana", "PUT", "/api/v1/calendars/two", body); status != 200 && status != 201 {
		t.Errorf("a second with a higher quota: %d %s", status, text)
	}
}

// TestFloodRefusesItsTenant sends noise of one tenant without waiting for replies, far more than there are places: each
// request of another tenant is carried out meanwhile, and the flood itself is refused.
func TestFloodRefusesItsTenant(t *testing.T) {
	m := startMetered(t, "")
	flood, nc := m.connect(), m.connect()
	var limited atomic.Int64
	_, err := flood.Subscribe("_INBOX.flood", func(msg *nats.Msg) {
		if msg.Header.Get("Nats-Service-Error-Code") == "429" {
			limited.Add(1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	noise := 40_000
	if testing.Short() {
		noise = 10_000 // the race detector makes each ten times as slow, and a request has ten seconds
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := range noise {
			verb := []string{"jobs.put", "jobs.get", "jobs.put_many", "jobs.list", "nonsense"}[n%5]
			if flood.PublishRequest("carillon.v1.a."+verb, "_INBOX.flood", []byte(`{"jobs":[{{{`)) != nil {
				return
			}
		}
		_ = flood.Flush()
	}()
	for n := 0; ; n++ {
		name := fmt.Sprint("j", n)
		if got := m.over(nc, "b", "jobs.put", `{"name":"`+name+`","schedule":"@yearly","target":{"kind":"nats","subject":"out"}}`); !strings.Contains(string(got.Data), `"created":true`) {
			t.Fatalf("%s", got.Data)
		}
		if got := m.over(nc, "b", "jobs.get", `{"name":"`+name+`"}`); got.Header.Get("Nats-Service-Error") != "" {
			t.Fatalf("%s", got.Data)
		}
		if got := m.over(nc, "b", "jobs.put_many", `{"jobs":[{"name":"bulk","schedule":"@yearly","target":{"kind":"nats","subject":"out"}}]}`); !strings.Contains(string(got.Data), `"accepted":1`) {
			t.Fatalf("%s", got.Data)
		}
		select {
		case <-over:
			testkit.Until(t, "a refusal has come", func() bool { return limited.Load() > 0 })
			return
		default:
		}
	}
}
