package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// crowd is a scheduler with a dead run in each of very many jobs, which are all paused. It counts what it is asked.
type crowd struct {
	mu    sync.Mutex
	asked map[string]int
	most  int // the largest limit

	entered, gate chan struct{} // a list of runs says that it has come, and waits until it may go on; nil: it does not
}

// Ask implements client.Local.
func (c *crowd) Ask(_ context.Context, _, verb, _ string, body []byte) ([]byte, error) {
	var q struct {
		Name  string `json:"name"`
		Limit int    `json:"limit"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.asked[verb]++
	c.most = max(c.most, q.Limit)
	c.mu.Unlock()
	if verb == "runs.list" && c.gate != nil {
		c.entered <- struct{}{}
		<-c.gate
	}
	switch verb {
	case "status":
		return json.Marshal(client.Status{Role: "leader"})
	case "jobs.get":
		return json.Marshal(client.JobReply{Job: pausedJob(q.Name)})
	case "jobs.list":
		return json.Marshal(client.JobPage{Jobs: []client.JobInfo{}, NextCursor: "more"})
	}
	page := client.RunPage{NextCursor: "more"}
	for i := range q.Limit {
		page.Runs = append(page.Runs, client.Run{Job: fmt.Sprintf("job/%d", i%100), Status: "dead", Error: "no answer"})
	}
	return json.Marshal(page)
}

func pausedJob(name string) (j client.JobInfo) {
	j.Name, j.Status, j.StatusBy = name, "paused", "carillon"
	return j
}

// newCrowd returns a dashboard of a crowd.
func newCrowd(t *testing.T) (*crowd, *Dashboard) {
	t.Helper()
	c := &crowd{asked: make(map[string]int)}
	d := New(c, Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = d.Close() })
	return c, d
}

// TestSearchIsBounded: whatever there is, a search has a few requests of bounded size, and the list a few lines. A job
// that was paused is found by its dead runs if the list of jobs ends before it.
func TestSearchIsBounded(t *testing.T) {
	c, d := newCrowd(t)
	v := d.visit(httptest.NewRequest("GET", "/", nil))
	list := v.concerns(&client.Status{Role: "leader"})
	if c.asked["runs.list"] != 1 || c.asked["jobs.list"] != 2 || c.asked["jobs.get"] != lookedUp || c.most > 1000 {
		t.Errorf("the search asked %v, at most for %d", c.asked, c.most)
	}
	count := make(map[string]int)
	for _, one := range list {
		count[one.Kind]++
	}
	if count["paused"] != jobConcernsMax+1 || count["dead"] != jobConcernsMax+1 || len(list) != 2*(jobConcernsMax+1) {
		t.Errorf("the list has %v", count)
	}
	if !slices.ContainsFunc(list, func(one concern) bool { return strings.Contains(one.Text, "has at least 2 dead runs") }) {
		t.Errorf("the list does not say that there are more dead runs than were counted: %+v", list)
	}
}

// TestSearchIsShared: many readers at a time make one search, and the next one comes when the result is old.
func TestSearchIsShared(t *testing.T) {
	c, d := newCrowd(t)
	c.entered, c.gate = make(chan struct{}, 50), make(chan struct{})
	var group sync.WaitGroup
	read := func() {
		if _, err := d.visit(httptest.NewRequest("GET", "/", nil)).findings(); err != nil {
			t.Error(err)
		}
	}
	group.Go(read)
	<-c.entered
	for range 49 {
		group.Go(read)
	}
	close(c.gate)
	group.Wait()
	if n := c.asked["runs.list"]; n > 5 {
		t.Errorf("50 readers at a time made %d searches", n)
	}
	d.finder.of(tenantDefault).until = time.Time{}
	before := c.asked["runs.list"]
	if _, err := d.visit(httptest.NewRequest("GET", "/", nil)).findings(); err != nil || c.asked["runs.list"] != before+1 {
		t.Errorf("an old result led to %d searches, %v", c.asked["runs.list"]-before, err)
	}
	for i := range findingsMax + 10 {
		d.finder.of(fmt.Sprint(i))
	}
	if n := len(d.finder.byTenant); n > findingsMax {
		t.Errorf("%d tenants are kept", n)
	}
}

// TestNothingAilingIsNotAskedFor: the engine knows how many jobs are paused or have failed, so none is searched in vain.
func TestNothingAilingIsNotAskedFor(t *testing.T) {
	c, d := newCrowd(t)
	d.opts.Status = func() scheduler.Status { return scheduler.Status{} }
	if _, err := d.visit(httptest.NewRequest("GET", "/", nil)).findings(); err != nil || c.asked["jobs.list"] != 0 {
		t.Errorf("the search asked %v, %v", c.asked, err)
	}
}

// TestNodeConcerns: what needs attention of the node and its cluster, the worst first.
func TestNodeConcerns(t *testing.T) {
	_, d := newCrowd(t)
	d.finder.of(tenantDefault).until = time.Now().Add(time.Hour) // nothing is found among the jobs
	v := d.visit(httptest.NewRequest("GET", "/", nil))
	cluster := client.Cluster{Holder: "a", Nodes: []client.ClusterNode{{Node: "a"}, {Node: "b", SilentMS: 9000}}}
	if list := v.concerns(&client.Status{Role: "leader", Cluster: &cluster}); len(list) != 0 {
		t.Errorf("without a fault: %+v", list)
	}
	cluster.Nodes[1].SilentMS, cluster.Warnings = 12_345, []string{"the third vote is missing"}
	status := client.Status{Role: "leader", Cluster: &cluster, Warnings: []string{"a stream captures requests"}, CatchUp: client.CatchUp{Jobs: 1, Rate: 3}}
	var got []string
	for _, one := range v.concerns(&status) {
		got = append(got, one.Tone+" "+one.Text)
		if one.Address == "" || one.Where == "" {
			t.Errorf("%+v leads to nothing", one)
		}
	}
	want := []string{"bad The node b was last heard of 12 s ago.", "warn the third vote is missing", "warn a stream captures requests", "busy Missed runs are being fired: 1 job left."}
	if !slices.Equal(got, want) {
		t.Errorf("the concerns are %q, want %q", got, want)
	}
	shards := []client.ShardStatus{{HasLeader: true, Leader: "a"}, {Shard: 1}}
	cluster = client.Cluster{Nodes: []client.ClusterNode{{Node: "a"}}}
	if list := v.concerns(&client.Status{Role: "leader", Cluster: &cluster, Shards: shards}); len(list) != 1 || list[0].Text != "No node leads shard 1: none of its jobs is launched until one does." {
		t.Errorf("of two shards, one without a leader: %+v", list)
	}
	cluster = client.Cluster{Waits: "node c must be there", Warnings: []string{"node c must be there"}}
	if list := v.concerns(&client.Status{Role: "candidate", Cluster: &cluster}); len(list) != 2 || list[0].Kind != "no-leader" || list[1].Tone != "bad" {
		t.Errorf("without a leader: %+v", list)
	}
}
