package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// metered is a server with the tenants a and b, a with a quota. The principals ana and bob are admins of one of them, and
// all is one of the cluster; the token of each is its name.
type metered struct {
	t    *testing.T
	path string // of the file of rights
	*server.Server
}

func startMetered(t *testing.T, quota string) *metered {
	t.Helper()
	m := &metered{t: t, path: filepath.Join(t.TempDir(), "auth.yaml")}
	m.write(quota)
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth = m.path
	m.Server = startWith(t, o)
	return m
}

// write writes the file of rights with a quota of the tenant a.
func (m *metered) write(quota string) {
	m.t.Helper()
	text := "tenants: {a: {quota: {" + quota + "}}, b: }\nprincipals:\n"
	for name, tenant := range map[string]string{"ana": "a", "bob": "b", "all": `"*"`} {
		text += fmt.Sprintf("  - {name: %s, token_sha256: %q, grants: [{tenant: %s, role: admin}]}\n", name, access.HashToken(name), tenant)
	}
	if err := os.WriteFile(m.path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// do sends a request as a principal for its tenant. The caller closes the body.
func (m *metered) do(who, method, path string, body io.Reader, length int64) *http.Response {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.Ready().HTTP+path, body)
	if err != nil {
		m.t.Fatal(err)
	}
	if length > 0 {
		req.ContentLength = length
	}
	req.Header.Set("Authorization", "Bearer "+who)
	req.Header.Set("Carillon-Tenant", map[bool]string{true: "b", false: "a"}[who == "bob"])
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	return resp
}

// ask is do with a reply that is read.
func (m *metered) ask(who, method, path, body string) (status int, header http.Header, text string) {
	m.t.Helper()
	resp := m.do(who, method, path, strings.NewReader(body), 0)
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}

func (m *metered) connect() *nats.Conn {
	m.t.Helper()
	nc, err := nats.Connect(m.Ready().NATS, nats.Token("all"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(nc.Close)
	return nc
}

// over sends a request over NATS.
func (m *metered) over(nc *nats.Conn, tenant, verb, body string) *nats.Msg {
	m.t.Helper()
	reply, err := nc.Request("carillon.v1."+tenant+"."+verb, []byte(body), 20*time.Second)
	if err != nil {
		m.t.Fatal(err)
	}
	return reply
}

// metric returns the value of a line of the metrics; -1 if there is none.
func (m *metered) metric(line string) float64 {
	m.t.Helper()
	_, _, text := m.ask("all", "GET", "/metrics", "")
	for l := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(l, line+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				m.t.Fatal(err)
			}
			return v
		}
	}
	return -1
}

// TestRateOverHTTP uses up the rate of a tenant: it is refused before the body is there, another tenant is not, and a
// higher rate is in force as soon as the file is read.
func TestRateOverHTTP(t *testing.T) {
	m := startMetered(t, "rate: 0.01/s") // one request, and the next after more than a minute
	if status, _, text := m.ask("ana", "GET", "/api/v1/jobs", ""); status != 200 {
		t.Fatalf("the first request: %d %s", status, text)
	}
	never, end := io.Pipe() // a body that never comes
	defer end.Close()
	resp := m.do("ana", "PUT", "/api/v1/jobs/x", never, 900_000)
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != 429 || err != nil || after < 50 || after > 100 || !strings.Contains(string(text), "rate_limited") || !strings.Contains(string(text), "0.01/s") {
		t.Errorf("the second request: %d, Retry-After %q, %s", resp.StatusCode, resp.Header.Get("Retry-After"), text)
	}
	for range 20 {
		if status, _, text := m.ask("bob", "GET", "/api/v1/jobs", ""); status != 200 {
			t.Fatalf("another tenant: %d %s", status, text)
		}
	}
	// A caller without rights in the tenant uses up nothing of it.
	if status, _, _ := m.ask("nobody", "GET", "/api/v1/jobs", ""); status != 401 {
		t.Errorf("an unknown caller: %d", status)
	}
	if n := m.metric(`carillon_rate_limited_total{tenant="a"}`); n != 1 {
		t.Errorf("%g requests were limited, want 1", n)
	}
	if use, limit := m.metric(`carillon_tenant_quota_use{quota="rate",shard="",tenant="a"}`), m.metric(`carillon_tenant_quota_limit{quota="rate",shard="",tenant="a"}`); use < 0.9 || limit != 0.01 {
		t.Errorf("the gauges are %g of %g", use, limit)
	}
	m.write("rate: 1000000/s")
	m.Reload()
	testkit.Until(t, "the higher rate is in force", func() bool {
		status, _, _ := m.ask("ana", "GET", "/api/v1/jobs", "")
		return status == 200
	})
	m.write("")
	m.Reload()
	if n := m.metric(`carillon_rate_limited_total{tenant="a"}`); n != -1 {
		t.Errorf("a tenant without a rate has a counter: %g", n)
	}
}

// TestRateCountsItems sends a bulk registration: each of its jobs counts, and the tenant has a debt afterwards. One of more
// than a minute of the rate registers nothing.
func TestRateCountsItems(t *testing.T) {
	m := startMetered(t, "rate: 2/s")
	nc := m.connect()
	bulk := func(n int) string {
		jobs := make([]string, n)
		for i := range jobs {
			jobs[i] = fmt.Sprintf(`{"name":"j%d","schedule":"@yearly","target":{"kind":"nats","subject":"out"}}`, i)
		}
		return `{"jobs":[` + strings.Join(jobs, ",") + `]}`
	}
	if got := m.over(nc, "a", "jobs.put_many", bulk(100)); !strings.Contains(string(got.Data), `"accepted":100`) {
		t.Fatalf("%s", got.Data)
	}
	got := m.over(nc, "a", "jobs.get", `{"name":"j1"}`)
	after, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if got.Header.Get("Nats-Service-Error-Code") != "429" || err != nil || after < 30 || after > 50 {
		t.Errorf("the next request: %v %s", got.Header, got.Data)
	}
	if got := m.over(nc, "b", "jobs.put_many", bulk(200)); !strings.Contains(string(got.Data), `"accepted":200`) {
		t.Errorf("another tenant: %s", got.Data)
	}
	other := startMetered(t, "rate: 2/s")
	if got := other.over(other.connect(), "a", "jobs.put_many", bulk(122)); !strings.Contains(string(got.Data), "permits 120") {
		t.Errorf("a bulk of more than a minute: %s", got.Data)
	}
	if status, _, text := other.ask("all", "GET", "/api/v1/jobs?limit=1", ""); status != 200 || strings.Contains(text, `"j0"`) {
		t.Errorf("after it: %d %s", status, text)
	}
}

// stream opens the stream of a page of a tenant, and returns its status, its first line, and what ends it.
func (m *metered) stream(who, tenant string) (status int, text string, end func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.Ready().HTTP+"/live?page=%2Fjobs%3Ftenant%3D"+tenant, nil)
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

// TestStreamsOfATenant opens as many streams of pages as the quota has, and then all places that there are.
func TestStreamsOfATenant(t *testing.T) {
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
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := range 40_000 {
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
