package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// standby starts the service of a standby of a shard that lags by so many commits, with the data of an engine.
func (c *clusterOfShards) standby(shard int, node string, lag uint64, engine *scheduler.Engine, change func(*Options)) *Service {
	c.t.Helper()
	about := client.Cluster{Node: node, Role: "standby", Lag: lag, LagMS: float64(10 * lag)}
	o := Options{
		Logger: apitest.Quiet, Standby: true, Shard: uint32(shard), Shards: uint32(len(c.engines)), Leads: func() bool { return false },
		Node: Node{Cluster: func() *client.Cluster { return &about }},
	}
	if change != nil {
		change(&o)
	}
	nc := apitest.Connect(c.t, c.url)
	s, err := NewService(nc, engine, o)
	if err != nil {
		c.t.Fatal(err)
	}
	apitest.CloseAtEnd(c.t, s.Close)
	if err := nc.Flush(); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// old returns an engine as one of a copy that has only the jobs of these names.
func (c *clusterOfShards) old(names ...string) *scheduler.Engine {
	c.t.Helper()
	e := startMixed(c.t)
	l, err := NewLocal(e, Options{Logger: apitest.Quiet})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range names {
		if _, err := l.Ask(c.t.Context(), "default", "jobs.put", "", []byte(apitest.JobWith("name", `"`+name+`"`))); err != nil {
			c.t.Fatal(err)
		}
	}
	return e
}

// read asks the node of a router over HTTP for a read that may lag. lag is what the headers say, with slashes.
func (c *clusterOfShards) read(router int, verb, body string) (text, lag string) {
	c.t.Helper()
	x := c.routers[router].Executor()
	if !x.Enter() {
		c.t.Fatal("the router is closed")
	}
	defer x.Leave()
	of := new(Lag)
	reply, refusal := x.OverHTTP(c.t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
		return Request{Tenant: "default", Asker: job.Actor{From: "http"}, Body: []byte(body), Lag: of}, nil
	})
	defer reply.Release()
	h := make(http.Header)
	x.StateLag(h, of)
	if refusal != nil {
		return string(ErrorBody(refusal)), lagIn(h)
	}
	return string(reply.Text), lagIn(h)
}

// lagIn returns what the headers of a reply say, with slashes; "" for the reply of leaders.
func lagIn(h map[string][]string) string {
	if h[nodeHeader] == nil {
		return ""
	}
	return strings.Join([]string{h[nodeHeader][0], h[lagHeader][0], h[lagMSHeader][0]}, "/")
}

// TestReadsThatMayLag: a node answers from its own copy of a shard; without one it asks a standby, and without a standby the
// leader. The reply says whose copies were read, and how far they lag.
func TestReadsThatMayLag(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	var jobs [4][2]string // of each shard: one that its copies have, and a newer one
	for shard := range jobs {
		jobs[shard] = [2]string{nameIn(shard, 4, 0), nameIn(shard, 4, 1)}
		for _, name := range jobs[shard] {
			if e := refusalIn(t, c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`))); e != nil {
				t.Fatal(e)
			}
		}
	}
	get := func(router, shard, n int) string {
		t.Helper()
		text, lag := c.read(router, "jobs.get", `{"name":"`+jobs[shard][n]+`"}`)
		if e := refusalIn(t, text); e != nil {
			return string(e.Code) + " " + lag
		}
		return lag
	}
	c.processes[0].copies[1].Store(c.standby(1, "a", 2, c.old(jobs[1][0]), nil)) // the first node follows shard 1
	c.standby(0, "c", 3, c.old(jobs[0][0]), nil)                                 // and a third one shard 0
	for _, x := range []struct {
		what               string
		router, shard, nth int
		want               string
	}{
		{"an own copy", 0, 1, 0, "a/2/20"}, {"a job that the own copy lacks", 0, 1, 1, "not_found a/2/20"},
		{"the leader itself", 1, 1, 1, ""}, {"the leader itself", 0, 0, 1, ""},
		{"the copy of another node", 1, 0, 0, "c/3/30"}, {"a job that it lacks", 1, 0, 1, "not_found c/3/30"},
		{"no standby, so the leader", 1, 2, 1, ""}, {"no standby, so the leader", 0, 3, 1, ""},
	} {
		if got := get(x.router, x.shard, x.nth); got != x.want {
			t.Errorf("%s: shard %d at node %d says %q; want %q", x.what, x.shard, x.router, got, x.want)
		}
	}
	// A list is merged from copies and leaders, and its lag is that of all copies.
	for router, want := range []struct {
		jobs int
		lag  string
	}{{7, "a/2/20"}, {7, "c/3/30"}} {
		if text, lag := c.read(router, "jobs.list", ``); strings.Count(text, `"name"`) != want.jobs || lag != want.lag {
			t.Errorf("the list of node %d says %q: %s", router, lag, text)
		}
	}
	if text, _ := c.read(0, "jobs.put", apitest.JobWith("name", `"`+jobs[1][1]+`"`)); !strings.Contains(text, `"created":false`) {
		t.Errorf("a change goes to the leader: %s", text)
	}
	c.readWithoutLeaders(jobs)
}

// readWithoutLeaders asks for what may lag while shards have no leader.
func (c *clusterOfShards) readWithoutLeaders(jobs [4][2]string) {
	t := c.t
	t.Helper()
	c.stop(0)
	c.stop(1)
	c.stop(2)
	if text, lag := c.read(0, "jobs.get", `{"name":"`+jobs[1][0]+`"}`); refusalIn(t, text) != nil || lag != "a/2/20" {
		t.Errorf("the own copy says %q: %s", lag, text)
	}
	if text, lag := c.read(0, "jobs.get", `{"name":"`+jobs[0][0]+`"}`); refusalIn(t, text) != nil || lag != "c/3/30" {
		t.Errorf("the copy elsewhere says %q: %s", lag, text)
	}
	text, _ := c.read(1, "jobs.get", `{"name":"`+jobs[2][0]+`"}`)
	if e := refusalIn(t, text); e == nil || e.Code != client.CodeUnavailable || !strings.Contains(e.Message, "no node with a copy of shard 2 answers") {
		t.Errorf("without a copy: %s", text)
	}
	text, _ = c.read(0, "jobs.list", ``)
	c.isUnavailable("a list with a hole", text, 2)
	if text, lag := c.read(0, "jobs.list", `{"partial":true}`); strings.Count(text, `"name"`) != 4 || !strings.HasSuffix(text, `"missing_shards":[2]}`) || lag != "a, c/5/30" {
		t.Errorf("a part says %q: %s", lag, text)
	}
	text, lag := c.read(0, "status", ``)
	var st client.Status
	if err := json.Unmarshal([]byte(text), &st); err != nil || st.Jobs != 4 || lag != "a, c/5/30" || !strings.Contains(text, "no node with a copy of shard 2 answers") {
		t.Errorf("the status says %q, %v: %s", lag, err, text)
	}
}

// TestReadsThatMayLagOverNATS: each node answers them on the subjects of standbys, and changes nothing there.
func TestReadsThatMayLagOverNATS(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	name := nameIn(1, 2, 0)
	c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`))
	c.stop(1)
	c.standby(1, "c", 3, c.old(name), nil)
	for range 8 { // whichever router gets it
		m := c.onStandbys("jobs.get", `{"name":"`+name+`"}`)
		if refusalIn(t, string(m.Data)) != nil || lagIn(m.Header) != "c/3/30" {
			t.Errorf("%v %s", m.Header, m.Data)
		}
	}
	for verb, v := range verbsByName {
		m := c.onStandbys(verb, goodFor[verb])
		e := refusalIn(t, string(m.Data))
		if isRefused := e != nil && e.Code == client.CodeNotLeader; isRefused == v.reads {
			t.Errorf("%s: %s", verb, m.Data)
		}
	}
}

