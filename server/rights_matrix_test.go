package server_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// right is a row of the matrix: a verb with the least role for it, and its request at each door. "cluster" is the role of
// the admin of all tenants.
type right struct {
	verb, role   string
	method, path string // over HTTP; a path without a slash at its begin is below /api/v1/; "": there is no request
	page         string // "": no page needs the verb
	subject      string // over NATS, behind the prefix; "": that of the verb in the tenant; none: there is no request
	body         string // over NATS
	inProcess    func(context.Context, *client.Client) error
}

// none says that NATS has no request of a verb.
const none = "none"

// embeddedCall makes a call of the client from one that returns something besides the error.
func embeddedCall[T any](call func(context.Context, *client.Client) (T, error)) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error {
		_, err := call(ctx, c)
		return err
	}
}

// yearly is a job that does not fire while a test runs.
var yearly = client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "handler", Name: "f"}}

// matrix is the one table of rights of all doors. Its rows are in an order in which a process that embeds the scheduler can
// carry them out.
var matrix = []right{
	{"jobs.put", "operator", "PUT", "jobs/a", "", "", "", func(ctx context.Context, c *client.Client) error {
		_, _, err := c.Put(ctx, yearly)
		return err
	}},
	{"jobs.put_many", "operator", "POST", "jobs/bulk", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.PutManyReply, error) {
		return c.PutMany(ctx, []client.Job{yearly})
	})},
	{"jobs.get", "viewer", "GET", "jobs/a", "GET /job?tenant=billing&name=a", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.JobInfo, error) { return c.Get(ctx, "a") })},
	{"jobs.list", "viewer", "GET", "jobs", "GET /jobs?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.JobPage, error) {
		return c.List(ctx, client.ListRequest{})
	})},
	{"credentials.read", "admin", "GET", "jobs?with_credentials=true", "", "v1.billing.jobs.list", `{"with_credentials":true}`, embeddedCall(func(ctx context.Context, c *client.Client) (client.JobPage, error) {
		return c.List(ctx, client.ListRequest{WithCredentials: true})
	})},
	{"jobs.pause", "operator", "POST", "jobs/a/pause", "POST /job/pause?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.JobInfo, error) { return c.Pause(ctx, "a", "") })},
	{"jobs.resume", "operator", "POST", "jobs/a/resume", "POST /job/resume?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.JobInfo, error) { return c.Resume(ctx, "a", "") })},
	{"jobs.trigger", "operator", "POST", "jobs/a/trigger", "POST /job/trigger?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) {
		return c.Trigger(ctx, client.TriggerRequest{Name: "a"})
	})},
	{"jobs.backfill", "operator", "POST", "jobs/a/backfill", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (int, error) {
		return c.Backfill(ctx, client.BackfillRequest{Name: "a", From: client.At(time.Unix(1, 0)), To: client.At(time.Unix(86400, 0))})
	})},
	{"runs.get", "viewer", "GET", "runs/x", "GET /run?tenant=billing&id=x", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) { return c.Run(ctx, "x") })},
	{"runs.list", "viewer", "GET", "runs?status=dead", "GET /runs?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.RunPage, error) {
		return c.ListRuns(ctx, client.RunListRequest{Job: "a"})
	})},
	{"runs.report", "operator", "POST", "runs/x/report", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) {
		return c.Report(ctx, client.ReportRequest{RunID: "x", Fence: 1, Status: "succeeded"})
	})},
	{"runs.extend", "operator", "POST", "runs/x/extend", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Time, error) {
		return c.Extend(ctx, "x", 1, time.Minute)
	})},
	{"runs.cancel", "operator", "POST", "runs/x/cancel", "POST /run/cancel?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) { return c.CancelRun(ctx, "x") })},
	{"runs.retry", "operator", "POST", "runs/x/retry", "POST /run/retry?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) { return c.RetryRun(ctx, "x") })},
	{"runs.retry_many", "operator", "POST", "runs/retry", "POST /runs/retry?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.RetryManyReply, error) {
		return c.RetryMany(ctx, client.RetryManyRequest{})
	})},
	{"runs.dismiss", "operator", "POST", "runs/x/dismiss", "POST /run/dismiss?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Run, error) {
		return c.Dismiss(ctx, client.DismissRequest{RunID: "x"})
	})},
	{"runs.dismiss_many", "operator", "POST", "runs/dismiss", "POST /runs/dismiss?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.DismissManyReply, error) {
		return c.DismissMany(ctx, client.DismissManyRequest{})
	})},
	{"jobs.delete", "admin", "DELETE", "jobs/a", "POST /job/delete?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.DeletedRuns, error) { return c.Delete(ctx, "a") })},
	{"calendars.put", "admin", "PUT", "calendars/a", "", "", "", func(ctx context.Context, c *client.Client) error {
		_, _, err := c.PutCalendar(ctx, client.CalendarRequest{Name: "a", Exclude: []string{"2026-01-06"}})
		return err
	}},
	{"calendars.get", "viewer", "GET", "calendars/a", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Calendar, error) { return c.Calendar(ctx, "a") })},
	{"calendars.list", "viewer", "GET", "calendars", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.CalendarPage, error) {
		return c.ListCalendars(ctx, client.CalendarListRequest{})
	})},
	{"calendars.delete", "admin", "DELETE", "calendars/a", "", "", "", func(ctx context.Context, c *client.Client) error { return c.DeleteCalendar(ctx, "a") }},
	{"audit.list", "viewer", "GET", "audit", "GET /audit?tenant=billing", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.AuditPage, error) {
		return c.ListAudit(ctx, client.AuditRequest{})
	})},
	{"schedules.next", "viewer", "GET", "schedules/next?schedule=@daily", "GET /playground?tenant=billing&schedule=@daily", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.NextReply, error) {
		return c.Next(ctx, client.NextRequest{Schedule: "@daily"})
	})},
	// Over HTTP and on a page it is that of the node, for every role in a tenant.
	{"status", "viewer", "GET", "status", "GET /", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Status, error) { return c.Status(ctx) })},
	// Each principal may ask who it is.
	{"whoami", "", "GET", "whoami", "", "", "", embeddedCall(func(ctx context.Context, c *client.Client) (client.Whoami, error) { return c.Whoami(ctx) })},

	{"metrics", "metrics", "GET", "/metrics", "", none, "", nil},
	// What concerns all tenants has no path of HTTP and no page: it is in Carillon's own account of NATS.
	{"backup", "cluster", "", "", "", "backup.0.open", "", nil},
	{"handover", "cluster", "", "", "", "cluster.0.handover", "", nil},
	{"nodes", "cluster", "", "", "", "cluster.0.node.x.holder", "", nil},
	{"shards", "cluster", "", "", "", "shard.0.v1.billing.jobs.list", "", nil},
	{"restore", "cluster", "", "", "", none, "", nil}, // is done in the data directory of a server that does not run
}

