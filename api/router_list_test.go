package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// putNames registers jobs by the thousand.
func (c *clusterOfShards) putNames(names []string) {
	c.t.Helper()
	for some := range slices.Chunk(names, 1000) {
		var jobs []string
		for _, name := range some {
			jobs = append(jobs, apitest.JobWith("name", `"`+name+`"`))
		}
		if got := c.ask("jobs.put_many", `{"jobs":[`+strings.Join(jobs, ",")+`]}`); !strings.Contains(got, `"rejected":0}`) {
			c.t.Fatalf("%.1000s", got)
		}
	}
}

// pagesOf asks alternating routers for the pages of a list, and calls each with each page.
func (c *clusterOfShards) pagesOf(verb, filter string, each func(page string)) {
	c.t.Helper()
	cursor := ""
	for i := 0; ; i++ {
		page := c.askOver(i%2, verb, `{`+filter+`,"cursor":"`+cursor+`"}`)
		if e := refusalIn(c.t, page); e != nil {
			c.t.Fatalf("page %d of %s: %v", i, verb, e)
		}
		each(page)
		var got struct {
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(page), &got); err != nil {
			c.t.Fatal(err)
		}
		if cursor = got.NextCursor; cursor == "" {
			return
		}
	}
}

// names lists the names of jobs.
func (c *clusterOfShards) names(filter string) (names []string, pages int) {
	c.t.Helper()
	c.pagesOf("jobs.list", filter, func(text string) {
		var page client.JobPage
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			c.t.Fatal(err)
		}
		for i := range page.Jobs {
			names = append(names, page.Jobs[i].Name)
		}
		pages++
	})
	return names, pages
}

// TestRouterListsNames lists ten thousand jobs, or a fifth of them under the race detector, in pages of many sizes, through
// alternating nodes, while others come and go: each that is there all the time is listed once, in the order of names.
func TestRouterListsNames(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	var stay []string
	count := 10_000
	if testkit.Brief() {
		count = 2000
	}
	for i := range count {
		stay = append(stay, fmt.Sprintf("stay/%05d", i))
	}
	c.putNames(stay)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			name := fmt.Sprintf("stay/%05d-%d", i*7919%count, i%3)
			_, _ = c.nc.Request("carillon.v1.default.jobs.put", []byte(apitest.JobWith("name", `"`+name+`"`)), time.Second)
			if i > 50 {
				_, _ = c.nc.Request("carillon.v1.default.jobs.delete", []byte(fmt.Sprintf(`{"name":"stay/%05d-%d"}`, (i-50)*7919%count, (i-50)%3)), time.Second)
			}
		}
	}()
	for _, limit := range []int{1000, 337, 100} {
		names, pages := c.names(fmt.Sprintf(`"limit":%d`, limit))
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("limit %d: the names are not in order, or not unique", limit)
		}
		kept := slices.DeleteFunc(names, func(name string) bool { return len(name) > len("stay/00000") })
		if !slices.Equal(kept, stay) {
			t.Errorf("limit %d: %d of %d names", limit, len(kept), len(stay))
		}
		if most := len(stay)/limit + len(stay)/limit/10 + 3; pages > most {
			t.Errorf("limit %d: %d pages, want at most %d", limit, pages, most)
		}
	}
	cancel()
	<-done
	if names, pages := c.names(`"prefix":"stay/0000","limit":10`); pages < 1 || !slices.IsSorted(names) || len(names) < 10 {
		t.Errorf("%v in %d pages", names, pages)
	}
	if names, pages := c.names(`"limit":1000,"prefix":"none"`); len(names) != 0 || pages != 1 {
		t.Errorf("%v in %d pages", names, pages)
	}
}

