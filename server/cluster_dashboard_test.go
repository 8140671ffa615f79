package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestClusterDashboard opens the pages of a standby: they show what it has and say who leads, and what a form changes
// is changed by the leader.
func TestClusterDashboard(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	pause := func(s *Server) testkit.Reply {
		t.Helper()
		return sendForm(t, s, "/job/pause", url.Values{"name": {"x"}})
	}
	for _, path := range []string{"/", "/jobs", "/job?name=x", "/audit", "/calendars", "/nodes", "/runs", "/runs?job=x", "/playground?schedule=%40daily", "/job/backfill?name=x"} {
		page := testkit.Get(t, b.Ready().HTTP+path)
		if page.Status != 200 || !strings.Contains(page.Body, "This node stands by") || !strings.Contains(page.Body, "<bdi>a</bdi>") {
			t.Errorf("%s of the standby: %d %s", path, page.Status, page.Body)
		}
	}
	if page := testkit.Get(t, a.Ready().HTTP+"/").Body; strings.Contains(page, "stands by. It") || !strings.Contains(page, `<bdi>b</bdi></th>`) {
		t.Errorf("the overview of the leader: %s", page)
	}
	if page := pause(b); page.Status != 200 || strings.Contains(page.Body, `role="alert"`) {
		t.Errorf("paused on a page of the standby: %d %s", page.Status, page.Body)
	}
	if j, err := p.client(false).Get(t.Context(), "x"); err != nil || j.Status != "paused" {
		t.Errorf("the leader has %+v, %v", j, err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestClusterNodesPage: the page of the nodes shows each of them on each node, and hands the leadership over, also from the
// page of a standby. A node that cannot lead is refused in words.
func TestClusterNodesPage(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.level(a, b)
	for _, s := range []*Server{a, b} {
		page := testkit.Get(t, s.Ready().HTTP+"/nodes").Body
		if strings.Contains(page, "data-shard") || !strings.Contains(page, `data-node="a"`) || !strings.Contains(page, `data-node="b"`) || strings.Count(page, `data-confirm="handover"`) != 1 {
			t.Errorf("the nodes: %s", page)
		}
	}
	if reply := sendForm(t, b, "/nodes/handover", url.Values{"to": {"nowhere"}}); reply.Status != 503 || !strings.Contains(reply.Body, `role="alert"`) || !strings.Contains(reply.Body, "nowhere") {
		t.Errorf("a hand-over to a node that is not there: %d %s", reply.Status, reply.Body)
	}
	testkit.Until(t, "the leader hands over", func() bool { // on a busy machine it says at times that it waits for its log, and to try again
		reply := sendForm(t, b, "/nodes/handover", url.Values{"to": {"b"}})
		return reply.Status == 200 && strings.Contains(reply.Body, "The leader hands over to b.")
	})
	testkit.Until(t, "b leads", func() bool { return p.info(b).Role == "leader" })
}

// TestShardsPage: of several shards the page of the nodes shows who leads and who follows each, and hands one over, from the
// page of any node; the others stay. With one shard there is no such table.
func TestShardsPage(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	p.putInEach()
	p.levelInEach(a, b)
	var page string
	testkit.Until(t, "b shows four shards that a leads, and b could", func() bool { // a follower that lags a little is not offered
		page = testkit.Get(t, b.Ready().HTTP+"/nodes").Body
		return strings.Count(page, `data-label="Leader"><bdi>a</bdi>`) == troupeShards && strings.Count(page, `name="to" value="b"`) == troupeShards
	})
	for want, times := range map[string]int{
		"It has 4 shards": 1, "data-shard=": troupeShards, ">128-191<": 1, `data-confirm="handover"`: troupeShards, `data-label="Followers"><bdi>b</bdi>`: troupeShards, `type="hidden" name="to"`: 0,
		"says which node leads which shard": 1, "The leader is the node": 0, "no leader": 0,
	} {
		if n := strings.Count(page, want); n != times {
			t.Errorf("%q is there %d times, want %d", want, n, times)
		}
	}
	for shard, want := range map[string]int{"7": 404, "x": 422} {
		if reply := sendForm(t, b, "/nodes/handover", url.Values{"shard": {shard}, "to": {"b"}}); reply.Status != want || !strings.Contains(reply.Body, `role="alert"`) {
			t.Errorf("shard %s: %d", shard, reply.Status)
		}
	}
	testkit.Until(t, "the leader hands over", func() bool {
		reply := sendForm(t, b, "/nodes/handover", url.Values{"shard": {"2"}, "to": {"b"}})
		return reply.Status == 200 && strings.Contains(reply.Body, "The leader hands over to b.")
	})
	testkit.Until(t, "a shows that b leads one shard", func() bool {
		page := testkit.Get(t, a.Ready().HTTP+"/nodes").Body
		return strings.Count(page, `data-label="Leader"><bdi>b</bdi>`) == 1 && strings.Count(page, `data-label="Leader"><bdi>a</bdi>`) == 3 && strings.Contains(page, `name="to" value="a"`)
	})
	if leads := b.leads(); len(leads) != 1 || leads[0] != 2 {
		t.Errorf("b leads %v", leads)
	}
	if page := testkit.Get(t, a.Ready().HTTP+"/").Body; !strings.Contains(page, "4 shards</a>") {
		t.Error("the overview does not lead to the shards")
	}
}

// sendForm sends a form to a page of a server, and follows to the page that it leads to.
func sendForm(t *testing.T, s *Server, path string, fields url.Values) testkit.Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.Ready().HTTP+path, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return testkit.Do(t, http.DefaultClient, req)
}
