package api

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// rightsFile writes a file of rights and opens it. The roles are those of ci in the tenant default.
func rightsFile(t *testing.T, role string) *access.Keeper {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := "tenants:\n  default:\n  other:\nprincipals:\n- {name: ci, token_sha256: " + access.HashToken("ci") + ", grants: [{tenant: default, role: " + role + "}]}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := access.Open(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// askAs asks a router over HTTP as a caller.
func (c *clusterOfShards) askAs(router int, who access.Who, tenant, verb, body string) string {
	c.t.Helper()
	x := c.routers[router].Executor()
	reply, refusal := x.OverHTTP(c.t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
		return Request{Tenant: tenant, Asker: job.Actor{By: "claimed", From: "http"}, Who: who, Host: "::1", Body: []byte(body)}, nil
	})
	defer reply.Release()
	if refusal != nil {
		return string(ErrorBody(refusal))
	}
	return string(reply.Text)
}

// TestRouterRights: the node that was asked decides by its file, and the leader by its own; the audit log has the
// caller whatever way the request took.
func TestRouterRights(t *testing.T) {
	rights := rightsFile(t, "operator")
	c := startShards(t, 4, Options{Access: rights, ForwardKey: []byte("of the nodes")}, 0)
	ci := rights.Table().WhoseToken("ci")
	for shard := range 4 {
		name := nameIn(shard, 4, 0)
		for router := range c.routers {
			if got := c.askAs(router, ci, "default", "jobs.put", apitest.JobWith("name", `"`+name+`"`)); refusalIn(t, got) != nil {
				t.Errorf("put as operator: %s", got)
			}
			for what, got := range map[string]string{
				"delete as operator":     c.askAs(router, ci, "default", "jobs.delete", `{"name":"`+name+`"}`),
				"credentials":            c.askAs(router, ci, "default", "jobs.list", `{"with_credentials":true}`),
				"another tenant":         c.askAs(router, ci, "other", "jobs.list", ``),
				"no caller":              c.askAs(router, access.Who{}, "default", "jobs.get", `{"name":"`+name+`"}`),
				"a calendar as operator": c.askAs(router, ci, "default", "calendars.put", `{"name":"days","exclude":[]}`),
			} {
				if e := refusalIn(t, got); e == nil || e.Code != client.CodeForbidden && e.Code != client.CodeUnauthenticated {
					t.Errorf("%s: %s", what, got)
				}
			}
		}
		// NATS has permitted the caller the subjects of the tenant: it has all rights there.
		if got := c.ask("jobs.pause", `{"name":"`+name+`"}`); refusalIn(t, got) != nil {
			t.Errorf("pause over NATS: %s", got)
		}
	}
	if got := c.ask("jobs.put_many", `{"jobs":[`+apitest.JobWith("name", `"x"`)+`,`+apitest.JobWith("name", `"y"`)+`]}`); !strings.Contains(got, `"accepted":2`) {
		t.Error(got)
	}
	log := c.askAs(0, ci, "default", "audit.list", `{"action":"update"}`)
	if n := strings.Count(log, `"by":"token:ci","claimed_by":"claimed","from":"http"`); n != 4 {
		t.Errorf("%d puts of ci: %s", n, log)
	}
	log = c.askAs(1, ci, "default", "audit.list", `{"action":"pause"}`)
	if n := strings.Count(log, `"by":"nats:default","from":"nats"`); n != 4 {
		t.Errorf("%d pauses: %s", n, log)
	}
}

// TestRouterStrictestFile: of two files that differ, the stricter one decides, wherever it is.
func TestRouterStrictestFile(t *testing.T) {
	lax, strict := rightsFile(t, "admin"), rightsFile(t, "viewer")
	c := startShards(t, 2, Options{Access: strict}, 0)
	for shard := range 2 { // leaders with a file of their own
		c.stop(shard)
		c.services[shard].opts.Access = lax
		c.lead(shard)
	}
	name := nameIn(1, 2, 0) // of the other process than that of router 0
	body := apitest.JobWith("name", `"`+name+`"`)
	if got := c.ask("jobs.put", body); refusalIn(t, got) != nil {
		t.Error(got)
	}
	if e := refusalIn(t, c.askAs(0, strict.Table().WhoseToken("ci"), "default", "jobs.put", body)); e == nil || e.Code != client.CodeForbidden {
		t.Errorf("a viewer here: %v", e)
	}
	// A list in clear needs more than the verb: the leader permits no more than this node does.
	if e := refusalIn(t, c.askAs(0, strict.Table().WhoseToken("ci"), "default", "jobs.get", `{"name":"`+name+`","with_credentials":true}`)); e == nil || e.Code != client.CodeForbidden {
		t.Errorf("credentials for a viewer here: %v", e)
	}
	d := startShards(t, 2, Options{Access: lax}, 0)
	for shard := range 2 {
		d.stop(shard)
		d.services[shard].opts.Access = strict
		d.lead(shard)
	}
	if e := refusalIn(t, d.askAs(0, lax.Table().WhoseToken("ci"), "default", "jobs.put", body)); e == nil || e.Code != client.CodeForbidden {
		t.Errorf("a viewer there: %v", e)
	}
}