// allowed reports whether a caller may use a verb of the tenant billing at a door.
func (m *right) allowed(caller, door string) bool {
	switch {
	case m.verb == "metrics":
		return caller == "metrics" || caller == "cluster"
	case m.verb == "status" && caller == "stranger" && door != "NATS":
		return true
	}
	return rank[caller] >= rank[m.role]
}

// want is the status of a refusal of a caller; 0: none.
func (m *right) want(caller, door string, isKnown bool) int {
	switch {
	case !isKnown:
		return http.StatusUnauthorized
	case m.allowed(caller, door):
		return 0
	}
	return http.StatusForbidden
}

// url returns the path of the verb over HTTP. A verb without one gets the path that it would have.
func (m *right) url() (method, path string) {
	switch {
	case m.path == "":
		return http.MethodPost, "/api/v1/" + m.verb
	case strings.HasPrefix(m.path, "/"):
		return m.method, m.path
	}
	return m.method, "/api/v1/" + m.path
}

// TestMatrixIsWhole: each verb has a row, and each verb of the API a request at each door.
func TestMatrixIsWhole(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, m := range matrix {
		rows[m.verb]++
		if isOfAPI := api.VerbNamed(m.verb) != nil || m.verb == access.CredentialsVerb; isOfAPI && (m.path == "" || m.subject == none || m.inProcess == nil) {
			t.Errorf("%s has no request at some door", m.verb)
		}
		if !slices.Contains(access.Verbs(), m.verb) {
			t.Errorf("%s is no verb", m.verb)
		}
	}
	for _, verb := range access.Verbs() {
		if rows[verb] != 1 {
			t.Errorf("the matrix has %d rows of %s, want one", rows[verb], verb)
		}
	}
}

