package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// awayText is what callers read of a shard without a leader.
func awayText(shard int) string {
	return fmt.Sprintf("shard %d has no leader at the moment; nothing has changed, ask again later", shard)
}

// isUnavailable checks that a reply is the refusal for a shard that is away.
func (c *clusterOfShards) isUnavailable(what, reply string, shard int) {
	c.t.Helper()
	e := refusalIn(c.t, reply)
	if e == nil || e.Code != client.CodeUnavailable || !strings.Contains(e.Message, fmt.Sprintf("shard %d ", shard)) {
		c.t.Errorf("%s: %.500s; want unavailable for shard %d", what, reply, shard)
	}
}

// TestRouterWithoutALeader stops the leader of one shard: requests for its jobs are refused at once, and all others are
// carried out.
func TestRouterWithoutALeader(t *testing.T) {
	const away = 2
	c := startShards(t, 4, Options{}, 0)
	dead := c.die(40)
	run := c.runOf(nameOfRun(c, away))
	c.stop(away)
	lost, kept := nameIn(away, 4, 0), nameIn(1, 4, 0)
	began := time.Now()
	for router := range c.routers {
		if e := refusalIn(t, c.askOver(router, "jobs.put", apitest.JobWith("name", `"`+lost+`"`))); e == nil || e.Message != awayText(away) || e.Code != client.CodeUnavailable {
			t.Errorf("put: %v", e)
		}
		c.isUnavailable("get", c.askOver(router, "jobs.get", `{"name":"`+lost+`"}`), away)
		c.isUnavailable("run", c.askOver(router, "runs.get", `{"run_id":"`+run+`"}`), away)
		for _, verb := range []string{"jobs.list", "audit.list"} {
			c.isUnavailable(verb, c.askOver(router, verb, ``), away)
		}
		c.isUnavailable("dead runs", c.askOver(router, "runs.list", `{"status":"dead"}`), away)
		if got := c.askOver(router, "jobs.put", apitest.JobWith("name", `"`+kept+`"`)); refusalIn(t, got) != nil {
			t.Error(got)
		}
	}
	c.listsInPart(away, dead)
	c.bulkInPart(away)
	c.statusInPart(away)
	c.manyInPart(away)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s, so something has waited", took)
	}
}

// nameOfRun returns the name of a job with a dead run in a shard.
func nameOfRun(c *clusterOfShards, shard uint32) string {
	for _, run := range c.dead(`"limit":1000`) {
		if c.routers[0].executor.router.shardOf("default", run.Job) == shard {
			return run.Job
		}
	}
	c.t.Fatalf("shard %d has no dead run", shard)
	return ""
}

// runOf returns the id of a run of a job.
func (c *clusterOfShards) runOf(name string) string {
	c.t.Helper()
	got := runIDs.FindStringSubmatch(c.ask("runs.list", `{"job":"`+name+`"}`))
	if got == nil {
		c.t.Fatalf("%s has no run", name)
	}
	return got[1]
}

// listsInPart asks for lists without the shard that is away.
func (c *clusterOfShards) listsInPart(away, dead int) {
	t := c.t
	t.Helper()
	names, _ := c.names(`"partial":true,"limit":3`)
	for _, name := range names {
		if int(c.routers[0].executor.router.shardOf("default", name)) == away {
			t.Errorf("%s is listed", name)
		}
	}
	if len(names) < 20 || !slices.IsSorted(names) {
		t.Errorf("listed %v", names)
	}
	if runs := c.dead(`"partial":true,"limit":7`); len(runs) == 0 || len(runs) >= dead {
		t.Errorf("%d of %d dead runs", len(runs), dead)
	}
	for verb, filter := range map[string]string{"jobs.list": ``, "audit.list": ``, "runs.list": `"status":"dead",`} {
		got := c.ask(verb, `{`+filter+`"partial":true,"limit":2}`)
		if !strings.Contains(got, fmt.Sprintf(`"missing_shards":[%d]}`, away)) {
			t.Errorf("%s: %s", verb, got)
		}
		metadata, err := VerbNamed(verb).metadata()
		if err != nil {
			t.Fatal(err)
		}
		apitest.Conform(t, verb, metadata[metaResponse], got)
	}
}

