package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestAnyNodeTakesRequestsForAllShards: a job of each shard is registered over HTTP at the standby and over NATS, is listed and
// shown by both nodes, and fires; after the leader has ended, too.
func TestAnyNodeTakesRequestsForAllShards(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	received := make(chan *nats.Msg, 10_000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	for shard := range uint32(troupeShards) {
		name := nameIn(shard)
		body := `{"schedule":"@every 100ms","target":{"kind":"nats","subject":"out.` + name + `"}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, b.Ready().HTTP+"/api/v1/jobs/"+name, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = reply.Body.Close()
		if reply.StatusCode != http.StatusCreated {
			t.Errorf("%s of shard %d: %s", name, shard, reply.Status)
		}
	}
	p.eachShardFires(received)
	p.put("more")
	hasAll := func(s *Server) {
		t.Helper()
		code, text := fetch(t, s.Ready().HTTP+"/api/v1/jobs")
		if code != http.StatusOK || strings.Count(text, `"name"`) != troupeShards+1 {
			t.Errorf("the jobs are %d %s", code, text)
		}
		for _, list := range []string{"jobs?", "jobs/more/runs?", "runs?status=dead&", "audit?"} {
			if code, text := fetch(t, s.Ready().HTTP+"/api/v1/"+list+"partial=true"); code != http.StatusOK {
				t.Errorf("a part of %s is %d %s", list, code, text)
			}
		}
		if st := p.info(s); st.Jobs != troupeShards+1 {
			t.Errorf("the status has %d jobs", st.Jobs)
		}
		if code, text := fetch(t, s.Ready().HTTP+"/api/v1/status"); code != http.StatusOK || strings.Count(text, `"has_leader":true`) != troupeShards {
			t.Errorf("the status over HTTP is %d %s", code, text)
		}
	}
	hasAll(a)
	hasAll(b)
	if code, _ := fetch(t, b.Ready().HTTP+"/"); code != http.StatusOK {
		t.Errorf("the page is %d", code)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "b leads all shards", func() bool { return len(b.leads()) == troupeShards })
	hasAll(b)
	for shard := range uint32(troupeShards) {
		if _, err := p.client(false).Get(t.Context(), nameIn(shard)); err != nil {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
}