// TestRightsMatrix tries each role at each verb, by its token and in a session over HTTP and on the pages, and over NATS in
// the account of its tenant.
func TestRightsMatrix(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	g.standIns()
	for _, caller := range callers {
		isKnown := caller != "" && caller != "unknown"
		hasSession := rank[caller] > 0 || caller == "stranger"
		b := browse(t, g.Ready().HTTP)
		if b.signsIn(caller, "/"); (cookieOf(b) != "") != hasSession {
			t.Errorf("%q signs in: %t, want %t", caller, cookieOf(b) != "", hasSession)
		}
		for i := range matrix {
			m := &matrix[i]
			method, path := m.url()
			g.holds(m, caller, "HTTP", isKnown, g.ask(caller, method, path, ""))
			g.holds(m, caller, "HTTP in a session", hasSession, b.do(method, path, "", "Content-Type: application/json", "Carillon-Tenant: billing", "Accept: application/json", "Origin: "+b.base))
			if method, path, has := strings.Cut(m.page, " "); has {
				g.holds(m, caller, "a page", isKnown, g.ask(caller, method, path, "name=a&id=x"))
				g.holds(m, caller, "a page in a session", hasSession, b.do(method, path, "name=a&id=x", "Accept: application/json"))
			}
		}
		g.matrixOverNATS(caller)
	}
}

// holds compares the answer to a caller with the matrix. A verb without a path is found by nobody.
func (g *guarded) holds(m *right, caller, door string, isKnown bool, r testkit.Reply) {
	g.t.Helper()
	if m.path == "" {
		if r.Status < 400 || r.Status >= 500 {
			g.t.Errorf("%s by %q over %s, where it has no path: %d", m.verb, caller, door, r.Status)
		}
		return
	}
	want := m.want(caller, door, isKnown)
	if got := outcome(r.Status); got != want || r.Status >= 500 {
		g.t.Errorf("%s by %q over %s: %d %.300s; want %d", m.verb, caller, door, r.Status, r.Body, want)
	}
	// Who asks for credentials without even the right to read is refused that.
	isNamed := strings.Contains(r.Body, m.verb) || m.verb == "credentials.read"
	if want == http.StatusForbidden && strings.HasPrefix(door, "HTTP") && (!isNamed || rank[m.role] > 0 && m.verb != "status" && !strings.Contains(r.Body, "billing")) {
		g.t.Errorf("%s by %q over %s is refused with %s", m.verb, caller, door, r.Body)
	}
	if want == http.StatusUnauthorized && r.Header.Get("WWW-Authenticate") != "Bearer" {
		g.t.Errorf("%s by %q over %s is refused with %v", m.verb, caller, door, r.Header)
	}
}

// matrixOverNATS tries a caller at each verb over the embedded NATS server. A caller with a role in a tenant may connect:
// the admin of all to Carillon's account and to that of the tenant, another one to that of its tenant.
func (g *guarded) matrixOverNATS(caller string) {
	for _, account := range []string{"", "billing"} {
		nc, err := nats.Connect(g.Ready().NATS, nats.Token(caller), nats.UserInfo(account, ""))
		has := rank[caller] > 0 || caller == "stranger" && account == ""
		if (err == nil) != has || err != nil && !errors.Is(err, nats.ErrAuthorization) {
			g.t.Errorf("%q connects to the account %q: %v", caller, account, err)
		}
		if err != nil {
			continue
		}
		isOwn := caller == "cluster" && account == ""
		for i := range matrix {
			g.holdsOverNATS(&matrix[i], nc, caller, isOwn)
		}
		nc.Close()
	}
}