// TestRouterNamesTheFile: a principal whom only the node that was asked knows is refused with the name of the node that does not.
func TestRouterNamesTheFile(t *testing.T) {
	ours := rightsFile(t, "admin")
	path := filepath.Join(t.TempDir(), "auth.yaml")
	if err := os.WriteFile(path, []byte("tenants:\n  default:\nprincipals:\n- {name: other, token_sha256: "+access.HashToken("other")+", grants: [{tenant: default, role: admin}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	theirs, err := access.Open(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := startShards(t, 2, Options{Access: ours}, 0)
	for shard := range 2 {
		c.stop(shard)
		c.services[shard].opts.Access = theirs
		c.services[shard].opts.Cluster = func() *client.Cluster { return &client.Cluster{Node: "b"} }
		c.lead(shard)
	}
	e := refusalIn(t, c.askAs(0, ours.Table().WhoseToken("ci"), "default", "jobs.put", apitest.JobWith("name", `"`+nameIn(1, 2, 0)+`"`)))
	if e == nil || e.Code != client.CodeUnauthenticated || !strings.Contains(e.Message, `node b, which has to answer, has no principal "ci"`) {
		t.Errorf("%v", e)
	}
}

// TestRouterSeal: a leader in another process refuses a router whose key is another one.
func TestRouterSeal(t *testing.T) {
	c := startShards(t, 2, Options{ForwardKey: []byte("right")}, 0)
	c.stop(1)
	c.services[1].opts.ForwardKey = []byte("other")
	c.lead(1)
	body := apitest.JobWith("name", `"`+nameIn(1, 2, 0)+`"`)
	if e := refusalIn(t, c.askOver(0, "jobs.put", body)); e == nil || e.Code != client.CodeForbidden {
		t.Errorf("over NATS: %v", e)
	}
	if got := c.askOver(1, "jobs.put", body); refusalIn(t, got) != nil {
		t.Errorf("in one process: %s", got)
	}
}

// TestRouterBody: the largest body that a caller can send reaches a leader in another process, in parts if it must.
func TestRouterBody(t *testing.T) {
	const size = 64 << 10
	c := startShards(t, 2, Options{}, size)
	for shard := range 2 {
		name := nameIn(shard, 2, 0)
		body := apitest.JobWith("name", `"`+name+`"`, "payload", `""`)
		body = strings.Replace(body, `"payload":""`, `"payload":"`+strings.Repeat("x", size-len(body)-100)+`"`, 1)
		for router := range c.routers {
			if got := c.askOver(router, "jobs.put", body); refusalIn(t, got) != nil {
				t.Errorf("shard %d: %.300s", shard, got)
			}
		}
		m, err := c.nc.Request("carillon.v1.default.jobs.put", []byte(body), 5*time.Second)
		if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
			t.Errorf("%v, %v", m, err)
		}
	}
}

// TestRouterHeaders: what the headers over HTTP say of a job passes from a leader in another process.
func TestRouterHeaders(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	for shard := range 2 {
		x := c.routers[0].Executor()
		name := nameIn(shard, 2, 0)
		reply, refusal := x.OverHTTP(t.Context(), VerbNamed("jobs.put"), func(string) string { return "" }, func() (Request, error) {
			return Request{Tenant: "default", Asker: job.Actor{From: "http"}, Body: []byte(apitest.JobWith("name", `"`+name+`"`))}, nil
		})
		if version, collection, created := reply.Thing(); refusal != nil || version != 1 || collection != "jobs" || created != name {
			t.Errorf("shard %d: %d %s %s, %v", shard, version, collection, created, refusal)
		}
		reply.Release()
	}
}

// TestRouterPanic: an engine that panics is an internal error of one request, also in a part of it.
func TestRouterPanic(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	for shard := range 2 {
		c.services[shard].executor.engine = nil // each call panics
	}
	for _, verb := range []string{"jobs.get", "jobs.list", "runs.list", "audit.list", "jobs.put_many"} {
		body := map[string]string{"jobs.get": `{"name":"a"}`, "runs.list": `{"status":"dead"}`, "jobs.put_many": `{"jobs":[` + apitest.JobWith() + `]}`}[verb]
		for router := range c.routers {
			got := c.askOver(router, verb, body)
			if !strings.Contains(got, `"code":"internal"`) || strings.Contains(got, "nil pointer") {
				t.Errorf("%s: %s", verb, got)
			}
		}
	}
}