// TestRouterListsLargeJobs lists jobs of which few fit one message: each has its payload, and pages are full.
func TestRouterListsLargeJobs(t *testing.T) {
	c := startShards(t, 8, Options{}, 64<<10)
	var want []string
	for i := range 40 {
		name := fmt.Sprintf("job-%02d", i)
		want = append(want, name)
		payload := strings.Repeat("x", 1000+i%4*15_000)
		if got := c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`, "payload", `"`+payload+`"`)); refusalIn(t, got) != nil {
			t.Fatal(got)
		}
	}
	var names []string
	pages := 0
	c.pagesOf("jobs.list", `"limit":1000`, func(text string) {
		var page client.JobPage
		if err := json.Unmarshal([]byte(text), &page); err != nil || len(text) > 64<<10-replyHeaderBytes {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		for i := range page.Jobs {
			names = append(names, page.Jobs[i].Name)
			if len(page.Jobs[i].Payload) < 1000 {
				t.Errorf("%s has no payload", page.Jobs[i].Name)
			}
		}
		pages++
	})
	if !slices.Equal(names, want) || pages > 40*24_000/(64<<10)+10 {
		t.Errorf("%d pages with %v", pages, names)
	}
}

// die registers jobs whose only run is dead, and returns how many dead runs there are.
func (c *clusterOfShards) die(jobs int) int {
	c.t.Helper()
	for i := range jobs {
		body := apitest.JobWith("name", fmt.Sprintf(`"dying-%03d"`, i), "target", `{"kind":"nats","subject":"fail"}`, "retry", `{"max_attempts":1}`)
		if got := c.ask("jobs.put", body); refusalIn(c.t, got) != nil {
			c.t.Fatal(got)
		}
		if got := c.ask("jobs.trigger", fmt.Sprintf(`{"name":"dying-%03d"}`, i)); refusalIn(c.t, got) != nil {
			c.t.Fatal(got)
		}
	}
	testkit.Until(c.t, "all are dead", func() bool { return len(c.dead(`"limit":1000`)) == jobs })
	return jobs
}

// dead lists the dead runs of all jobs.
func (c *clusterOfShards) dead(filter string) (runs []client.Run) {
	c.t.Helper()
	c.pagesOf("runs.list", `"status":"dead",`+filter, func(text string) {
		var page client.RunPage
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			c.t.Fatal(err)
		}
		runs = append(runs, page.Runs...)
	})
	return runs
}

// TestRouterDeadRuns lists, retries and dismisses the dead runs of all jobs.
func TestRouterDeadRuns(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	jobs := c.die(60)
	for _, limit := range []int{1, 7, 60} {
		runs, seen := c.dead(fmt.Sprintf(`"limit":%d,"attempts":true`, limit)), map[string]bool{}
		for i, run := range runs {
			if seen[run.RunID] = true; i > 0 && run.ScheduledAt.After(runs[i-1].ScheduledAt.Time) || len(run.Attempts) != 1 {
				t.Errorf("run %d: %+v", i, run)
			}
		}
		if len(runs) != jobs || len(seen) != jobs {
			t.Errorf("limit %d: %d runs, %d different", limit, len(runs), len(seen))
		}
	}
	if got := c.ask("runs.dismiss_many", `{"limit":25,"reason":"known"}`); got != `{"dismissed":25,"more":true}` {
		t.Error(got)
	}
	if left := len(c.dead(`"limit":10`)); left != jobs-25 {
		t.Errorf("%d are left", left)
	}
	if got := c.ask("runs.dismiss_many", `{"job":"dying-001"}`); refusalIn(t, got) != nil {
		t.Error(got)
	}
	// What is retried dies again, so that any number of them may be found.
	if got := c.ask("runs.retry_many", `{"limit":5}`); got != `{"retried":5,"more":true}` {
		t.Error(got)
	}
	if got := c.ask("runs.dismiss_many", `{"to":"2020-01-01T00:00:00Z"}`); got != `{"dismissed":0,"more":false}` {
		t.Error(got)
	}
	testkit.Until(t, "all are dismissed", func() bool { return c.ask("runs.dismiss_many", `{"limit":1000}`) == `{"dismissed":0,"more":false}` })
}

// TestRouterDeadRunsOfManyDays lists dead runs of many days in pages of many sizes: each is there once, newest first.
func TestRouterDeadRunsOfManyDays(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	const jobs, days = 12, 9
	now := time.Now().UTC().Truncate(24 * time.Hour)
	for i := range jobs {
		body := apitest.JobWith("name", fmt.Sprintf(`"daily-%02d"`, i), "target", `{"kind":"nats","subject":"fail"}`, "retry", `{"max_attempts":1}`,
			"schedule", fmt.Sprintf(`"%d 3 * * *"`, i), "overlap_policy", `"allow"`, "paused", `true`)
		if got := c.ask("jobs.put", body); refusalIn(t, got) != nil {
			t.Fatal(got)
		}
		asked := fmt.Sprintf(`{"name":"daily-%02d","from":%q,"to":%q}`, i, now.AddDate(0, 0, -days).Format(time.RFC3339), now.Format(time.RFC3339))
		if got := c.ask("jobs.backfill", asked); refusalIn(t, got) != nil {
			t.Fatal(got)
		}
	}
	testkit.Until(t, "all are dead", func() bool { return len(c.dead(`"limit":1000`)) == jobs*days })
	for _, limit := range []int{1, 5, 20, 50, 1000} {
		runs, seen := c.dead(fmt.Sprintf(`"limit":%d`, limit)), map[string]bool{}
		for i, run := range runs {
			if seen[run.RunID] = true; i > 0 && run.ScheduledAt.After(runs[i-1].ScheduledAt.Time) {
				t.Fatalf("limit %d: run %d of %s comes after one of %s", limit, i, run.ScheduledAt, runs[i-1].ScheduledAt)
			}
		}
		if len(runs) != jobs*days || len(seen) != jobs*days {
			t.Errorf("limit %d: %d runs, %d different, want %d", limit, len(runs), len(seen), jobs*days)
		}
	}
}

// TestRouterAudit reads the audit log in pages of many sizes while it grows: no entry that was there is missing or
// twice, and the newest come first.
func TestRouterAudit(t *testing.T) {
	c := startShards(t, 4, Options{}, 0)
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("job-%03d", i))
	}
	c.putNames(names)
	if got := c.ask("calendars.put", `{"name":"days","exclude":[]}`); refusalIn(t, got) != nil {
		t.Fatal(got)
	}
	for i := range 100 {
		c.ask("jobs.pause", fmt.Sprintf(`{"name":"job-%03d"}`, i))
	}
	for _, limit := range []int{1000, 97, 13} {
		seen := map[string]int{}
		var last time.Time
		pages, before := 0, 0
		c.pagesOf("audit.list", fmt.Sprintf(`"limit":%d`, limit), func(text string) {
			var page client.AuditPage
			if err := json.Unmarshal([]byte(text), &page); err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Entries {
				if !last.IsZero() && e.At.After(last) {
					t.Errorf("%s is after %s", e.At, last)
				}
				last = e.At.Time
				if seen[e.ID]++; e.Action != "resume" {
					before++
				}
			}
			c.ask("jobs.resume", fmt.Sprintf(`{"name":"job-%03d"}`, pages%100)) // the log grows
			pages++
		})
		if twice := slices.ContainsFunc(slices.Collect(maps.Values(seen)), func(n int) bool { return n != 1 }); twice || before != 601 {
			t.Errorf("limit %d: %d entries from before, some twice: %t", limit, before, twice)
		}
	}
	entries := 0
	c.pagesOf("audit.list", `"action":"pause","limit":9`, func(text string) { entries += strings.Count(text, `"action":"pause"`) })
	if entries != 100 {
		t.Errorf("%d pauses", entries)
	}
}

// TestRouterCursors: a cursor is valid for its list, and for clusters with the same number of shards.
func TestRouterCursors(t *testing.T) {
	cursorOf := func(text string) string {
		var page struct {
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || page.NextCursor == "" {
			t.Fatalf("%s, %v", text, err)
		}
		return page.NextCursor
	}
	c, other := startShards(t, 4, Options{}, 0), startShards(t, 2, Options{}, 0)
	lists := map[string]string{"jobs.list": `"limit":1`, "audit.list": `"limit":1`, "runs.list": `"status":"dead","limit":1`}
	c.die(5)
	other.die(5)
	for verb, filter := range lists {
		cursor := cursorOf(c.ask(verb, `{`+filter+`}`))
		for what, body := range map[string]string{
			"other shards": cursorOf(other.ask(verb, `{`+filter+`}`)), "tampered": apitest.Tamper(cursor), "cut": cursor[:len(cursor)-1],
			"one shard's": query{"jobs", "default", "", ""}.cursor("a"), "odd": "abc",
		} {
			if e := refusalIn(t, c.ask(verb, `{`+filter+`,"cursor":"`+body+`"}`)); e == nil || e.Code != client.CodeInvalidField || e.Field != "cursor" {
				t.Errorf("%s with a cursor that is %s: %v", verb, what, e)
			}
		}
		if e := refusalIn(t, c.ask(verb, `{`+filter+`,"from":"2020-01-01T00:00:00Z","cursor":"`+cursor+`"}`)); e == nil {
			t.Errorf("%s: the cursor of another selection", verb)
		}
	}
	// Sums can be computed: what is behind one is checked too.
	r := c.routers[0].executor.router
	for verb, l := range map[string]*mergedList{
		"audit.list": {asked: (&auditRequest{}).asked()},
		"runs.list":  {asked: (&runListRequest{}).asked()},
	} {
		l.asked[1] = "default"
		if verb == "runs.list" {
			l.asked[5] = "dead"
		}
		for _, key := range []string{"x", "\x01\x01\x01", strings.Repeat("\x01", 13), strings.Repeat("\xff", 40)} {
			body := `{"cursor":"` + r.merged(l).cursor(key) + `","status":"dead"}`
			if verb == "audit.list" {
				body = strings.Replace(body, `,"status":"dead"`, "", 1)
			}
			if e := refusalIn(t, c.ask(verb, body)); e == nil || e.Field != "cursor" {
				t.Errorf("%s from %q: %v", verb, key, e)
			}
		}
	}
}

// TestRouterListsRare looks for a few jobs among many: a page of a shard reads a bounded number of jobs, so pages end
// before they are full, and go on where all shards have been read.
func TestRouterListsRare(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	var names, want []string
	for i := range 9000 {
		name := fmt.Sprintf("many/%04d", i)
		if i >= 3500 || job.ShardOf(job.SlotOf("default", name), 2) == 0 { // so that one shard is far ahead of the other
			names = append(names, name)
		}
	}
	c.putNames(names)
	for i := 5500; i < 9000; i += 7 {
		name := fmt.Sprintf("many/%04d-rare", i)
		if job.ShardOf(job.SlotOf("default", name), 2) != 0 {
			continue // only the shard that is behind has what is looked for
		}
		want = append(want, name)
		if got := c.ask("jobs.put", apitest.JobWith("name", `"`+name+`"`, "target", `{"kind":"nats","subject":"seldom"}`)); refusalIn(t, got) != nil {
			t.Fatal(got)
		}
	}
	for _, limit := range []int{9, 100, 1000} {
		if got, pages := c.names(fmt.Sprintf(`"target":"seldom","limit":%d`, limit)); !slices.Equal(got, want) || pages < 2 {
			t.Errorf("limit %d: %v in %d pages", limit, got, pages)
		}
	}
}
