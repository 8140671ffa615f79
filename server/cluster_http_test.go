package server

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestClusterOverHTTP asks both nodes of a cluster: the standby passes requests on, reads by itself only if it is asked
// to, and carries requests out once it leads itself.
func TestClusterOverHTTP(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	ask := func(s *Server, method, path string, headers ...string) (int, http.Header, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.Ready().HTTP+"/api/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(headers) > 0 {
			req.Header.Set(headers[0], headers[1])
		}
		got := testkit.Do(t, http.DefaultClient, req)
		return got.Status, got.Header, got.Body
	}
	if status, h, body := ask(b, "GET", "jobs/x", "Carillon-Standby", "true"); status != 200 || h.Get("Carillon-Node") != "b" || h.Get("Carillon-Lag") == "" || !strings.Contains(body, `"name":"x"`) {
		t.Errorf("read from the standby: %d %v %s", status, h, body)
	}
	if status, h, body := ask(b, "POST", "jobs/x/pause", "Carillon-By", "alice"); status != 200 || h.Get("Carillon-Node") != "" || !strings.Contains(body, `"status_by":"alice"`) {
		t.Errorf("paused through the standby: %d %v %s", status, h, body)
	}
	if status, h, body := ask(b, "GET", "audit?limit=1"); status != 200 || h.Get("Carillon-Node") != "" || !strings.Contains(body, `"by":"alice","from":"http"`) {
		t.Errorf("the audit log through the standby: %d %v %s", status, h, body)
	}
	if status, h, body := ask(a, "POST", "jobs/x/pause"); status != 200 || h.Get("Carillon-Node") != "" {
		t.Errorf("paused by the leader: %d %v %s", status, h, body)
	}
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the next leader resumes the job", func() bool {
		status, h, body := ask(b, "POST", "jobs/x/resume")
		if status != 200 && status != 503 {
			t.Errorf("resumed by the next leader: %d %v %s", status, h, body)
		}
		return status == 200 && h.Get("Carillon-Node") == ""
	})
}