// bulkInPart registers jobs in all shards.
func (c *clusterOfShards) bulkInPart(away int) {
	t := c.t
	t.Helper()
	var jobs, names []string
	for shard := range 4 {
		for n := range 3 {
			names = append(names, nameIn(shard, 4, n))
			jobs = append(jobs, apitest.JobWith("name", `"`+nameIn(shard, 4, n)+`"`))
		}
	}
	var got client.PutManyReply
	if err := json.Unmarshal([]byte(c.ask("jobs.put_many", `{"jobs":[`+strings.Join(jobs, ",")+`]}`)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != len(names) || got.Accepted != 9 || got.Rejected != 3 {
		t.Fatalf("%+v", got)
	}
	for i, r := range got.Results {
		isAway := i/3 == away
		if r.Name != names[i] || isAway != (r.Error != nil) || isAway && (r.Error.Code != client.CodeUnavailable || r.Error.Message != awayText(away)) {
			t.Errorf("%d: %+v", i, r)
		}
	}
}

// statusInPart asks for the status.
func (c *clusterOfShards) statusInPart(away int) {
	t := c.t
	t.Helper()
	var st client.Status
	text := c.askOver(0, "status", ``)
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		t.Fatal(err)
	}
	metadata, err := VerbNamed("status").metadata()
	if err != nil {
		t.Fatal(err)
	}
	apitest.Conform(t, "status", metadata[metaResponse], text)
	jobs := 0
	for i, row := range st.Shards {
		jobs += row.Jobs
		wantRole := ""
		if i%2 == 0 && i != away { // those of this process
			wantRole = "leader"
		}
		if int(row.Shard) != i || row.Slots != fmt.Sprintf("%d-%d", 64*i, 64*i+63) || row.HasLeader == (i == away) || row.HasLeader && (row.LSN == 0 || row.Jobs == 0) || row.Role != wantRole {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	if len(st.Shards) != 4 || st.Jobs != jobs || st.Dead == 0 || st.Role != "leader" || len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], fmt.Sprintf("shard %d ", away)) {
		t.Errorf("%+v", st)
	}
}

// manyInPart dismisses the dead runs of all jobs: what can be changed is changed, and then the shard is named.
func (c *clusterOfShards) manyInPart(away int) {
	t := c.t
	t.Helper()
	if got := c.ask("runs.dismiss_many", `{"limit":1000}`); !strings.Contains(got, `"more":true`) {
		t.Error(got)
	}
	c.isUnavailable("dismiss the rest", c.ask("runs.dismiss_many", ``), away)
	if runs := c.dead(`"partial":true`); len(runs) != 0 {
		t.Errorf("%d are left", len(runs))
	}
}

// TestRouterCalendars: a calendar is in all shards or in none, and what was cut short can be completed.
func TestRouterCalendars(t *testing.T) {
	const away = 3
	c := startShards(t, 4, Options{}, 0)
	put := func(line string) string { return `{"name":"days","exclude":["` + line + `"],"description":"Off."}` }
	has := func(shard int) string {
		cal, err := c.engines[shard].Calendar(t.Context(), "default", "days")
		if err != nil {
			return ""
		}
		return strings.Join(cal.Exclude, ",") + cal.Description
	}
	all := func(want string, shards ...int) {
		t.Helper()
		for _, shard := range shards {
			if got := has(shard); got != want {
				t.Errorf("shard %d has %q, want %q", shard, got, want)
			}
		}
	}
	if got := c.ask("calendars.put", put("2026-12-25")); !strings.Contains(got, `"created":true`) {
		t.Fatal(got)
	}
	all("2026-12-25Off.", 0, 1, 2, 3)
	// A job of one shard keeps it in all of them.
	name := nameIn(2, 4, 0)
	if got := c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`, "exclude", `["@calendar days"]`)); refusalIn(t, got) != nil {
		t.Fatal(got)
	}
	refused := refusalIn(t, c.ask("calendars.delete", `{"name":"days"}`))
	if refused == nil || refused.Code != client.CodeVersionConflict {
		t.Errorf("delete: %v", refused)
	}
	all("2026-12-25Off.", 0, 1, 2, 3)
	if got := c.ask("jobs.delete", `{"name":"`+name+`"}`); refusalIn(t, got) != nil {
		t.Fatal(got)
	}
	c.stop(away)
	c.isUnavailable("put", c.ask("calendars.put", put("2026-12-26")), away)
	all("2026-12-26Off.", 0, 1, 2)
	all("2026-12-25Off.", away)
	c.isUnavailable("delete", c.ask("calendars.delete", `{"name":"days"}`), away)
	all("2026-12-26Off.", 0, 1, 2)
	c.lead(away)
	if got := c.ask("calendars.put", put("2026-12-26")); !strings.Contains(got, `"created":false`) {
		t.Error(got)
	}
	all("2026-12-26Off.", 0, 1, 2, 3)
	// A delete that was cut short before the first shard is completed by the same request.
	if err := c.engines[1].DeleteCalendar(t.Context(), "default", "days"); err != nil {
		t.Fatal(err)
	}
	if got := c.ask("calendars.delete", `{"name":"days"}`); got != `{"deleted":true}` {
		t.Error(got)
	}
	all("", 0, 1, 2, 3)
	if e := refusalIn(t, c.ask("calendars.delete", `{"name":"days"}`)); e == nil || e.Code != client.CodeNotFound {
		t.Errorf("a second delete: %v", e)
	}
	// Without the first shard there is no truth.
	c.stop(0)
	for _, verb := range []string{"calendars.put", "calendars.delete", "calendars.get"} {
		body := `{"name":"days"}`
		if verb == "calendars.put" {
			body = put("2026-12-27")
		}
		c.isUnavailable(verb, c.ask(verb, body), 0)
	}
	all("", 1, 2, 3)
}

// TestRouterWithoutAnyLeader: no request hangs, and the status is still that of the node.
func TestRouterWithoutAnyLeader(t *testing.T) {
	c := startShards(t, 2, Options{Node: Node{Version: "v9"}}, 0)
	c.stop(0)
	c.stop(1)
	for verb, body := range map[string]string{
		"jobs.list": `{"partial":true}`, "status": ``, "whoami": ``,
	} {
		if e := refusalIn(t, c.ask(verb, body)); e != nil {
			t.Errorf("%s: %v", verb, e)
		}
	}
	if got := c.ask("jobs.list", `{"partial":true}`); got != `{"jobs":[],"missing_shards":[0,1]}` {
		t.Error(got)
	}
	if got := c.ask("status", ``); !strings.Contains(got, `"role":"standby"`) || !strings.Contains(got, `"version":"v9"`) {
		t.Error(got)
	}
	for verb := range verbsByName {
		if e := refusalIn(t, c.ask(verb, goodFor[verb])); e != nil && e.Code == client.CodeInternal {
			t.Errorf("%s: %v", verb, e)
		}
	}
}

// goodFor has requests that are well formed, of verbs that need members.
var goodFor = map[string]string{
	"jobs.put": apitest.JobWith(), "jobs.put_many": `{"jobs":[` + apitest.JobWith() + `]}`, "calendars.put": `{"name":"a","exclude":[]}`,
	"runs.list": `{"status":"dead"}`, "schedules.next": `{"schedule":"@daily","exclude":["@calendar a"]}`,
}

// TestRouterStatusOfNodes: the row of a shard names the node that leads it, and warnings about a shard name the shard.
func TestRouterStatusOfNodes(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	for shard, node := range []string{"a", "b"} {
		c.stop(shard)
		c.services[shard].opts.Cluster = func() *client.Cluster {
			return &client.Cluster{Node: node, Role: "leader", Warnings: []string{"one copy is missing"}}
		}
		c.lead(shard)
	}
	var st client.Status
	if err := json.Unmarshal([]byte(c.ask("status", ``)), &st); err != nil {
		t.Fatal(err)
	}
	if len(st.Shards) != 2 || st.Shards[0].Leader != "a" || st.Shards[1].Leader != "b" || !slices.Equal(st.Warnings, []string{"shard 0: one copy is missing", "shard 1: one copy is missing"}) {
		t.Errorf("%+v", st)
	}
}

// TestRefusedByAll: a bulk registration is refused as a whole only if each shard refuses its part, and none is away.
func TestRefusedByAll(t *testing.T) {
	busy, away := apierr.Errorf(apierr.RateLimited, "", "busy"), shardFailed(1, VerbNamed("jobs.put"), nats.ErrNoResponders)
	for _, x := range []struct {
		errs []error
		want error
	}{
		{[]error{busy, busy}, busy}, {[]error{busy, nil}, nil}, {[]error{nil, busy}, nil}, {[]error{away, away}, nil}, {[]error{busy, away}, nil},
	} {
		if got := refusedByAll([]uint32{0, 1}, x.errs); got != x.want {
			t.Errorf("%v gave %v", x.errs, got)
		}
	}
	if err := refusedByAll(nil, nil); err != nil {
		t.Error(err)
	}
	if mayHaveChanged(away) || mayHaveChanged(busy) || !mayHaveChanged(shardFailed(1, VerbNamed("jobs.put"), nats.ErrTimeout)) || !mayHaveChanged(context.DeadlineExceeded) {
		t.Error("what is certain of a failed request is wrong")
	}
}
