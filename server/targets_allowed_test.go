package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// bounded is a server on an outside NATS server, with a file of rights whose targets a test changes.
type bounded struct {
	t    *testing.T
	path string // of the file of rights
	nc   *nats.Conn
	*server.Server
}

// startBounded starts a server whose tenant billing has some targets.
func startBounded(t *testing.T, billing string) *bounded {
	t.Helper()
	outside := runNATS(t, -1)
	b := &bounded{t: t, path: filepath.Join(t.TempDir(), "auth.yaml")}
	b.write(billing)
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Auth, o.NATSURL, o.AllowPrivateTargets = b.path, outside.ClientURL(), false
	b.Server = startWith(t, o)
	t.Cleanup(func() { _ = b.Close(t.Context()) }) // before its NATS server ends
	b.nc, _ = clienttest.Connect(t, outside.ClientURL())
	return b
}

// write writes the file with the targets of the tenant billing, and has a running server read it.
func (b *bounded) write(billing string) {
	b.t.Helper()
	text := fmt.Sprintf("tenants: {crm: , billing: {targets: {%s}}}\nprincipals: [{name: all, token_sha256: %s, grants: [{tenant: \"*\", role: admin}]}]\n", billing, access.HashToken("all"))
	if err := os.WriteFile(b.path+".new", []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(b.path+".new", b.path); err != nil {
		b.t.Fatal(err)
	}
	if b.Server != nil {
		b.Reload()
	}
}

// of returns a client of a tenant.
func (b *bounded) of(tenant string) *client.Client {
	return clienttest.New(b.t, b.nc, client.Options{Tenant: tenant})
}

// ends waits for the end of a run.
func (b *bounded) ends(c *client.Client, id string) client.Run {
	b.t.Helper()
	var run client.Run
	testkit.Until(b.t, "the run has ended", func() bool {
		var err error
		if run, err = c.Run(b.t.Context(), id); err != nil {
			b.t.Fatal(err)
		}
		return run.Status == "succeeded" || run.Status == "dead"
	})
	return run
}

// fire triggers a job and waits for the end of the run.
func (b *bounded) fire(c *client.Client, name string) client.Run {
	b.t.Helper()
	run, err := c.Trigger(b.t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.ends(c, run.RunID)
}

// persistent is a job that retries whatever can be retried.
func persistent(name string, target client.Target) client.Job {
	return client.Job{
		Name: name, Schedule: "@hourly", Target: target, OverlapPolicy: "allow",
		Retry: client.Retry{MaxAttempts: 5, InitialInterval: client.Duration(time.Millisecond), ClientErrors: true},
	}
}

// TestSubjectsOfTenants: a put is refused, also one of several; and after a change of the file each kind of run is dead
// at its first attempt, until the file allows the subject again.
func TestSubjectsOfTenants(t *testing.T) {
	b := startBounded(t, `subjects: ["billing.>"]`)
	c, crm := b.of("billing"), b.of("crm")
	var got atomic.Int64
	if _, err := b.nc.Subscribe("shared.run", func(*nats.Msg) { got.Add(1) }); err != nil {
		t.Fatal(err)
	}
	shared := persistent("shared", client.Target{Kind: "nats", Subject: "shared.run"})
	_, _, err := c.Put(t.Context(), shared)
	testkit.Refuses(t, err, "invalid_target", `target.subject`, `the subject "shared.run" is not allowed; the file of rights allows this tenant: billing.>`)
	many, err := c.PutMany(t.Context(), []client.Job{shared, persistent("own", client.Target{Kind: "nats", Subject: "billing.run"})})
	if err != nil || many.Accepted != 1 || many.Results[0].Error == nil || many.Results[0].Error.Code != "invalid_target" || many.Results[1].Name != "own" {
		t.Errorf("several jobs: %+v, %v", many, err)
	}
	if _, _, err := crm.Put(t.Context(), shared); err != nil {
		t.Errorf("another tenant: %v", err)
	}

	b.write(`subjects: ["billing.>", shared.run]`)
	if _, _, err := c.Put(t.Context(), shared); err != nil {
		t.Fatalf("after a change of the file: %v", err)
	}
	if run := b.fire(c, "shared"); run.Status != "succeeded" {
		t.Errorf("an allowed run: %+v", run)
	}
	testkit.Until(t, "the message arrived", func() bool { return got.Load() == 1 })

	b.write(`subjects: ["billing.>"]`)
	run := b.fire(c, "shared")
	if run.Status != "dead" || run.Reason != "target not allowed" || run.Attempt != 1 || !strings.HasPrefix(run.Error, `target not allowed: the subject "shared.run"`) {
		t.Errorf("a run after the file has changed: %+v", run)
	}
	again, err := c.RetryRun(t.Context(), run.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if run = b.ends(c, again.RunID); run.Status != "dead" || run.Reason != "target not allowed" || run.Attempt != 2 {
		t.Errorf("a retried run: %+v", run)
	}
	fired, err := c.Backfill(t.Context(), client.BackfillRequest{Name: "shared", From: client.At(time.Now().Add(-4 * time.Hour)), To: client.At(time.Now().Add(-time.Hour)), Limit: 2})
	if err != nil || fired != 2 {
		t.Fatalf("backfill: %d, %v", fired, err)
	}
	testkit.Until(t, "the backfilled runs are dead", func() bool {
		page, err := c.ListRuns(t.Context(), client.RunListRequest{Job: "shared", Status: "dead"})
		return err == nil && len(page.Runs) == 3
	})
	if run := b.fire(crm, "shared"); run.Status != "succeeded" {
		t.Errorf("of another tenant: %+v", run)
	}
	testkit.Until(t, "only that message arrived", func() bool { return got.Load() == 2 })
	if metrics := b.get("/metrics"); !strings.Contains(metrics, `carillon_attempts_total{kind="nats",outcome="not_allowed"} 4`) {
		t.Errorf("the metrics do not count 4 attempts: %s", metrics)
	}

	b.write(`subjects: ["*.run"]`)
	if again, err = c.RetryRun(t.Context(), run.RunID); err != nil {
		t.Fatal(err)
	}
	if run = b.ends(c, again.RunID); run.Status != "succeeded" || run.Reason != "" || run.Attempt != 3 {
		t.Errorf("after the file allows it again: %+v", run)
	}
}

// get returns what the server answers to a path.
func (b *bounded) get(path string) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.Ready().HTTP+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer all")
	return testkit.Do(b.t, http.DefaultClient, req).Body
}

// TestHostsOfTenants: `private` opens a network at a port to one tenant, and neither the server's own addresses nor those
// of metadata; hosts hold besides.
func TestHostsOfTenants(t *testing.T) {
	var got atomic.Int64
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	t.Cleanup(hook.Close)
	port := hook.URL[strings.LastIndexByte(hook.URL, ':')+1:]
	b := startBounded(t, "private: [127.0.0.0/8:"+port+"]")
	own := b.Ready().HTTP[strings.LastIndexByte(b.Ready().HTTP, ':')+1:]
	opened := fmt.Sprintf(`private: ["127.0.0.0/8:%s", "127.0.0.0/8:%s", "169.254.0.0/16:80", "[fd00::/8]:80"]`, port, own)
	b.write(opened)
	c, crm := b.of("billing"), b.of("crm")
	web := func(url string) client.Job { return persistent("hook", client.Target{Kind: "http", URL: url}) }
	for url, want := range map[string]string{
		"http://127.0.0.1:1/": "127.0.0.0/8", "https://127.0.0.1/": "127.0.0.0/8", "http://10.0.0.1:" + port + "/": "10.0.0.0/8",
		"http://169.254.169.254/": "169.254.169.254/32", "http://metadata.google.internal/": "169.254.169.254/32", "http://[fd00:ec2::254]/": "fd00:ec2::254/128",
	} {
		_, _, err := c.Put(t.Context(), web(url))
		testkit.Refuses(t, err, "invalid_target", "target.url", want)
	}
	_, _, err := crm.Put(t.Context(), web(hook.URL))
	testkit.Refuses(t, err, "invalid_target", "127.0.0.0/8", "unless the file of rights opens it to the tenant")
	put := func(url string) client.Run {
		t.Helper()
		if _, _, err := c.Put(t.Context(), web(url)); err != nil {
			t.Fatal(err)
		}
		return b.fire(c, "hook")
	}
	if run := put(b.Ready().HTTP + "/healthz"); run.Status != "dead" || !strings.Contains(run.Error, "is an address of this server itself") {
		t.Errorf("the server's own address: %+v", run)
	}
	if run := put(hook.URL + "/secret-path"); run.Status != "succeeded" || got.Load() != 1 {
		t.Errorf("the opened address: %+v", run)
	}
	for billing, want := range map[string]string{"hosts: [], " + opened: "target not allowed", `hosts: ["*.example.com"], ` + opened: "target not allowed", "private: []": "127.0.0.0/8"} {
		b.write(billing)
		run := b.fire(c, "hook")
		if run.Status != "dead" || !strings.Contains(run.Error, want) || strings.Contains(run.Error, "secret-path") || run.Reason != "target not allowed" {
			t.Errorf("with %s: %+v", billing, run)
		}
	}
	b.write(`hosts: ["*.example.com", "::ffff:127.0.0.1"], ` + opened)
	if run := b.fire(c, "hook"); run.Status != "succeeded" || got.Load() != 2 {
		t.Errorf("after the file allows it again: %+v", run)
	}
	if _, _, err := c.Put(t.Context(), web("https://a.example.com/")); err != nil {
		t.Error(err)
	}
	_, _, err = c.Put(t.Context(), web("https://example.org/"))
	testkit.Refuses(t, err, "invalid_target", `the host "example.org" is not allowed; the file of rights allows this tenant: *.example.com, ::ffff:127.0.0.1`)
}

// TestTargetsOverHTTP: a refused put names the field, with the status 422.
func TestTargetsOverHTTP(t *testing.T) {
	b := startBounded(t, "subjects: []")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, b.Ready().HTTP+"/api/v1/jobs/a", strings.NewReader(`{"schedule": "@daily", "target": {"kind": "request", "subject": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer all")
	req.Header.Set("Carillon-Tenant", "billing")
	req.Header.Set("Content-Type", "application/json")
	r := testkit.Do(t, http.DefaultClient, req)
	var got struct {
		Error struct{ Code, Field, Message string } `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil {
		t.Fatal(err)
	}
	if r.Status != http.StatusUnprocessableEntity || got.Error.Code != "invalid_target" || got.Error.Field != "target.subject" || !strings.Contains(got.Error.Message, "allows this tenant none") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
