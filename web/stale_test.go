package web

import (
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestStaleLeaderReads: a node that may have been replaced answers nothing from what it knows.
func TestStaleLeaderReads(t *testing.T) {
	var leads atomic.Bool
	leads.Store(true)
	w, _ := startWebOf(t, apitest.NewDesk(t), api.Options{Leads: leads.Load})
	if got := w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-")); got.status != 201 {
		t.Fatalf("put: %d %s", got.status, got.body)
	}
	if got := w.ask("GET", "/api/v1/jobs/a", ""); got.status != 200 {
		t.Errorf("get: %d %s", got.status, got.body)
	}
	leads.Store(false)
	for _, c := range []struct{ method, path string }{{"GET", "jobs/a"}, {"GET", "jobs/unknown"}, {"GET", "runs?job=a"}, {"DELETE", "jobs/unknown"}} {
		got := w.ask(c.method, "/api/v1/"+c.path, "")
		got.refused(t, c.method+" "+c.path, 503, client.CodeNotLeader, "")
	}
	if got := w.ask("POST", "/api/v1/jobs/a/pause", ""); got.status != 200 {
		t.Errorf("what was committed is acknowledged: %d %s", got.status, got.body)
	}
}