// onStandbys sends a request on the subjects of standbys.
func (c *clusterOfShards) onStandbys(verb, body string) *nats.Msg {
	c.t.Helper()
	m, err := c.nc.Request("carillon.standby.v1.default."+verb, []byte(body), 20*time.Second)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// TestCopiesThatAreNoUse: a copy that is being received is passed over, here and elsewhere, and so is a node that hangs.
func TestCopiesThatAreNoUse(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	name := nameIn(1, 2, 0)
	c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`))
	isWhole := false
	received := func(o *Options) { o.Whole = func() bool { return isWhole } }
	own := c.standby(1, "a", 2, c.old(), received)
	c.processes[0].copies[1].Store(own)
	c.standby(1, "c", 3, c.old(), received)
	if text, lag := c.read(0, "jobs.get", `{"name":"`+name+`"}`); refusalIn(t, text) != nil || lag != "" {
		t.Errorf("%q: %s", lag, text)
	}
	m, err := c.nc.Request("carillon.shard.1.standby.v1.default.jobs.get", []byte(`{"name":"`+name+`"}`), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if e := refusalIn(t, string(m.Data)); e == nil || e.Code != client.CodeUnavailable || !strings.Contains(e.Message, "copy of shard 1") {
		t.Errorf("%s", m.Data)
	}
	hung := apitest.Connect(t, c.url)
	for _, root := range []string{own.opts.copyRoot(0), own.opts.copyRoot(1)} {
		if _, err := hung.QueueSubscribeSync(root+">", queueGroup); err != nil {
			t.Fatal(err)
		}
	}
	if err := hung.Flush(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	text, lag := c.read(1, "jobs.list", ``)
	if took := time.Since(began); refusalIn(t, text) != nil || lag != "" || took < copyWait/2 || took > 5*copyWait {
		t.Errorf("after %s %q: %s", took, lag, text)
	}
}

// TestLagOfCopies: the commits of all copies are summed, the longest time counts, and a copy that was asked again counts once.
func TestLagOfCopies(t *testing.T) {
	l := new(Lag)
	l.note(1, lagOf{"b", 9, 99})
	l.note(1, lagOf{"b", 2, 5})
	l.note(2, lagOf{"a", 3, 7})
	l.note(3, lagOf{"b", 1, 1})
	h := nats.Header{}
	l.State(h)
	if got := lagIn(h); got != "a, b/6/7" {
		t.Error(got)
	}
	l.noteReply(4, h)
	l.noteReply(5, nats.Header{nodeHeader: {"x"}, lagHeader: {"-1"}, lagMSHeader: {"0"}})
	if got := fmt.Sprint(l.sum()); got != "{a, a, b, b 12 7}" {
		t.Error(got)
	}
	(*Lag)(nil).State(h)
}

// TestReadsAtAnUnsureLeader: a node that led a shard when it lost its connection to NATS answers reads that may lag from its own
// data, and says since when it may have been replaced.
func TestReadsAtAnUnsureLeader(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	name := nameIn(1, 2, 0)
	c.processes[0].copies[1].Store(c.standby(1, "a", 0, c.old(name), func(o *Options) {
		o.Standby, o.Unsure = false, func() time.Duration { return 3 * time.Second }
	}))
	for job, want := range map[string]string{name: "", nameIn(1, 2, 1): "not_found"} {
		text, lag := c.read(0, "jobs.get", `{"name":"`+job+`"}`)
		code := ""
		if e := refusalIn(t, text); e != nil {
			code = string(e.Code)
		}
		if code != want || lag != "a/0/3000" {
			t.Errorf("%s: %q, %s; want %q and a/0/3000", job, code, lag, want)
		}
	}
}
