package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// TestAuditOfTheFirstRelease: entries that were written with credentials are read without, and show what was replaced.
func TestAuditOfTheFirstRelease(t *testing.T) {
	d, c := startDesk(t, 0)
	d.Entries = apitest.DeskEntries(1)
	before := apitest.WholeJob().Def
	before.Target.URL = "https://example.com/?token=planted-1"
	before.Headers = []job.Pair{{Key: "Authorization", Value: "planted-2"}, {Key: "X-Key", Value: "planted-3"}}
	after := before
	after.Headers = []job.Pair{{Key: "Authorization", Value: "planted-4"}, {Key: "X-Key", Value: "planted-3"}}
	d.Entries[0].Before, d.Entries[0].After = job.EncodeDefinition(&before), job.EncodeDefinition(&after)
	page, err := c.ListAudit(t.Context(), client.AuditRequest{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(page)
	if err != nil || strings.Contains(string(text), "planted") {
		t.Errorf("%s, %v", text, err)
	}
	if from, to := page.Entries[0].Before, page.Entries[0].After; from.Headers["Authorization"] != job.Mask || to.Headers["Authorization"] != job.MaskChanged ||
		to.Headers["X-Key"] != job.Mask || to.Target.URL != "https://example.com/?token="+job.Mask {
		t.Errorf("%v became %v, with %s", from.Headers, to.Headers, to.Target.URL)
	}
	if job.Mask != client.Mask {
		t.Error("the client has another mask than the server")
	}
}

// TestRunsMaskCredentials: errors of runs that an older release wrote, and before errors were masked when they are written.
func TestRunsMaskCredentials(t *testing.T) {
	const text, want = `Post "https://ann:planted@x.y/?sig=planted": refused`, `Post "https://ann:********@x.y/?sig=********": refused`
	v := apitest.DeskRun
	v.Error, v.Attempts = text, []job.Attempt{{Number: 1, Error: text}}
	if run := runOf(&v); run.Error != want || attemptsOf(&v)[0].Error != want {
		t.Errorf("%s, %+v", run.Error, attemptsOf(&v))
	}
}

// TestHeadersOfOneNameFromAnOlderRelease: a job that an older release took with two headers which differ in case alone is
// shown and runs; put back as it is shown it is refused, and with one of the two it keeps that one's credential.
func TestHeadersOfOneNameFromAnOlderRelease(t *testing.T) {
	engine := apitest.StartEngine(t)
	old := job.Defaults()
	old.Tenant, old.Name, old.Schedule, old.Target = "default", "a", "@yearly", job.Target{Kind: job.TargetNATS, Subject: "out.a"}
	old.Headers = []job.Pair{{Key: "Authorization", Value: "upper"}, {Key: "authorization", Value: "lower"}}
	if _, _, err := engine.Put(t.Context(), &old, nil); err != nil { // an engine checks no definitions: its callers do
		t.Fatal(err)
	}
	_, url := startService(t, engine, Options{}, 0)
	c := apitest.NewClient(t, url, client.Options{})
	shown, err := c.Get(t.Context(), "a")
	if err != nil || len(shown.Headers) != 2 {
		t.Fatalf("%+v, %v", shown, err)
	}
	if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "a"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Pause(t.Context(), "a", ""); err != nil {
		t.Error(err)
	}
	_, _, err = c.Put(t.Context(), shown.Job)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidField || e.Field != "headers.authorization" {
		t.Errorf("as it is shown: %v", err)
	}
	delete(shown.Headers, "Authorization")
	if _, _, err := c.Put(t.Context(), shown.Job); err != nil {
		t.Error(err)
	}
	if clear, err := c.GetWithCredentials(t.Context(), "a"); err != nil || len(clear.Headers) != 1 || clear.Headers["authorization"] != "lower" {
		t.Errorf("%+v, %v", clear.Headers, err)
	}
}
