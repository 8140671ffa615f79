package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// limited is a server with a file of rights that gives the tenants billing and default a quota, and none to other.
type limited struct {
	*server.Server
	t    *testing.T
	auth string
}

func startLimited(t *testing.T, dir, quota string) *limited {
	t.Helper()
	l := &limited{t: t, auth: filepath.Join(t.TempDir(), "auth.yaml")}
	l.write(quota)
	o := options(dir)
	o.Auth = l.auth
	l.Server = startWith(t, o)
	return l
}

// write writes the file of rights with a quota.
func (l *limited) write(quota string) {
	l.t.Helper()
	text := "tenants:\n  billing: {quota: {" + quota + "}}\n  default: {quota: {" + quota + "}}\n  other: {}\nprincipals:\n" +
		"  - {name: all, token_sha256: " + access.HashToken("all") + `, grants: [{tenant: "*", role: admin}]}` + "\n"
	if err := os.WriteFile(l.auth, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// ask sends a request for a tenant.
func (l *limited) ask(tenant, method, path, body string) testkit.Reply {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.Ready().HTTP+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Carillon-Tenant", tenant)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer all")
	return testkit.Do(l.t, http.DefaultClient, req)
}

// put registers a job of a tenant, and returns the status of the reply and its body.
func (l *limited) put(tenant, name, schedule string) (int, string) {
	l.t.Helper()
	body := fmt.Sprintf(`{"schedule": %q, "target": {"kind": "nats", "subject": "x"}}`, schedule)
	r := l.ask(tenant, "PUT", "/api/v1/jobs/"+name, body)
	return r.Status, r.Body
}

// putMany registers many jobs of a tenant at once, and returns how many were accepted and refused for the quota.
func (l *limited) putMany(tenant, prefix string, jobs int) (accepted, refused int) {
	l.t.Helper()
	var list []string
	for i := range jobs {
		list = append(list, fmt.Sprintf(`{"name": "%s-%d", "schedule": "@daily", "target": {"kind": "nats", "subject": "x"}}`, prefix, i))
	}
	r := l.ask(tenant, "POST", "/api/v1/jobs/bulk", `{"jobs": [`+strings.Join(list, ",")+`]}`)
	var reply struct {
		Accepted int
		Results  []struct{ Error struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(r.Body), &reply); err != nil || r.Status != http.StatusOK {
		l.t.Fatalf("%d %s", r.Status, r.Body)
	}
	for _, one := range reply.Results {
		if one.Error.Code == "quota_exceeded" {
			refused++
		}
	}
	return reply.Accepted, refused
}

// TestQuotaOfServer walks the whole path with everything real: the file of rights has a quota, which holds for single
// registrations and for many at once, changes without a restart, holds after one, and removes nothing if it is lowered.
func TestQuotaOfServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	l := startLimited(t, dir, "jobs: 100")
	if accepted, refused := l.putMany("billing", "many", 1000); accepted != 100 || refused != 900 {
		t.Fatalf("%d jobs of 100 were accepted, %d refused for the quota", accepted, refused)
	}
	want := "the tenant billing has 100 of 100 jobs; delete jobs, or ask for a higher quota"
	if status, body := l.put("billing", "one", "@daily"); status != http.StatusTooManyRequests || !strings.Contains(body, want) || !strings.Contains(body, `"quota_exceeded"`) {
		t.Errorf("the job beyond the quota: %d %s", status, body)
	}
	if status, body := l.put("billing", "many-1", "@hourly"); status != http.StatusOK {
		t.Errorf("an update at the quota: %d %s", status, body)
	}
	if accepted, _ := l.putMany("other", "many", 300); accepted != 300 {
		t.Errorf("%d jobs of another tenant were accepted, want 300", accepted)
	}
	metrics := l.ask("billing", "GET", "/metrics", "").Body
	for _, line := range []string{
		`carillon_tenant_quota_use{quota="jobs",shard="0",tenant="billing"} 100`, `carillon_tenant_quota_limit{quota="jobs",shard="0",tenant="billing"} 100`,
		`carillon_quota_refused_total{quota="jobs",shard="0"} 901`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics have no %s", line)
		}
	}
	if strings.Contains(metrics, `tenant="other"`) {
		t.Error("the metrics have a tenant without a quota")
	}

	l.write("jobs: 102")
	l.Reload()
	if accepted, refused := l.putMany("billing", "more", 4); accepted != 2 || refused != 2 {
		t.Errorf("after the file was read again %d jobs were accepted, %d refused; want 2 and 2", accepted, refused)
	}
	l.write("jobs: 10, bytes: 1GiB")
	l.Reload()
	if status, _ := l.put("billing", "one", "@daily"); status != http.StatusTooManyRequests {
		t.Errorf("a new job beyond the lower quota: %d", status)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	again := startLimited(t, dir, "jobs: 103")
	if r := again.Ready(); r.Jobs != 402 {
		t.Errorf("%d jobs after the restart, want 402", r.Jobs)
	}
	if accepted, refused := again.putMany("billing", "late", 3); accepted != 1 || refused != 2 {
		t.Errorf("after the restart %d jobs were accepted, %d refused; want 1 and 2", accepted, refused)
	}
}

// TestQuotaOfRestored: a backup whose tenant is beyond its quota restores and opens, with all jobs; only what is new is
// refused.
func TestQuotaOfRestored(t *testing.T) {
	s := startWith(t, options(filepath.Join(t.TempDir(), "data")))
	_, c := connect(t, s)
	for i := range 12 {
		if _, _, err := c.Put(t.Context(), client.Job{Name: fmt.Sprint("job-", i), Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	from, err := c.OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var backup bytes.Buffer
	if _, err := server.WriteBackup(t.Context(), from, &backup, nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(dir, &backup, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	l := startLimited(t, dir, "jobs: 10")
	if r := l.Ready(); r.Jobs != 12 {
		t.Errorf("%d jobs after the restore, want 12", r.Jobs)
	}
	if status, body := l.put("default", "new", "@daily"); status != http.StatusTooManyRequests || !strings.Contains(body, "has 12 of 10 jobs") {
		t.Errorf("a new job: %d %s", status, body)
	}
	if status, body := l.put("default", "job-1", "@hourly"); status != http.StatusOK {
		t.Errorf("an update: %d %s", status, body)
	}
}
