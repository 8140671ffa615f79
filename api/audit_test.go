package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// TestAuditEntry reads one entry with everything in it: jobs are shown as jobs.get shows them, without
// their payloads.
func TestAuditEntry(t *testing.T) {
	d, c := startDesk(t, 0)
	d.Entries = apitest.DeskEntries(1)
	page, err := c.ListAudit(t.Context(), client.AuditRequest{Name: "a/b", Action: "update", By: "alice@ci", From: timeOf(1), To: timeOf(apitest.DeskAt)})
	if err != nil || len(page.Entries) != 1 || page.NextCursor != "" {
		t.Fatalf("%+v, %v", page, err)
	}
	want := scheduler.AuditQuery{Tenant: "default", Name: "a/b", Action: job.ActionUpdate, By: "alice@ci", From: 1, To: apitest.DeskAt, Limit: auditStep}
	if d.Asked != want {
		t.Errorf("the engine was asked for %+v, want %+v", d.Asked, want)
	}
	e := page.Entries[0]
	if e.ID != "1001-3" || e.At != timeOf(apitest.DeskAt) || e.By != "alice@ci" || e.From != "nats" || e.Action != "update" ||
		e.Name != "a/b" || e.JobID != job.ID(42).String() || e.Detail != "because" {
		t.Errorf("%+v", e)
	}
	for _, j := range []*client.Job{e.Before, e.After} {
		if j == nil || j.Payload != nil || len(j.Schedules) != 2 || j.MaxConcurrent != 3 || j.Retry.Jitter == nil {
			t.Errorf("%+v", j)
		}
	}
}

// TestAuditPages goes through a log whose entries do not fit one message.
func TestAuditPages(t *testing.T) {
	d, c := startDesk(t, 16<<10)
	d.Entries = apitest.DeskEntries(100)
	var ids []string
	for e, err := range c.Audit(t.Context(), client.AuditRequest{Limit: 30}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if len(ids) != 100 || ids[0] != "1100-3" || ids[99] != "1001-3" {
		t.Errorf("%d entries: %v", len(ids), ids)
	}
}

// TestAuditKeepsQuiet checks that a reply leaves out the members that an entry lacks, and shows no definition that
// cannot be decoded.
func TestAuditKeepsQuiet(t *testing.T) {
	d, c := startDesk(t, 0)
	d.Entries = []job.AuditEntry{{ID: job.AuditID{LSN: 5}, At: apitest.DeskAt, Action: job.ActionPutCalendar, Name: "holidays"}}
	page, err := c.ListAudit(t.Context(), client.AuditRequest{})
	if err != nil || page.Entries[0].ID != "5-0" || page.Entries[0].JobID != "" || page.Entries[0].After != nil {
		t.Errorf("%+v, %v", page, err)
	}
	d.Entries[0].After = []byte{255, 1, 2}
	if _, err := c.ListAudit(t.Context(), client.AuditRequest{}); !errors.Is(err, client.CodeInternal) {
		t.Errorf("a broken entry: %v", err)
	}
}

func TestAuditPlaces(t *testing.T) {
	want := scheduler.AuditPlace{Day: 1<<32 - 1, ID: job.AuditID{LSN: 1<<64 - 1, Seq: 1<<32 - 1}}
	if got, err := parseAuditPlace(auditKey(want)); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, key := range []string{"", "1", "1-2", "1-2-3-4", "a-2-3", "1--3", "4294967296-1-1", "1-1-4294967296"} {
		if _, err := parseAuditPlace(key); err == nil {
			t.Errorf("%q is a place", key)
		}
	}
}

// TestActionWords holds the words of the schema against those of package job.
func TestActionWords(t *testing.T) {
	for i, word := range auditActions["enum"].([]string) {
		if a, err := job.ParseAction(word); err != nil || a != job.Action(i+1) {
			t.Errorf("%s is %d, %v", word, a, err)
		}
	}
	if next := job.Action(len(auditActions["enum"].([]string)) + 1).String(); next != "unknown" {
		t.Errorf("%s has no word in the schema", next)
	}
}

func TestAsker(t *testing.T) {
	for by, ok := range map[string]bool{
		"": true, "alice@ci": true, "Zoë Ω": true, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false, "a\x00b": false, "a\x7f": false, "\xff": false,
	} {
		got, err := askerOf(nats.Header{"Carillon-By": {by}})
		if want := (job.Actor{By: by, From: "nats"}); (err == nil) != ok || ok && got != want {
			t.Errorf("%q: %+v, %v", by, got, err)
		}
	}
	if got, err := askerOf(nil); err != nil || got != (job.Actor{From: "nats"}) {
		t.Errorf("nobody: %+v, %v", got, err)
	}
}

// TestBadAsker sends every verb a request with an invalid Carillon-By.
func TestBadAsker(t *testing.T) {
	_, url := startService(t, apitest.NewDesk(t), Options{}, 0)
	nc := apitest.Connect(t, url)
	for _, v := range verbs {
		msg := apitest.NewMsg("carillon.v1.default."+v.name, "{}")
		msg.Header.Set("Carillon-By", strings.Repeat("x", 129))
		reply, err := nc.RequestMsgWithContext(t.Context(), msg)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"field":"by"`; reply.Header.Get("Nats-Service-Error-Code") != "422" || !strings.Contains(string(reply.Data), want) {
			t.Errorf("%s: %s", v.name, reply.Data)
		}
	}
}
