package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// readAt asks a node over HTTP for something that may lag.
func readAt(t *testing.T, s *Server, path string) testkit.Reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Ready().HTTP+"/api/v1/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Carillon-Standby", "true")
	return testkit.Do(t, http.DefaultClient, r)
}

// testReadsFromCopies: of eight shards on three nodes each has two copies, and each node answers reads that may lag for all
// jobs: from its own copies, and from those of others. When two of the nodes end, the third has what it has copies of, and says
// by name what is missing.
func testReadsFromCopies(t *testing.T) {
	p := newTroupe(t)
	nodes := []*Server{p.placed("a", t.TempDir(), nil), p.placed("b", t.TempDir(), nil), p.placed("c", t.TempDir(), nil)}
	const jobs = 40
	for i := range jobs {
		p.put(fmt.Sprint("job-", i))
	}
	settled(t, nodes...)
	for i := range jobs {
		name := fmt.Sprint("job-", i)
		shard := job.ShardOf(job.SlotOf("default", name), placeShards)
		for _, s := range nodes {
			want := copyRead(nodes, s, shard)
			testkit.Until(t, fmt.Sprintf("node %s reads %s of shard %d at %q", s.opts.Node, name, shard, want), func() bool {
				got := readAt(t, s, "jobs/"+name)
				return got.Status == http.StatusOK && got.Header.Get("Carillon-Node") == want
			})
		}
	}
	for _, s := range nodes {
		got := readAt(t, s, "jobs?limit=1000")
		if got.Status != http.StatusOK || strings.Count(got.Body, `"schedule"`) != jobs || got.Header.Get("Carillon-Node") == "" || got.Header.Get("Carillon-Lag") == "" {
			t.Errorf("node %s lists %d jobs, %v", s.opts.Node, strings.Count(got.Body, `"schedule"`), got.Header)
		}
	}
	p.readsOverNATS(jobs)
	p.readsWhileJoining(nodes, jobs)
	for _, s := range nodes[:2] {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	p.readsOfOne(nodes[2], jobs)
}

// copyRead returns the node whose copy of a shard another one reads: none if it leads the shard itself.
func copyRead(nodes []*Server, at *Server, shard uint32) string {
	switch {
	case slices.Contains(at.leads(), shard):
		return ""
	case at.memberOf(shard) != nil:
		return at.opts.Node
	}
	for _, s := range nodes {
		if s.memberOf(shard) != nil && !slices.Contains(s.leads(), shard) {
			return s.opts.Node
		}
	}
	return "none"
}

// readsOverNATS asks whichever node gets the request on the subjects of standbys.
func (p *troupe) readsOverNATS(jobs int) {
	t := p.t
	t.Helper()
	c := p.client(true)
	for range 6 {
		if list, err := c.List(t.Context(), client.ListRequest{Limit: 1000}); err != nil || len(list.Jobs) != jobs {
			t.Errorf("%d jobs, %v", len(list.Jobs), err)
		}
	}
	if j, err := c.Get(t.Context(), "job-7"); err != nil || j.Name != "job-7" {
		t.Errorf("%+v, %v", j, err)
	}
	if st, err := c.Status(t.Context()); err != nil || st.Jobs != jobs || len(st.Shards) != placeShards || slices.ContainsFunc(st.Shards, func(s client.ShardStatus) bool { return !s.HasLeader || s.Leader == "" }) {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := c.Pause(t.Context(), "job-7", ""); !client.IsUnavailable(err) || !strings.Contains(err.Error(), "carillon.v1.default.jobs.pause") {
		t.Errorf("paused by what only reads: %v", err)
	}
}

// readsWhileJoining asks a node while it receives its copies: no answer is from one that is empty yet. While a shard is handed
// over, no node may answer for a moment.
func (p *troupe) readsWhileJoining(nodes []*Server, jobs int) {
	t := p.t
	t.Helper()
	d := p.placed("d", t.TempDir(), nil)
	share := 2 * (placeShards - 1) / (len(nodes) + 1)
	for i := 0; i < 2*jobs || len(d.held()) < share; i++ {
		got := readAt(t, d, fmt.Sprint("jobs/job-", i%jobs))
		if got.Status != http.StatusOK && got.Status != http.StatusServiceUnavailable {
			t.Fatalf("read %d at a node that receives %v: %d %s, %v", i, d.held(), got.Status, got.Body, got.Header)
		}
	}
	settled(t, append(nodes, d)...)
	must(t, d.Close(t.Context()))
}

// readsOfOne asks the only node that is left. While it takes over a shard, or gives one up because its lease was late, it may not
// answer for the shard for a moment.
func (p *troupe) readsOfOne(s *Server, jobs int) {
	t := p.t
	t.Helper()
	lost := func(name string) bool {
		return s.memberOf(job.ShardOf(job.SlotOf("default", name), placeShards)) == nil
	}
	kept := 0
	for i := range jobs {
		name := fmt.Sprint("job-", i)
		if !lost(name) {
			kept++
			testkit.Until(t, name+" is read", func() bool { return readAt(t, s, "jobs/"+name).Status == http.StatusOK })
			continue
		}
		if got := readAt(t, s, "jobs/"+name); got.Status != http.StatusServiceUnavailable || !strings.Contains(got.Body, "no node with a copy of shard") {
			t.Errorf("%s is lost: %d %s", name, got.Status, got.Body)
		}
	}
	if kept == 0 || kept == jobs {
		t.Errorf("%d of %d jobs are left", kept, jobs)
	}
	if got := readAt(t, s, "jobs?limit=1000"); got.Status != http.StatusServiceUnavailable || !strings.Contains(got.Body, "does not answer, so the list would have holes") {
		t.Errorf("a list with holes: %d %.300s", got.Status, got.Body)
	}
	testkit.Until(t, fmt.Sprintf("a part of the list has %d jobs", kept), func() bool {
		got := readAt(t, s, "jobs?limit=1000&partial=true")
		return got.Status == http.StatusOK && strings.Count(got.Body, `"schedule"`) == kept && strings.Contains(got.Body, `"missing_shards":[`)
	})
	c, err := client.Connect(s.Ready().HTTP, client.Options{Standby: true, NoRetry: true, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.List(t.Context(), client.ListRequest{}); !client.IsUnavailable(err) {
		t.Errorf("the client lists %v", err)
	}
	testkit.Until(t, "the client lists them", func() bool {
		list, err := c.List(t.Context(), client.ListRequest{Partial: true, Limit: 1000})
		return err == nil && len(list.Jobs) == kept
	})
}
