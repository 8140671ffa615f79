package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/testkit"
)

// ask sends a request to a node over HTTP.
func (p *troupe) ask(s *Server, method, path, body string) testkit.Reply {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, s.Ready().HTTP+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return testkit.Do(p.t, http.DefaultClient, r)
}

// closeOn puts a calendar that excludes some days.
func (p *troupe) closeOn(s *Server, name string, days ...string) testkit.Reply {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"exclude": append([]string{}, days...)})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.ask(s, http.MethodPut, "/api/v1/calendars/"+name, string(body))
}

// nextDay returns the day of the next run of a job.
func (p *troupe) nextDay(s *Server, name string) string {
	p.t.Helper()
	var reply struct{ Job client.JobInfo }
	r := p.answer(func() testkit.Reply { return p.ask(s, http.MethodGet, "/api/v1/jobs/"+name, "") })
	if err := json.Unmarshal([]byte(r.Body), &reply); err != nil || r.Status != http.StatusOK || reply.Job.NextRunAt.IsZero() {
		p.t.Fatalf("%s: %d %s, %v", name, r.Status, r.Body, err)
	}
	return reply.Job.NextRunAt.UTC().Format(time.DateOnly)
}

// copyOf returns what a shard of a process has of a calendar; nil: it has none.
func copyOf(s *Server, shard uint32, name string) []string {
	cal, err := s.memberOf(shard).shard.Engine().Calendar(context.Background(), "default", name)
	if err != nil {
		return nil
	}
	return append([]string{}, cal.Exclude...)
}

