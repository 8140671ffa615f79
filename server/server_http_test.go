package server_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestHTTPOnly uses a server with nothing but HTTP: a job is put, run by hand and read; the way over NATS
// sees the same job, and who put it.
func TestHTTPOnly(t *testing.T) {
	s := start(t, filepath.Join(t.TempDir(), "data"))
	nc, c := connect(t, s)
	fired := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("out.>", fired); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) (status int, text string) {
		req, err := http.NewRequestWithContext(t.Context(), method, s.Ready().HTTP+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Carillon-By", "alice@ci")
		got := testkit.Do(t, http.DefaultClient, req)
		return got.Status, got.Body
	}
	const job = `{"schedule":"@yearly","target":{"kind":"nats","subject":"out.http"},"payload":{"n":1}}`
	if status, text := ask("PUT", "/api/v1/jobs/reports/daily", job); status != 201 {
		t.Fatalf("put: %d %s", status, text)
	}
	if status, text := ask("POST", "/api/v1/jobs/reports/daily/trigger", ""); status != 200 {
		t.Fatalf("trigger: %d %s", status, text)
	}
	if m := testkit.Receive(t, fired); string(m.Data) != `{"n":1}` || m.Header.Get("Carillon-Job") != "reports/daily" {
		t.Errorf("got %q with %v", m.Data, m.Header)
	}
	if got, err := c.Get(t.Context(), "reports/daily"); err != nil || got.Version != 1 {
		t.Errorf("over NATS: %+v, %v", got, err)
	}
	page, err := c.ListAudit(t.Context(), client.AuditRequest{Action: "create"})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].By != "alice@ci" || page.Entries[0].From != "http" {
		t.Errorf("the audit log: %+v, %v", page, err)
	}
	if status, text := ask("DELETE", "/api/v1/jobs/reports%2Fdaily", ""); status != 200 {
		t.Errorf("delete: %d %s", status, text)
	}
}
