package server_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// write writes the file of rights with a quota of the tenant a. The runs of the tenants go to Carillon's account, in
// which connect connects.
func (m *metered) write(quota string) {
	m.t.Helper()
	text := "tenants: {a: {quota: {" + quota + "}, nats: {shared: true}}, b: {nats: {shared: true}}}\nprincipals:\n"
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

// TestRateOfWhatHasNoTenant: the status, whoami and pages count against the rate of the tenant in which the caller has a role,
// also if they name another; those of a cluster admin do not.
func TestRateOfWhatHasNoTenant(t *testing.T) {
	for _, path := range []string{"/api/v1/status", "/api/v1/status?tenant=a", "/api/v1/whoami?tenant=b", "/?tenant=a", "/nodes?tenant=a", "/playground?tenant=b", "/new"} {
		m := startMetered(t, "rate: 0.01/s")
		m.ask("ana", "GET", path, "")
		if status, _, text := m.ask("ana", "GET", path, ""); status != 429 {
			t.Errorf("%s for the second time: %d %.200s", path, status, text)
		}
		if status, _, text := m.ask("bob", "GET", "/api/v1/status?tenant=a", ""); status != 200 {
			t.Errorf("%s: another tenant: %d %.200s", path, status, text)
		}
		for range 3 {
			if status, _, text := m.ask("all", "GET", "/api/v1/status", ""); status != 200 {
				t.Errorf("%s: a cluster admin: %d %.200s", path, status, text)
			}
		}
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