// TestShardThatWasAwayFollowsTheCalendar: a shard has no leader while a calendar is put and another one is deleted. When it is led
// again its jobs follow the new calendar, without another put. The audit log of the shard has the changes as those of the
// engine, and that of the cluster does not show them.
func TestShardThatWasAwayFollowsTheCalendar(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	p.lease = shortLease
	dir := t.TempDir()
	a, b := p.startShards("a", dir), p.startShards("b", t.TempDir())
	if r := p.closeOn(a, "closed"); r.Status != http.StatusCreated {
		t.Fatal(r.Status, r.Body)
	}
	name := nameIn(3)
	if r := p.ask(a, http.MethodPut, "/api/v1/jobs/"+name, `{"schedule":"0 12 * * *","exclude":["@calendar closed"],"target":{"kind":"nats","subject":"out"}}`); r.Status != http.StatusCreated {
		t.Fatal(r.Status, r.Body)
	}
	day := p.nextDay(a, name)
	p.split(a, b)
	a.memberOf(3).shard.Kill()
	b.memberOf(3).shard.Kill()
	testkit.Until(t, "the put fails in shard 3", func() bool {
		r := p.closeOn(a, "closed", day)
		return r.Status == http.StatusServiceUnavailable && strings.Contains(r.Body, "the calendar has changed, but not in shard 3: shard 3 has no leader at the moment; put it again")
	})
	if r := p.closeOn(a, "new", day); r.Status != http.StatusServiceUnavailable {
		t.Errorf("a new calendar: %d %s", r.Status, r.Body)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := p.options("a", dir)
	o.LeadAlone = true // the other node, which runs, would be awaited
	a = p.startWith(o)
	testkit.Until(t, "a leads shard 3", func() bool { return slices.Contains(a.leads(), 3) })
	testkit.Until(t, "the job follows the new calendar", func() bool { return p.nextDay(a, name) != day })
	testkit.Until(t, "shard 3 has the new calendar", func() bool { return slices.Equal(copyOf(a, 3, "new"), []string{day}) })
	var page struct{ Entries []client.AuditEntry }
	p.askShard(3, "audit.list", `{"action":"put_calendar"}`, &page)
	if len(page.Entries) != 3 || page.Entries[0].By != job.ActorEngine.By || page.Entries[0].Detail != "as in shard 0" {
		t.Errorf("the audit log of the shard has %+v", page.Entries)
	}
	testkit.Until(t, "all shards have leaders", func() bool { return p.ask(a, http.MethodGet, "/api/v1/audit", "").Status == http.StatusOK })
	if r := p.ask(a, http.MethodGet, "/api/v1/audit", ""); strings.Contains(r.Body, "as in shard 0") {
		t.Errorf("the audit log of the cluster has %s", r.Body)
	}
}

// TestCopiesWithoutTruth: the copy of a calendar that shard 0 does not have is deleted, unless a job of its shard refers to it:
// then the job keeps it, and the status has a warning until the job no longer does.
func TestCopiesWithoutTruth(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a := p.startShards("a", t.TempDir())
	engine, name := a.memberOf(2).shard.Engine(), nameIn(2)
	for _, calendar := range []string{"used", "unused"} {
		if _, _, err := engine.PutCalendar(t.Context(), &job.Calendar{Tenant: "default", Name: calendar, Exclude: []string{"2026-01-06"}}); err != nil {
			t.Fatal(err)
		}
	}
	var put struct{ Job client.JobInfo }
	p.askShard(2, "jobs.put", `{"name":"`+name+`","schedule":"0 12 * * *","exclude":["@calendar used"],"target":{"kind":"nats","subject":"out"}}`, &put)
	warning := "shard 2 has calendars that shard 0 does not have, and keeps them because jobs refer to them: 1"
	warned := func() bool {
		return slices.ContainsFunc(p.info(a).Warnings, func(w string) bool { return strings.Contains(w, warning) }) ||
			p.info(a).Cluster != nil && slices.ContainsFunc(p.info(a).Cluster.Warnings, func(w string) bool { return strings.Contains(w, warning) })
	}
	testkit.Until(t, "the status has a warning", warned)
	testkit.Until(t, "the copy without a job is gone", func() bool { return copyOf(a, 2, "unused") == nil })
	if copyOf(a, 2, "used") == nil {
		t.Error("the copy to which a job refers is gone")
	}
	if r := p.ask(a, http.MethodDelete, "/api/v1/jobs/"+name, ""); r.Status != http.StatusOK {
		t.Fatal(r.Status, r.Body)
	}
	testkit.Until(t, "the copy is gone", func() bool { return copyOf(a, 2, "used") == nil })
	testkit.Until(t, "so is the warning", func() bool { return !warned() })
}

// TestMendingWaits: a copy is mended only after it has differed for two seconds in the same way, and while the replica of shard 0
// is level; a put that arrives meanwhile counts as new.
func TestMendingWaits(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a := p.startShards("a", t.TempDir())
	a.stopCalendars()
	truth, own, isLevel := a.first().shard.Engine(), a.memberOf(2).shard.Engine(), true
	k := &calendarKeeper{member: a.memberOf(2), logger: testLog(), truth: func() (*scheduler.Engine, func() bool) { return truth, func() bool { return isLevel } }}
	put := func(e *scheduler.Engine, day string) {
		t.Helper()
		if _, _, err := e.PutCalendar(t.Context(), &job.Calendar{Tenant: "default", Name: "x", Exclude: []string{day}}); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	look := func(after time.Duration, want string) {
		t.Helper()
		k.look(t.Context(), began.Add(after))
		if got := strings.Join(copyOf(a, 2, "x"), " "); got != want {
			t.Errorf("after %s the copy is %q, want %q", after, got, want)
		}
	}
	put(truth, "2026-01-06")
	look(0, "")
	look(time.Second, "")
	put(own, "2026-01-05") // on its way before the truth
	look(2*time.Second, "2026-01-05")
	look(3*time.Second, "2026-01-05")
	put(truth, "2026-01-07")
	look(4*time.Second, "2026-01-05")
	isLevel = false
	look(time.Minute, "2026-01-05")
	isLevel = true
	look(time.Minute, "2026-01-07")
	look(2*time.Minute, "2026-01-07")
	if len(k.differ) > 0 {
		t.Errorf("there are still differences: %v", k.differ)
	}
}
